"""The status of a segment export: a row for each entry, with its state and how long it took."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from dataaccess._display import html
from dataaccess._display.text import aligned, cell, counted, duration

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# A `responseCode` of success, as a number or a string. 200 is the only one that the API specification knows.
_SUCCESS = {"200", "200.0"}
_HEADS = ["entry", "state", "rows", "started", "took", "message"]
_KINDS = {"running": "busy", "finished": "good", "failed": "bad"}
_MAX_ENTRIES = 100
# What is not known yet.
_OPEN = "–"  # noqa: RUF001 - a dash


def has_failed(entry: Mapping[str, Any]) -> bool:
    """Whether an entry that has ended failed."""
    code = entry.get("responseCode")
    return code is not None and str(code) not in _SUCCESS


def state_of(entry: Mapping[str, Any]) -> str:
    """`running`, `finished` or `failed`."""
    if entry.get("endTime") is None:
        return "running"
    return "failed" if has_failed(entry) else "finished"


def status_text(status: dict[str, Any]) -> str:
    """The status for a terminal."""
    entries = _entries(status)
    lines = aligned([_HEADS, *([cell(value) for value in _row(*each)] for each in entries[:_MAX_ENTRIES])], rule=1)
    return "\n".join(
        [
            _summary(status),
            *(lines if entries else []),
        ]
    )


def status_html(status: dict[str, Any], export_id: object) -> str:
    """The status for a notebook."""
    entries = _entries(status)
    rows = []
    for each in entries[:_MAX_ENTRIES]:
        number, state, *rest = _row(*each)
        rows.append([number, html.Mark(str(state), _KINDS[str(state)]), *rest])
    numeric = [name in ("entry", "rows", "took") for name in _HEADS]
    table = html.table(_HEADS, [], rows, numeric) if entries else ""
    title = "Segment export" if export_id is None else f"Segment export {export_id}"
    return html.block(html.title(title, _summary(status)), table)


def _entries(status: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    entries = status.get("entries")
    return [(number, entry) for number, entry in enumerate(entries or [], 1) if isinstance(entry, dict)]


def _summary(status: dict[str, Any]) -> str:
    states = [state_of(entry) for _, entry in _entries(status)]
    counts = [f"{states.count(state)} {state}" for state in _KINDS if state in states]
    entries = counted(len(states), "entry", "entries") if states else "no entries yet"
    return f"{entries}: {', '.join(counts)}" if counts else entries


def _row(number: int, entry: dict[str, Any]) -> list[object]:
    """Entry, state, rows, start, duration and message. What the service leaves open is a dash."""
    rows, code, message = entry.get("exportedRows"), entry.get("responseCode"), entry.get("responseMessage")
    said = " ".join(str(each) for each in (code, message) if each is not None)
    known = [f"{rows:,}" if isinstance(rows, int) else rows, _started(entry), _took(entry), said or None]
    return [number, state_of(entry), *(_OPEN if value is None else value for value in known)]


def _started(entry: dict[str, Any]) -> object:
    """The time without fractions of a second."""
    started = entry.get("startTime")
    return re.sub(r"(:\d\d)\.\d+", r"\1", started) if isinstance(started, str) else started


def _took(entry: dict[str, Any]) -> str | None:
    try:
        start, end = (datetime.fromisoformat(entry[name]) for name in ("startTime", "endTime"))
        return duration((end - start).total_seconds())
    except (KeyError, TypeError, ValueError):
        return None
