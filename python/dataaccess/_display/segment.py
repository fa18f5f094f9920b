"""The status of a segment export: a row for each entry, with its state and how long it took."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dataaccess._display import html
from dataaccess._display.grid import Column, ruled
from dataaccess._display.text import MAX_WIDTH, cell, counted, duration, literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

# The message before the times: it is the cause of a failure, and narrow terminals have no room for the last columns.
_HEADS = ["entry", "state", "rows", "message", "started", "took"]
_NUMBERS = ("entry", "rows", "took")
_KINDS = {"running": "busy", "finished": "good", "failed": "bad"}
_MAX_ENTRIES = 100
# What is not known yet.
_OPEN = "–"  # noqa: RUF001 - a dash


def code_texts(codes: Iterable[object]) -> tuple[str, ...]:
    """Codes of entries as they are compared, here and in the core: 200, 200.0 and "200" are one."""
    return tuple((code if isinstance(code, str) else json.dumps(code)).removesuffix(".0") for code in codes)


def has_failed(entry: Mapping[str, Any], success: Collection[str]) -> bool:
    """Whether an entry that has ended failed: its code is none of success, whose `code_texts` are given."""
    code = entry.get("responseCode")
    return code is not None and code_texts([code])[0] not in success


def has_ended(entry: Mapping[str, Any]) -> bool:
    """Whether an entry has an end, as the core reads it: a blank string is none, nor is a time before the start."""
    end = entry.get("endTime")
    if end is None or (isinstance(end, str) and not end.strip()):
        return False
    start, end = _instant(entry.get("startTime")), _instant(end)
    return start is None or end is None or start <= end


def _instant(value: object) -> datetime | None:
    """A time as the API specification shows it; one without an offset is in UTC."""
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found is not None and found.tzinfo is None else found


def state_of(entry: Mapping[str, Any], success: Collection[str]) -> str:
    """`running`, `finished` or `failed`."""
    if not has_ended(entry):
        return "running"
    return "failed" if has_failed(entry, success) else "finished"


def status_text(status: dict[str, Any], success: Collection[str]) -> str:
    """The status for `print`."""
    columns = entry_columns(status, success)
    return "\n".join([summary(status, success), *(ruled(columns).lines if columns else [])])


def entry_columns(status: Mapping[str, Any], success: Collection[str], most: int = MAX_WIDTH) -> list[Column]:
    """The columns of the entries; none without entries. No cell is wider than `most`."""
    rows = [[cell(value, most) for value in _row(*each, success)] for each in _entries(status)[:_MAX_ENTRIES]]
    # Times are cut neither: a part of one is another one.
    return [
        Column([name], cells, name in _NUMBERS, name != "message")
        for name, cells in zip(_HEADS, zip(*rows, strict=True), strict=False)
    ]


def status_html(status: dict[str, Any], export_id: object, success: Collection[str]) -> str:
    """The status for a notebook."""
    entries = _entries(status)
    rows = []
    for each in entries[:_MAX_ENTRIES]:
        number, state, *rest = _row(*each, success)
        rows.append([number, html.Mark(str(state), _KINDS[str(state)]), *rest])
    numeric = [name in _NUMBERS for name in _HEADS]
    table = html.table(_HEADS, [], rows, numeric) if entries else ""
    title = "Segment export" if export_id is None else f"Segment export {export_id}"
    return html.block(html.title(title, summary(status, success)), table)


def _entries(status: Mapping[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    entries = status.get("entries")
    return [(number, entry) for number, entry in enumerate(entries or [], 1) if isinstance(entry, dict)]


def summary(status: Mapping[str, Any], success: Collection[str]) -> str:
    """How many entries there are, by their state."""
    states = [state_of(entry, success) for _, entry in _entries(status)]
    counts = [f"{states.count(state)} {state}" for state in _KINDS if state in states]
    entries = counted(len(states), "entry", "entries") if states else "no entries yet"
    return f"{entries}: {', '.join(counts)}" if counts else entries


def _row(number: int, entry: dict[str, Any], success: Collection[str]) -> list[object]:
    """What `_HEADS` names. What the service leaves open is a dash."""
    rows, code, message = entry.get("exportedRows"), entry.get("responseCode"), entry.get("responseMessage")
    said = " ".join(each if isinstance(each, str) else literal(each) for each in (code, message) if each is not None)
    known = [
        f"{rows:,}" if isinstance(rows, int) else rows,
        said or None,
        _time(entry.get("startTime")),
        _took(entry),
    ]
    return [number, state_of(entry, success), *(_OPEN if value is None else value for value in known)]


def _time(value: object) -> object:
    """A time to the second, with its zone."""
    if not isinstance(value, str) or len(value) > MAX_WIDTH:
        return value
    return re.sub(r"(?<=\d)T(\d\d:\d\d:\d\d)(\.\d+)?", r" \1", value)


def _took(entry: dict[str, Any]) -> str | None:
    start, end = _instant(entry.get("startTime")), _instant(entry.get("endTime"))
    if start is None or end is None or end < start:
        return None
    return duration((end - start).total_seconds())
