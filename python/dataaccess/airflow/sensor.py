"""`DataAccessSegmentExportSensor`: waits until a segment export has ended."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from dataaccess._client.segment import success_texts
from dataaccess.airflow.compat import (
    AirflowException,
    AirflowFailException,
    AirflowSensorTimeout,
    AirflowSkipException,
    BaseSensorOperator,
    PokeReturnValue,
    conf,
)
from dataaccess.airflow.failures import without_useless_retries
from dataaccess.airflow.hook import DataAccessHook
from dataaccess.airflow.operators import ClientOperator
from dataaccess.airflow.trigger import DataAccessSegmentExportTrigger, ExportWatch
from dataaccess.errors import DataAccessError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from airflow.sdk import Context

    from dataaccess._client.segment import SegmentStatus

# Airflow's own timeout of a deferred task comes after that of the trigger, which knows the open entries.
_SECONDS_FOR_THE_TRIGGER = 60


class DataAccessSegmentExportSensor(ClientOperator, BaseSensorOperator):
    """Waits until a segment export has entries and each of them has an `endTime`.

    It takes no worker while it waits if it is deferrable, or with `mode="reschedule"`. A service that is down, also for
    longer than `retry_for` of the connection, does not end the wait. The log has each change of an entry, and the error
    of a time-out names the open entries.

    Args:
        export_id: Id of the export. Templated.
        check: Whether an entry that failed fails the task at once, without retries.
        success_codes: Each `responseCode` of an entry that succeeded, as in `Client.wait_for_segment`.
        deferrable: Whether to wait in the triggerer; default: `[operators] default_deferrable`.
        dataaccess_conn_id: Id of the connection; None: everything from the worker's environment. Templated.
        **options: Arguments of every sensor, such as `poke_interval` and `timeout` (seconds).

    Returns:
        To XCom: the status of the export, as `Client.download_segment` returns it.

    Examples:
        >>> ended = DataAccessSegmentExportSensor(task_id="ended", export_id="{{ params.export_id }}", deferrable=True)
    """

    template_fields: Sequence[str] = ("export_id", "dataaccess_conn_id")
    # Of the running task; never part of the serialized DAG.
    _watch: ExportWatch | None = None

    def __init__(
        self,
        *,
        export_id: int | str,
        check: bool = True,
        success_codes: Collection[int | str] = (200,),
        deferrable: bool | None = None,
        dataaccess_conn_id: str | None = DataAccessHook.default_conn_name,
        **options: Any,
    ) -> None:
        """Checks nothing yet: templates are rendered when the task runs."""
        super().__init__(**options)
        self.export_id = export_id
        self.check = check
        self.success_codes = success_codes
        if deferrable is None:
            deferrable = conf.getboolean("operators", "default_deferrable", fallback=False)
        self.deferrable = deferrable
        self.dataaccess_conn_id = dataaccess_conn_id

    def execute(self, context: Context) -> Any:
        """Asks once, and then waits here or in the triggerer. Airflow calls it."""
        if not self.deferrable:
            return self._execute_here(context)
        found = self.poke(context)
        if not found.is_done:
            self.defer(
                trigger=DataAccessSegmentExportTrigger(
                    self._id(),
                    self.poke_interval,
                    self.dataaccess_conn_id,
                    check=self.check,
                    success_codes=self.success_codes,
                    until=time.time() + self.timeout,
                ),
                method_name=self.resume.__name__,
                timeout=timedelta(seconds=self.timeout + _SECONDS_FOR_THE_TRIGGER),
            )
        return found.xcom_value

    def _execute_here(self, context: Context) -> Any:
        try:
            return super().execute(context)
        except (AirflowSensorTimeout, AirflowSkipException) as error:
            # With a cause, `soft_fail` made it of another error.
            if self._watch is None or error.__cause__ is not None:
                raise
            raise type(error)(f"{error} {self._watch.unfinished}") from None

    def poke(self, context: Context) -> PokeReturnValue:
        """Asks once. Airflow calls it."""
        with without_useless_retries():
            client = self._client or self.connect()
            if self._watch is None:
                self._watch = ExportWatch(self._id(), success_texts(self.success_codes), self.log, check=self.check)
            try:
                status = client.download_segment(self._id())
            except DataAccessError as error:
                if not self._watch.is_outage(error):
                    raise
                return PokeReturnValue(is_done=False)
            if not self._watch.has_ended(status):
                return PokeReturnValue(is_done=False)
            return PokeReturnValue(is_done=True, xcom_value=status)

    def resume(self, context: Context, event: dict[str, Any]) -> SegmentStatus:
        """Goes on with the event of the trigger. Airflow calls it."""
        if (unfinished := event.get("unfinished")) is not None:
            raise AirflowSensorTimeout(f"Sensor has timed out after {self.timeout:g} s. {unfinished}")
        if (error := event.get("error")) is not None:
            raise (AirflowFailException if event["is_permanent"] else AirflowException)(error)
        # The trigger has checked the entries.
        status: SegmentStatus = event["status"]
        return status

    def _id(self) -> int:
        try:
            return int(self.export_id)
        except (TypeError, ValueError):
            raise AirflowFailException(f"export_id must be an integer, not {self.export_id!r}") from None
