"""Triggers, which wait in the triggerer beside hundreds of others: for the end of an export, and for asset watchers."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from inspect import signature
from typing import Any
from zoneinfo import ZoneInfo

from dataaccess import AsyncClient
from dataaccess._client.segment import SegmentStatus, check_entries, entry_state, entry_states, has_ended, success_texts
from dataaccess.airflow.compat import BaseEventTrigger, BaseTrigger, TriggerEvent
from dataaccess.airflow.failures import is_permanent, text_of
from dataaccess.airflow.hook import DataAccessHook
from dataaccess.errors import DataAccessError

# For the last request, also where the triggerer was down when the time was over.
_SECONDS_FOR_LAST_REQUEST = 20


class ExportWatch:
    """Follows an export from one request to the next. Logs each entry whose state has changed."""

    def __init__(self, export_id: int, success_codes: Collection[int | str], log: Any, *, check: bool) -> None:
        """Takes the codes of success, with which `check` compares the entries."""
        self._export_id, self._success, self._log, self._check = export_id, success_texts(success_codes), log, check
        self._status: SegmentStatus | None = None
        self._states: list[str] = []
        self._failure: DataAccessError | None = None

    def has_ended(self, status: SegmentStatus) -> bool:
        """Whether there are entries and each of them has an `endTime`; an error if one failed, and `check` is set."""
        before, self._states = self._states, [entry_state(entry) for entry in status["entries"]]
        if not self._states and self._status is None:
            self._log.info("export %s has no entries yet", self._export_id)
        self._status, self._failure = status, None
        for index, state in enumerate(self._states):
            if before[index : index + 1] != [state]:
                self._log.info("export %s: entry %s %s", self._export_id, index + 1, state)
        if self._check:
            check_entries(self._export_id, status["entries"], self._success)
        return status.is_finished

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Logs a failure that says nothing about the export, so that a later request may succeed."""
        try:
            yield
        except DataAccessError as error:
            if not error.retryable:
                raise
            self._failure = error
            self._log.warning("export %s: trying again after %s: %s", self._export_id, type(error).__name__, error)

    @property
    def unfinished(self) -> str:
        """Which entries are open, for the error of a time-out."""
        entries = [] if self._status is None else self._status["entries"]
        states = entry_states(entries, [entry for entry in entries if not has_ended(entry)])
        known = states or ("there was no response" if self._status is None else "it has no entries yet")
        failure = "" if self._failure is None else f"; the last request failed: {self._failure}"
        return f"Export {self._export_id} has not ended: {known}{failure}"


class _StoredTrigger(BaseTrigger):
    """A trigger whose arguments are its attributes."""

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """What Airflow keeps of the trigger in its database."""
        kind = type(self)
        arguments = {name: getattr(self, name) for name in signature(kind).parameters}
        return f"{kind.__module__}.{kind.__qualname__}", arguments


class DataAccessSegmentExportTrigger(_StoredTrigger):
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
    ) -> None:
        """Sends nothing yet."""
        super().__init__()
        self.export_id, self.poll_interval, self.dataaccess_conn_id = export_id, poll_interval, dataaccess_conn_id
        self.check, self.success_codes, self.until = check, list(success_codes), until

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Waits, and fires the event. The triggerer calls it."""
        try:
            async with await DataAccessHook(self.dataaccess_conn_id).async_client() as client:
                event = await self._event(client)
        except DataAccessError as error:
            event = {"error": text_of(error, self.dataaccess_conn_id), "is_permanent": is_permanent(error)}
        yield TriggerEvent(event)

    async def _event(self, client: AsyncClient) -> dict[str, Any]:
        watch = ExportWatch(self.export_id, self.success_codes, self.log, check=self.check)
        longest = client._settings["timeout"]
        while True:
            allowed = min(longest, max(self._left(), _SECONDS_FOR_LAST_REQUEST))
            with watch.attempt():
                status = await client.download_segment(self.export_id, timeout=allowed)
                if watch.has_ended(status):
                    return {"status": status}
            if self._left() <= 0:
                return {"unfinished": watch.unfinished}
            await asyncio.sleep(min(self.poll_interval, self._left()))

    def _left(self) -> float:
        return math.inf if self.until is None else self.until - time.time()


class DataAccessEventTrigger(_StoredTrigger, BaseEventTrigger):
    """For asset watchers: fires once a segment export has ended, or each time a day is final.

    The payload of the asset event is a dict of `export_id` and `status`, or of `day` (`2024-01-15`, in the time zone of
    the connection). It fires at its start for what has happened before, so a triggerer that restarts repeats the last
    event; a scan into a folder then keeps what it has.

    Args:
        export_id: Id of the export; None: days.
        settle: Seconds after its end until a day is final.
        poll_interval: Seconds between two requests, or two looks at the clock.
        dataaccess_conn_id: Id of the connection; None: everything from the triggerer's environment.

    Examples:
        >>> from airflow.sdk import Asset, AssetWatcher
        >>> asset = Asset("days", watchers=[AssetWatcher("final", trigger=DataAccessEventTrigger())])
    """

    def __init__(
        self,
        export_id: int | None = None,
        *,
        settle: float = 3600,
        poll_interval: float = 60,
        dataaccess_conn_id: str | None = DataAccessHook.default_conn_name,
    ) -> None:
        """Sends nothing yet."""
        super().__init__()
        self.export_id, self.settle = export_id, settle
        self.poll_interval, self.dataaccess_conn_id = poll_interval, dataaccess_conn_id

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Fires the events, and never ends: Airflow would start it again. The triggerer calls it."""
        while self.export_id is not None:
            waiting = DataAccessSegmentExportTrigger(self.export_id, self.poll_interval, self.dataaccess_conn_id)
            async for event in waiting.run():
                if "status" in event.payload:
                    yield TriggerEvent({"export_id": self.export_id, **event.payload})
                    await asyncio.Event().wait()
                self.log.error("export %s: %s", self.export_id, event.payload["error"])
            await asyncio.sleep(self.poll_interval)
        async with await DataAccessHook(self.dataaccess_conn_id).async_client() as client:
            zone = ZoneInfo(client.timezone)
        day = self._final_day(zone)
        while True:
            yield TriggerEvent({"day": day.isoformat()})
            day += timedelta(days=1)
            while self._final_day(zone) < day:
                await asyncio.sleep(self.poll_interval)

    def _final_day(self, zone: ZoneInfo) -> date:
        """The last day that is final."""
        return datetime.fromtimestamp(time.time() - self.settle, zone).date() - timedelta(days=1)
