"""The trigger of `DataAccessSegmentExportSensor`: waits in the triggerer, beside hundreds of others."""

from __future__ import annotations

import asyncio
import math
import time
from typing import TYPE_CHECKING, Any

from dataaccess._client.segment import success_texts
from dataaccess.airflow.compat import BaseTrigger, TriggerEvent
from dataaccess.airflow.export import ExportWatch
from dataaccess.airflow.failures import is_permanent
from dataaccess.airflow.hook import DataAccessHook
from dataaccess.errors import DataAccessError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection

    from dataaccess import AsyncClient

# For the last request, also where the triggerer was down when the time was over.
_SECONDS_FOR_LAST_REQUEST = 20


class DataAccessSegmentExportTrigger(BaseTrigger):
    """Waits until a segment export has entries and each of them has an `endTime`.

    Fires one event: a dict with `status`, as `Client.download_segment` returns it; with `unfinished`, a text that names
    the open entries, when the time is over; or with `error` (text) and `is_permanent`. It has no token: the triggerer
    reads the connection.

    Args:
        export_id: Id of the export.
        poll_interval: Seconds between two requests.
        dataaccess_conn_id: Id of the connection; None: everything from the triggerer's environment.
        check: Whether an entry that failed ends the wait, with an `error`.
        success_codes: Each `responseCode` of an entry that succeeded.
        until: When the time is over, in seconds since 1970, whatever restarts the triggerer has; None: never.
        retry_permission_denied: Whether the `error` of a refused token is not permanent.

    Examples:
        >>> import asyncio
        >>> trigger = DataAccessSegmentExportTrigger(5637051, poll_interval=1, dataaccess_conn_id=None)
        >>> async def main():
        ...     return [event.payload["status"]["message"] async for event in trigger.run()]
        >>> asyncio.run(main())
        ['Success']
    """

    def __init__(
        self,
        export_id: int,
        poll_interval: float,
        dataaccess_conn_id: str | None,
        *,
        check: bool = False,
        success_codes: Collection[int | str] = (200,),
        until: float | None = None,
        retry_permission_denied: bool = False,
    ) -> None:
        """Sends nothing yet."""
        super().__init__()
        self.export_id = export_id
        self.poll_interval = poll_interval
        self.dataaccess_conn_id = dataaccess_conn_id
        self.check = check
        self.success_codes = success_codes
        self.until = until
        self.retry_permission_denied = retry_permission_denied

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """What Airflow keeps of the trigger in its database."""
        return f"{type(self).__module__}.{type(self).__qualname__}", {
            "export_id": self.export_id,
            "poll_interval": self.poll_interval,
            "dataaccess_conn_id": self.dataaccess_conn_id,
            "check": self.check,
            "success_codes": list(self.success_codes),
            "until": self.until,
            "retry_permission_denied": self.retry_permission_denied,
        }

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Waits, and fires the event. The triggerer calls it."""
        try:
            async with await DataAccessHook(self.dataaccess_conn_id).async_client() as client:
                event = await self._event(client)
        except DataAccessError as error:
            is_final = is_permanent(error, retry_permission_denied=self.retry_permission_denied)
            event = {"error": f"{type(error).__name__}: {error}", "is_permanent": is_final}
        yield TriggerEvent(event)

    async def _event(self, client: AsyncClient) -> dict[str, Any]:
        watch = ExportWatch(self.export_id, success_texts(self.success_codes), self.log, check=self.check)
        longest = client._settings["timeout"]
        while True:
            allowed = min(longest, max(self._left(), _SECONDS_FOR_LAST_REQUEST))
            try:
                status = await client.download_segment(self.export_id, timeout=allowed)
                if watch.has_ended(status):
                    return {"status": status}
            except DataAccessError as error:
                if not watch.is_outage(error):
                    raise
            if self._left() <= 0:
                return {"unfinished": watch.unfinished}
            await asyncio.sleep(min(self.poll_interval, self._left()))

    def _left(self) -> float:
        return math.inf if self.until is None else self.until - time.time()
