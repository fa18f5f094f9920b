"""`DataAccessSegmentExportSensor`: waits until a segment export has ended."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any

from dataaccess.airflow import compat
from dataaccess.airflow.compat import Context, exceptions
from dataaccess.airflow.failures import without_useless_retries
from dataaccess.airflow.hook import DataAccessHook
from dataaccess.airflow.operators import ClientOperator, integer
from dataaccess.airflow.trigger import DataAccessSegmentExportTrigger, ExportWatch

# Airflow's own timeout of a deferred task comes after that of the trigger, which knows the open entries.
_SECONDS_FOR_THE_TRIGGER = 60


class DataAccessSegmentExportSensor(ClientOperator, compat.BaseSensorOperator):
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
        self.export_id, self.dataaccess_conn_id = export_id, dataaccess_conn_id
        self.check, self.success_codes = check, success_codes
        default = compat.conf.getboolean("operators", "default_deferrable", fallback=False)
        self.deferrable = default if deferrable is None else deferrable

    def execute(self, context: Context) -> Any:
        """Asks once, and then waits here or in the triggerer. Airflow calls it."""
        if not self.deferrable:
            try:
                return super().execute(context)
            except (exceptions.AirflowSensorTimeout, exceptions.AirflowSkipException) as error:
                # With a cause, `soft_fail` made it of another error.
                if self._watch is None or error.__cause__ is not None:
                    raise
                raise type(error)(f"{error} {self._watch.unfinished}") from None
        found = self.poke(context)
        if not found.is_done:
            self.defer(
                trigger=DataAccessSegmentExportTrigger(
                    integer("export_id", self.export_id),
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

    def poke(self, context: Context) -> compat.PokeReturnValue:
        """Asks once. Airflow calls it."""
        with without_useless_retries(self.dataaccess_conn_id):
            client, export_id = self._client or self.connect(), integer("export_id", self.export_id)
            if self._watch is None:
                self._watch = ExportWatch(export_id, self.success_codes, self.log, check=self.check)
            with self._watch.attempt():
                status = client.download_segment(export_id)
                if self._watch.has_ended(status):
                    return compat.PokeReturnValue(is_done=True, xcom_value=status)
        return compat.PokeReturnValue(is_done=False)

    def resume(self, context: Context, event: dict[str, Any]) -> Any:
        """Goes on with the event of the trigger. Airflow calls it."""
        if (unfinished := event.get("unfinished")) is not None:
            raise exceptions.AirflowSensorTimeout(f"Sensor has timed out after {self.timeout:g} s. {unfinished}")
        if (error := event.get("error")) is not None:
            raise (exceptions.AirflowFailException if event["is_permanent"] else exceptions.AirflowException)(error)
        # The trigger has checked the entries.
        return event["status"]
