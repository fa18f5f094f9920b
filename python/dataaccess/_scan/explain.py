"""The plan of a scan as text and HTML: what the service filters, which columns come back, what is not checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataaccess._contract import PROMOTION_CODE
from dataaccess._display import html
from dataaccess._display.text import cell, counted, shorten
from dataaccess._types import AudienceType, CodeStatus

if TYPE_CHECKING:
    from enum import IntEnum

    from dataaccess._native import RawScan
    from dataaccess._scan.outcome import ScanClient

_ENUMS: dict[str, type[IntEnum]] = {"audience_type": AudienceType, "code_status": CodeStatus}
# Values of a condition, and groups of conditions, that are shown.
_MAX_VALUES = 5
_MAX_GROUPS = 10
_DAY_MS = 86_400_000

_NOTES = [
    "nothing is requested before the scan is used, and each use sends all requests again",
    "no rows are kept, and requests are not one snapshot: a row that changes meanwhile may occur twice, or not at all",
]
_LIMITED = "the API specification shows no limit: the service may send more rows than the client returns"


class Plan:
    """What a scan will request. Conditions that differ between the requests show their first and last value."""

    def __init__(self, raw: RawScan, client: ScanClient, limit: int | None, settle: float) -> None:
        """Reads the first and the last request of a scan. Days change until `settle` seconds after their end."""
        self._requests = raw.requests
        self._comparison, self._clock = client.day_comparison, client._raw.wall_clock
        first, last = raw.body(0), raw.body(raw.requests - 1)
        self._is_codes = first["itemTypeId"] == PROMOTION_CODE
        pairs = list(zip(first["filters"]["OR"], last["filters"]["OR"], strict=True))
        self._groups = [list(zip(start["AND"], end["AND"], strict=True)) for start, end in pairs]
        self.columns = list(raw.types.items())
        self.item = f"{cell(first['itemTypeName'])} ({first['itemTypeId']})"
        self.title = counted(raw.requests, "request") + self._zones(client.timezone, raw.source_zone, raw.result_zone)
        self.filters = self._filters() or ["none"]
        self.limit = limit
        self.unchecked = self._unchecked()
        days = raw.open_days(settle)
        self.open_days = f"{counted(len(days), 'day')}: {shorten(days)}" if days else None

    def __str__(self) -> str:
        """The plan for a terminal."""
        lines = [
            f"{self.item} in {self.title}",
            "service filters: " + "\n                 ".join(self.filters),
            "columns:         " + ", ".join(f"{cell(name)} {kind}" for name, kind in self.columns),
        ]
        if self.limit is not None:
            lines.append(f"client cuts:     {counted(self.limit, 'row')}")
        if self.unchecked is not None:
            lines.append(f"not checked:     {self.unchecked}")
        if self.open_days is not None:
            lines.append(f"not over:        {self.open_days}")
        return "\n".join(lines)

    def html(self) -> str:
        """The plan for a notebook."""
        facts: list[tuple[str, html.Value | list[html.Value]]] = [
            ("service filters", list(self.filters)),
            ("columns", html.columns(self.columns)),
        ]
        notes = _NOTES
        if self.limit is not None:
            facts.append(("client cuts", f"after {counted(self.limit, 'row')}"))
            notes = [*_NOTES, _LIMITED]
        if self.unchecked is not None:
            facts.append(("not checked", html.Mark(self.unchecked, "doubt wide")))
        if self.open_days is not None:
            facts.append(("not over", html.Mark(self.open_days, "doubt wide")))
        facts.append(("not done", [html.Mark(note, "dim") for note in notes]))
        return html.block(html.title(self.item, f"{self.title}; nothing was sent"), html.facts(facts))

    def _zones(self, days: str, source: str, results: str | None) -> str:
        """The zones of days and times, in words; empty if nothing depends on them."""
        is_moved = results is not None and results != source
        records = f" (records in {source})" if is_moved else ""
        times = results or source
        if not any(start["data_type"] == "datetime" for group in self._groups for start, _ in group):
            has_times = any(kind == "timestamp" for _, kind in self.columns)
            return f", times in {times}{records}" if has_times and results else ""
        if times == days:
            return f", days and times in {times}{records}"
        return f", days in {days}, times in {times}{records}"

    def _filters(self) -> list[str]:
        filters: list[str] = []
        for group in self._groups[:_MAX_GROUPS]:
            conditions = [self._condition(start, end) for start, end in group]
            if filters:
                conditions[0] = f"or {conditions[0]}"
            filters += conditions
        if len(self._groups) > _MAX_GROUPS:
            filters.append(f"or {counted(len(self._groups) - _MAX_GROUPS, 'more group')}")
        return filters

    def _condition(self, start: dict[str, Any], end: dict[str, Any]) -> str:
        shown = self._values(start)
        if start["value"] != end["value"]:
            is_single = not isinstance(start["value"], list) or len(start["value"]) == 1
            shown = f"{shown} … {self._values(end)}, {'one per request' if is_single else self._parts()}"
        unit = f"{start['time_unit']} of " if start.get("time_unit") else ""
        return f"{cell(start['column'])} {cell(start['operator'])} {unit}{shown}"

    def _values(self, condition: dict[str, Any]) -> str:
        values = condition["value"]
        if condition["data_type"] == "datetime":
            return self._time(values, condition["operator"])
        values = values if isinstance(values, list) else [values]
        enum = _ENUMS.get(condition["column"]) if self._is_codes else None
        shown = [f"{enum(value).name} ({value})" if enum else cell(value) for value in values[:_MAX_VALUES]]
        more = len(values) - _MAX_VALUES
        return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")

    def _time(self, sent: int, operator: str) -> str:
        """The instant that is sent, and the day at which its rows begin or end if that is another one."""
        # What is sent lies a millisecond before the first instant of a day: `Calendar` in the core.
        words = {("after_date", "exclusive"): "since", ("before_date", "inclusive"): "before"}
        word = words.get((operator, self._comparison))
        day = self._clock(sent + 1) if word else ""
        return f"{self._clock(sent)} ({word} {day})" if len(day) == len("2024-01-31") else self._clock(sent)

    def _parts(self) -> str:
        """How many requests a list of values is split into, which may be several for each day."""
        pairs = [pair for group in self._groups for pair in group]
        days = [(start["value"], end["value"]) for start, end in pairs if _is_day(start) and start != end]
        if not days:
            return f"in {counted(self._requests, 'request')}"
        first, last = days[0]
        return f"in {counted(self._requests // (round((last - first) / _DAY_MS) + 1), 'request')} a day"

    def _unchecked(self) -> str | None:
        """That rows are not compared with their day, if the time of the condition is no column."""
        days = [[start["column"] for start, _ in group if _is_day(start)] for group in self._groups]
        common = [name for name in (days[0] if days else []) if all(name in names for names in days)]
        names = [name for name, _ in self.columns]
        if not common or set(common) & set(names):
            return None
        return f"the day of the rows: {cell(common[0])} is not in attrs"


def _is_day(condition: dict[str, Any]) -> bool:
    return (condition["data_type"], condition["operator"], condition.get("time_unit")) == ("datetime", "equals", "DAY")
