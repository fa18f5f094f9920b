"""Segment exports of a `Sandbox`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from dataaccess._core.checks import boolean, duration, integer

if TYPE_CHECKING:
    from datetime import timedelta

    from dataaccess._sandbox.control import Control


class Exports:
    """Segment exports."""

    _control: Control

    def start_export(
        self,
        *,
        rows: int | None = None,
        seconds: float | timedelta | None = None,
        entries: int | Iterable[Mapping[str, Any]] = 1,
        export_id: int | None = None,
        succeeds: bool | None = None,
        delay: float | timedelta | None = None,
    ) -> int:
        """Starts a segment export, which can then be downloaded and waited for.

        Its entries start together, with null fields, and end one after another, or as `entries` plans each of them.

        Args:
            rows: `exportedRows` of each entry once it has ended; 1,000 without it.
            seconds: Seconds, or a timedelta, until the last entry ends; one without it.
            entries: Number of entries, at most 1,000. Or a list of dicts, one for each entry, with any of `rows`,
                `seconds`, `delay`, `succeeds`, `code` and `message`: the last two are `responseCode` and
                `responseMessage` at its end.
            export_id: Its id; replaces an export with the same id. None takes a free one.
            succeeds: Whether the entries succeed, as they do without it; otherwise `exportStatus`, `responseCode` and
                `responseMessage` report a failure.
            delay: Seconds, or a timedelta, until there are entries.

        Returns:
            The id, for `download_segment` and `wait_for_segment`.

        Raises:
            ConfigError: A number is out of range, or `rows`, `seconds`, `delay` or `succeeds` is given beside a list.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox() as sandbox:
            ...     export = sandbox.start_export(rows=500, seconds=0.2, entries=2)
            ...     status = sandbox.client().wait_for_segment(export, timeout=10, poll=0.05)
            >>> [entry["exportedRows"] for entry in status["entries"]]
            [500, 500]
            >>> with da.Sandbox() as sandbox:
            ...     refused = {"succeeds": False, "code": 403, "message": "No permission for the bucket", "seconds": 60}
            ...     export = sandbox.start_export(entries=[{"rows": 500, "seconds": 30}, refused])
            ...     sandbox.advance(60)
            ...     status = sandbox.client().download_segment(export)
            >>> [entry["responseCode"] for entry in status["entries"]]
            [200, 403]
        """
        given = {"rows": rows, "seconds": seconds, "delay": delay, "succeeds": succeeds}
        export: dict[str, Any] = {
            "export_id": None if export_id is None else integer("export_id", export_id, -(2**63)),
            **_read(given),
            "entries": _entries(entries),
        }
        return int(self._control.call("POST", "/exports", export)["export_id"])


# How each option of an entry is read; the service refuses others.
_READERS: dict[str, Callable[[str, Any], object]] = {
    "rows": integer,
    "seconds": duration,
    "delay": duration,
    "succeeds": boolean,
}


def _entries(given: int | Iterable[Any]) -> object:
    if isinstance(given, Iterable):
        return [_read(entry) if isinstance(entry, Mapping) else entry for entry in given]
    return integer("entries", given, 0, 1000)


def _read(given: Mapping[str, Any]) -> dict[str, object]:
    return {
        name: _READERS[name](name, value) if name in _READERS else value
        for name, value in given.items()
        if value is not None
    }
