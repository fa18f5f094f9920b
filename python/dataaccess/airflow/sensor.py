"""`DataAccessSegmentExportSensor`: waits until a segment export has ended."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseSensorOperator, PokeReturnValue, conf
from airflow.sdk.exceptions import AirflowException, AirflowFailException

from dataaccess._client.results import check_entries
from dataaccess.airflow.failures import without_useless_retries
from dataaccess.airflow.hook import DataAccessHook
from dataaccess.airflow.operator import ClientUser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from airflow.sdk import Context

    from dataaccess._types import SegmentStatus


class DataAccessSegmentExportSensor(ClientUser, BaseSensorOperator):
    """Waits until a segment export has entries and each of them has an `endTime`.

    It takes no worker while it waits if it is deferrable, or with `mode="reschedule"`.

    Args:
        export_id: Id of the export. Templated.
        check: Whether an entry that failed (its `responseCode` is set and none of `export_success_codes` of the
            connection) fails the task at once, without retries.
        deferrable: Whether to wait in the triggerer; default: `[operators] default_deferrable`.
        dataaccess_conn_id: Id of the connection; None: everything from the worker's environment. Templated.
        **options: Arguments of every sensor, such as `poke_interval` and `timeout` (seconds).

    Returns:
        To XCom: the status of the export, as `Client.download_segment` returns it.

    Examples:
        >>> ended = DataAccessSegmentExportSensor(task_id="ended", export_id="{{ params.export_id }}", deferrable=True)
    """

    template_fields: Sequence[str] = ("export_id", "dataaccess_conn_id")

    def __init__(
        self,
        *,
        export_id: int | str,
        check: bool = True,
        deferrable: bool | None = None,
        dataaccess_conn_id: str | None = DataAccessHook.default_conn_name,
        **options: Any,
    ) -> None:
        """Checks nothing yet: templates are rendered when the task runs."""
        super().__init__(**options)
        self.export_id = export_id
        self.check = check
        if deferrable is None:
            deferrable = conf.getboolean("operators", "default_deferrable", fallback=False)
        self.deferrable = deferrable
        self.dataaccess_conn_id = dataaccess_conn_id

    def execute(self, context: Context) -> Any:
        """Asks once, and then waits here or in the triggerer. Airflow calls it."""
        if not self.deferrable:
            return super().execute(context)
        found = self.poke(context)
        if not found.is_done:
            from dataaccess.airflow.trigger import DataAccessSegmentExportTrigger

            self.defer(
                trigger=DataAccessSegmentExportTrigger(
                    self._id(), self.poke_interval, self.dataaccess_conn_id, check=self.check
                ),
                method_name=self.resume.__name__,
                timeout=timedelta(seconds=self.timeout),
            )
        return found.xcom_value

    def poke(self, context: Context) -> PokeReturnValue:  # noqa: ARG002 - that of Airflow
        """Asks once. Airflow calls it."""
        with without_useless_retries():
            client = self._client or self.connect()
            status = client.download_segment(self._id())
            entries = status["entries"]
            if self.check:
                check_entries(self._id(), entries, client._success)  # noqa: SLF001 - of this package
            if not entries or any(entry.get("endTime") is None for entry in entries):
                return PokeReturnValue(is_done=False)
            return PokeReturnValue(is_done=True, xcom_value=status)

    def resume(self, context: Context, event: dict[str, Any]) -> SegmentStatus:  # noqa: ARG002 - that of Airflow
        """Goes on with the event of the trigger. Airflow calls it."""
        if (error := event.get("error")) is not None:
            raise (AirflowFailException if event["is_permanent"] else AirflowException)(error)
        # The trigger has checked the entries.
        status: SegmentStatus = event["status"]
        return status

    def _id(self) -> int:
        try:
            return int(self.export_id)
        except ValueError:
            raise AirflowFailException(f"export_id must be an integer, not {self.export_id!r}") from None
