"""Segment exports of a `Sandbox`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._core.arguments import span, truth, whole

if TYPE_CHECKING:
    from datetime import timedelta

    from dataaccess._native import RawSandbox


class Exports:
    """What can be downloaded."""

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
        """Starts a segment export, which then can be downloaded and waited for (section 4.3).

        Its entries start together, with nulls as section 2.5 has them, and end one after another. An export
        is kept in memory and does not outlive the sandbox.

        Args:
            rows: `exportedRows` of each entry at its end.
            seconds: Seconds, or a timedelta, until the last entry has ended.
            entries: How many entries there are, up to 1,000.
            export_id: Its identifier, in place of an export that has it already; None takes a free one.
            succeeds: Whether the entries end well; if not, their `exportStatus`, `responseCode` and
                `responseMessage` tell.
            delay: Seconds, or a timedelta, until there are entries at all.

        Returns:
            The identifier, for `download_segment` and `wait_for_segment`.

        Raises:
            ConfigError: A number that cannot be.
            ForkedHandleError: The service belongs to the parent of this process.
            SandboxError: The service was stopped.

        Example:
            >>> import dataaccess as da
            >>> with da.Sandbox() as sandbox:
            ...     export = sandbox.start_export(rows=500, seconds=0.2, entries=2)
            ...     answer = sandbox.client().wait_for_segment(export, timeout=10, poll=0.05)
            >>> [entry["exportedRows"] for entry in answer["entries"]]
            [500, 500]
        """
        return self._raw.start_export(
            None if export_id is None else whole("export_id", export_id, -(2**63)),
            whole("rows", rows),
            whole("entries", entries, 0, 1000),
            truth("succeeds", succeeds),
            (span("delay", delay), span("seconds", seconds)),
        )
