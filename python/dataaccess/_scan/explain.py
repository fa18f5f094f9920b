"""The plan of a scan in words: what the service filters, and which columns come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dataaccess._contract import PROMOTION_CODE
from dataaccess._display.plan import Plan
from dataaccess._display.text import cell, counted
from dataaccess._types import AudienceType, CodeStatus

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import IntEnum
    from typing import Any, TypeAlias

    _Days: TypeAlias = tuple[str, Callable[[int], str]]

_ENUMS: dict[str, type[IntEnum]] = {"audience_type": AudienceType, "code_status": CodeStatus}
# Values of a condition, and groups of conditions, that are shown.
_MAX_VALUES = 5
_MAX_GROUPS = 10
# In milliseconds.
_DAY = 86_400_000

# What does not happen.
_NOTES = (
    "nothing is requested before the scan is used, and each use sends all requests again",
    "no rows are kept, and requests are not one snapshot: a row that changes meanwhile may occur twice, or not at all",
)
_LIMITED = "the API specification shows no limit: the service may send more rows than the client returns"


class Zones(NamedTuple):
    """The time zones of a scan.

    Attributes:
        days: Where days begin, and in which conditions are shown.
        source: Of the times in records.
        results: Of the times in results; None if they stay as the service wrote them.
    """

    days: str
    source: str
    results: str | None

    def text(self, *, has_days: bool, has_times: bool) -> str | None:
        """The zones in words; None if nothing depends on them."""
        times = self.results or self.source
        if not has_days:
            return self._times(f"times in {times}") if has_times and self.results else None
        if times == self.days:
            return self._times(f"days and times in {times}")
        return self._times(f"days in {self.days}, times in {times}")

    def _times(self, text: str) -> str:
        is_moved = self.results is not None and self.results != self.source
        return f"{text} (records in {self.source})" if is_moved else text


def plan_of(
    requests: int,
    first: dict[str, Any],
    last: dict[str, Any],
    columns: list[tuple[str, str]],
    zones: Zones,
    days: _Days,
    limit: int | None,
    open_days: list[str],
) -> Plan:
    """The plan of requests whose first and last bodies are given: conditions that differ have a value per request.

    `columns` are names and types. `days` are the `day_comparison` of the client, and a function that shows Unix
    milliseconds in its time zone.
    """
    groups, ends = first["filters"]["OR"], last["filters"]["OR"]
    names = _ENUMS if first["itemTypeId"] == PROMOTION_CODE else {}
    filters: list[str] = []
    parts = _parts(requests, groups, ends)
    for group, end in list(zip(groups, ends, strict=True))[:_MAX_GROUPS]:
        conditions = [_condition(*pair, names, days, parts) for pair in zip(group["AND"], end["AND"], strict=True)]
        if filters:
            conditions[0] = f"or {conditions[0]}"
        filters += conditions
    if len(groups) > _MAX_GROUPS:
        filters.append(f"or {counted(len(groups) - _MAX_GROUPS, 'more group')}")
    has_times = any(condition["data_type"] == "datetime" for group in groups for condition in group["AND"])
    return Plan(
        item=f"{cell(first['itemTypeName'])} ({first['itemTypeId']})",
        requests=requests,
        zones=zones.text(has_days=has_times, has_times=any(kind == "timestamp" for _, kind in columns)),
        filters=filters or ["none"],
        columns=columns,
        limit=limit,
        unchecked=_unchecked_day(groups, [name for name, _ in columns]),
        open_days=open_days,
        notes=[*_NOTES, *([] if limit is None else [_LIMITED])],
    )


def _is_day(condition: dict[str, Any]) -> bool:
    return (condition["data_type"], condition["operator"], condition.get("time_unit")) == ("datetime", "equals", "DAY")


def _unchecked_day(groups: list[dict[str, Any]], columns: list[str]) -> str | None:
    """That rows are not compared with the day that they are requested for, if no column has the time."""
    days = [[condition["column"] for condition in group["AND"] if _is_day(condition)] for group in groups]
    common = [name for name in (days[0] if days else []) if all(name in names for names in days)]
    if not common or set(common) & set(columns):
        return None
    return f"the day of the rows: {cell(common[0])} is not in attrs"


def _parts(requests: int, groups: list[dict[str, Any]], ends: list[dict[str, Any]]) -> str:
    """How many requests the values of a list are in, which may be several for each day."""
    pairs = [
        pair for both in zip(groups, ends, strict=True) for pair in zip(*(group["AND"] for group in both), strict=True)
    ]
    days = [(first["value"], last["value"]) for first, last in pairs if _is_day(first) and first != last]
    if not days:
        return f"in {counted(requests, 'request')}"
    first, last = days[0]
    return f"in {counted(requests // (round((last - first) / _DAY) + 1), 'request')} a day"


def _condition(
    first: dict[str, Any],
    last: dict[str, Any],
    names: dict[str, type[IntEnum]],
    days: _Days,
    parts: str,
) -> str:
    shown = _values(first, names, days)
    if first["value"] != last["value"]:
        is_single = not isinstance(first["value"], list) or len(first["value"]) == 1
        shown = f"{shown} … {_values(last, names, days)}, {'one per request' if is_single else parts}"
    unit = f"{first['time_unit']} of " if first.get("time_unit") else ""
    return f"{cell(first['column'])} {cell(first['operator'])} {unit}{shown}"


def _values(condition: dict[str, Any], names: dict[str, type[IntEnum]], days: _Days) -> str:
    values = condition["value"]
    if condition["data_type"] == "datetime":
        return _time(values, condition["operator"], days)
    values = values if isinstance(values, list) else [values]
    enum = names.get(condition["column"])
    shown = [f"{enum(value).name} ({value})" if enum else cell(value) for value in values[:_MAX_VALUES]]
    more = len(values) - _MAX_VALUES
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def _time(sent: int, operator: str, days: _Days) -> str:
    """The instant that is sent, and the day at which its rows begin or end where that is another one."""
    comparison, clock = days
    # What is sent lies a millisecond before the first instant of a day: `Calendar` in the core.
    words = {("after_date", "exclusive"): "since", ("before_date", "inclusive"): "before"}
    word = words.get((operator, comparison))
    day = clock(sent + 1) if word else ""
    return f"{clock(sent)} ({word} {day})" if len(day) == len("2024-01-31") else clock(sent)
