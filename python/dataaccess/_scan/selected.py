"""What every row has that a query reads: values, times and days of single columns. polars fills it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple, TypeAlias, TypeVar

Value: TypeAlias = str | int
_T = TypeVar("_T", bound=date)

_DAY = timedelta(days=1)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(slots=True)
class Selected:
    """What every selected row has.

    Attributes:
        values: The values that a column may have, by its name.
        times: The least and the greatest time that a column may have, by its name; None where there is no limit. polars
            reads a date as its midnight in UTC, also where the column has another zone.
        days: The first and the last day of its times, as `dt.date()` shows them, by its name; None likewise.
    """

    values: dict[str, list[Value]] = field(default_factory=dict)
    times: dict[str, tuple[datetime | None, datetime | None]] = field(default_factory=dict)
    days: dict[str, tuple[date | None, date | None]] = field(default_factory=dict)

    def narrow(self, column: Column, values: list[Any]) -> None:
        """Adds that the column has one of these values. What is no value of lists, times or days says nothing."""
        if values and all(isinstance(value, date) for value in values):
            self.bound(column, min(values), max(values))
        elif values and all(type(value) in (str, int) for value in values):
            known = self.values.get(column.name)
            self.values[column.name] = [value for value in dict.fromkeys(values) if known is None or value in known]

    def compare(self, column: Column, operator: str, value: Any) -> None:
        """Adds a comparison with a value: "Eq", "Lt", "LtEq", "Gt" or "GtEq"."""
        if operator == "Eq":
            self.narrow(column, [value])
        elif isinstance(value, date):
            is_least = operator in ("Gt", "GtEq")
            if column.is_day and operator in ("Gt", "Lt"):
                value += _DAY if is_least else -_DAY
            elif operator == "Lt" and isinstance(value, datetime):
                # The last time of the column: the midnight at which a day ends is of the next one.
                value -= _MICROSECOND
            self.bound(column, value if is_least else None, None if is_least else value)

    def bound(self, column: Column, least: date | None, most: date | None) -> None:
        """Adds that the column has values from the least to the greatest; None is no limit."""
        if column.is_day:
            self.days[column.name] = _within(self.days.get(column.name), least, most)
        else:
            first = None if least is None else _start(least)
            last = None if most is None else _end(most)
            self.times[column.name] = _within(self.times.get(column.name), first, last)


class Column(NamedTuple):
    """A column, or the days of its times."""

    name: str
    is_day: bool


def _within(
    known: tuple[_T | None, _T | None] | None, least: _T | None, most: _T | None
) -> tuple[_T | None, _T | None]:
    """The narrower bounds."""
    pairs = zip(known or (None, None), (least, most), strict=True)
    leasts, mosts = ([bound for bound in pair if bound] for pair in pairs)
    return max(leasts, default=None), min(mosts, default=None)


def _start(value: date) -> datetime:
    """The instant, or the first of a day."""
    return value if isinstance(value, datetime) else datetime.combine(value, time())


def _end(value: date) -> datetime:
    """The instant, or the end of a day."""
    if isinstance(value, datetime):
        return value
    return datetime.combine(value, time()) + _DAY if value < date.max else datetime.max  # noqa: DTZ901 - as columns
