"""Segment exports of a `Sandbox`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._core.checks import boolean, duration, integer
from dataaccess._core.tracebacks import short_tracebacks

if TYPE_CHECKING:
    from datetime import timedelta

    from dataaccess._native import RawSandbox


@short_tracebacks
class Exports:
    """Segment exports."""

    _raw: RawSandbox

    def start_export(
        self,
        *,
        rows: int = 1000,
        seconds: float | timedelta = 1.0,
        entries: int = 1,
        export_id: int | None = None,
        succeeds: bool = True,
        delay: float | timedelta = 0.0,
    ) -> int:
        """Starts a segment export, which can then be downloaded and waited for.

        Its entries start together, with null fields, and end one after another. Exports are kept in memory only.

        Args:
            rows: `exportedRows` of each entry once it has ended.
            seconds: Seconds, or a timedelta, until the last entry ends.
            entries: Number of entries, at most 1,000.
            export_id: Its id; replaces an export with the same id. None takes a free one.
            succeeds: Whether the entries succeed; otherwise `exportStatus`, `responseCode` and `responseMessage` report
                a failure.
            delay: Seconds, or a timedelta, until there are entries.

        Returns:
            The id, for `download_segment` and `wait_for_segment`.

        Raises:
            ConfigError: A number is out of range.
            ForkedHandleError: The sandbox belongs to the parent process.
            SandboxError: The sandbox is stopped.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox() as sandbox:
            ...     export = sandbox.start_export(rows=500, seconds=0.2, entries=2)
            ...     status = sandbox.client().wait_for_segment(export, timeout=10, poll=0.05)
            >>> [entry["exportedRows"] for entry in status["entries"]]
            [500, 500]
        """
        return self._raw.start_export(
            None if export_id is None else integer("export_id", export_id, -(2**63)),
            integer("rows", rows),
            integer("entries", entries, 0, 1000),
            boolean("succeeds", succeeds),
            (duration("delay", delay), duration("seconds", seconds)),
        )
