"""Segment exports, awaited."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dataaccess._client.base import BaseClient
from dataaccess._client.results import checked_status, ended, export_progress, update_callback, warn_of_ends
from dataaccess._core.checks import boolean_argument, call_timeout, seconds
from dataaccess._core.progress import follow_async, no_updates
from dataaccess._core.tracebacks import short_tracebacks

if TYPE_CHECKING:
    from datetime import timedelta

    from dataaccess._types import OnUpdate, SegmentStatus
    from dataaccess.reports import ProgressArgument


@short_tracebacks
class AsyncSegments(BaseClient):
    """The status of segment exports."""

    async def download_segment(self, export_id: int, *, timeout: float | timedelta | None = None) -> SegmentStatus:
        """Downloads the status entries of a segment export. The members of the segment are not in the API.

        Args:
            export_id: Id of the export.
            timeout: Seconds, or a timedelta, for this call with its retries; None is the client's.

        Returns:
            A dict with `entries` (a list of dicts; an entry that has ended has an `endTime`; which values of its
            `responseCode` are a success is not specified), `meta`, and `code`, `message`, `codeMessage` and `duration`
            (such as `12ms`) of the envelope.

        Raises:
            ValidationError: `export_id` is not an integer.
            PermissionDeniedError: The token was refused.
            DataAccessError: Any other failure; see `dataaccess.errors`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> status = await client.download_segment(5637051)
            >>> status["meta"]["total"] == len(status["entries"])
            True
        """
        with follow_async(None, "download_segment", no_updates, self._raw.waits_for) as report:
            response = await self._raw.download_segment_async(export_id, call_timeout(timeout), report)
        status = checked_status(response, export_id, self._success)
        warn_of_ends(status["entries"])
        return status

    async def wait_for_segment(
        self,
        export_id: int,
        *,
        timeout: float | timedelta,
        poll: float | timedelta | None = None,
        on_update: OnUpdate | None = None,
        progress: ProgressArgument = None,
        check: bool = True,
    ) -> SegmentStatus:
        """Waits until a segment export has entries and each of them has an `endTime`, or one of them has failed.

        A blank `endTime`, and one before the `startTime`, is no end: the wait goes on and warns once.

        Args:
            export_id: Id of the export.
            timeout: Seconds, or a timedelta, to wait at most.
            poll: Seconds between two requests; None starts at half a second and slows down to 15.
            on_update: Called with each response, in the form of the result, in the thread of the event loop.
            progress: None shows a bar in notebooks and terminals after one second, True always, False never. A function
                gets a `Progress` with each response, in the thread of the event loop.
            check: Whether an entry that failed is an error, which ends the wait: one that has ended and whose
                `responseCode` is set and none of `export_success_codes` of the client. Otherwise the entries are
                returned once all have ended.

        Returns:
            The last response, in the form of `download_segment`.

        Raises:
            ValidationError: `export_id` is not an integer.
            SegmentExportError: An entry failed; `.entries` has all entries.
            WaitTimeoutError: The export has not ended in time; `.last` is the last response.
            PermissionDeniedError: The token was refused.
            DataAccessError: Any other failure; see `dataaccess.errors`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> status = await client.wait_for_segment(5637051, timeout=60)
            >>> all(entry["endTime"] for entry in status["entries"])
            True
        """
        limit, pause = seconds("timeout", timeout), None if poll is None else seconds("poll", poll)
        check, success = boolean_argument("check", check), self._success
        convert = partial(export_progress, success)
        with follow_async(progress, f"export {export_id}", convert, self._raw.waits_for) as report:
            callback = update_callback(export_id, success, on_update, report)
            failing = success if check else None
            outcome = await self._raw.wait_for_segment_async(export_id, limit, pause, failing, callback)
        return ended(export_id, limit, outcome, success, check=check)
