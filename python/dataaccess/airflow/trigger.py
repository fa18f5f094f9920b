"""The trigger of `DataAccessSegmentExportSensor`: waits in the triggerer, beside hundreds of others."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from dataaccess.airflow.failures import is_permanent
from dataaccess.airflow.hook import DataAccessHook
from dataaccess.errors import DataAccessError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

# Airflow ends the trigger at the timeout of the sensor, which a restart of the triggerer must not extend.
_LONGER_THAN_ANY_SENSOR = timedelta(days=365)


class DataAccessSegmentExportTrigger(BaseTrigger):
    """Waits until a segment export has entries and each of them has an `endTime`.

    Fires one event: a dict with `status`, as `Client.download_segment` returns it, or with `error` (text) and
    `is_permanent`. It has no token: the triggerer reads the connection.

    Args:
        export_id: Id of the export.
        poll_interval: Seconds between two requests.
        dataaccess_conn_id: Id of the connection; None: everything from the triggerer's environment.
        check: Whether an entry that failed ends the wait, with an `error`.

    Examples:
        >>> import asyncio
        >>> trigger = DataAccessSegmentExportTrigger(5637051, poll_interval=1, dataaccess_conn_id=None)
        >>> async def main():
        ...     return [event.payload["status"]["message"] async for event in trigger.run()]
        >>> asyncio.run(main())
        ['Success']
    """

    def __init__(
        self, export_id: int, poll_interval: float, dataaccess_conn_id: str | None, *, check: bool = False
    ) -> None:
        """Sends nothing yet."""
        super().__init__()
        self.export_id = export_id
        self.poll_interval = poll_interval
        self.dataaccess_conn_id = dataaccess_conn_id
        self.check = check

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """What Airflow keeps of the trigger in its database."""
        return f"{type(self).__module__}.{type(self).__qualname__}", {
            "export_id": self.export_id,
            "poll_interval": self.poll_interval,
            "dataaccess_conn_id": self.dataaccess_conn_id,
            "check": self.check,
        }

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Waits, and fires the event. The triggerer calls it."""
        try:
            async with await DataAccessHook(self.dataaccess_conn_id).async_client() as client:
                status = await client.wait_for_segment(
                    self.export_id, timeout=_LONGER_THAN_ANY_SENSOR, poll=self.poll_interval, check=self.check
                )
        except DataAccessError as error:
            text = f"{type(error).__name__}: {error}"
            yield TriggerEvent({"error": text, "is_permanent": is_permanent(error)})
        else:
            yield TriggerEvent({"status": status})
