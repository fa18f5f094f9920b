"""An operator with its values, and ranges of days."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._public import public
from dataaccess.filters._given import Given
from dataaccess.filters._refusals import NotCompared
from dataaccess.filters._values import Time, Values, snapshot

if TYPE_CHECKING:
    from typing import Literal, NoReturn, TypeAlias

    _Method: TypeAlias = Literal["matches", "equals", "after", "before", "since", "until", "on", "op"]


# The units that these have by default.
_UNITS = {"after": "DAY", "before": "DAY", "on": "DAY"}
# The number of arguments of the functions that make days.
_ARGUMENTS = {"days": 2, "month": 1, "last_days": 1, "yesterday": 0}


class Comparison(Given, NotCompared):
    """An operator and its values: made by `after`, `before`, `since`, `until`, `on` and `op`."""

    __slots__ = ("_method", "_value", "_operator", "_unit", "_data_type")  # noqa: RUF023 - in the order of arguments

    _method: _Method
    _value: object
    _operator: str | None
    _unit: str | None
    _data_type: str | None

    def __init__(
        self,
        method: _Method,
        value: object,
        operator: str | None = None,
        unit: str | None = None,
        data_type: str | None = None,
    ) -> None:
        """Use `after`, `before`, `since`, `until`, `on` or `op`."""
        super().__init__(method, value, operator, unit, data_type)

    def __repr__(self) -> str:
        arguments = [repr(self._value)]
        if self._method == "op":
            arguments.insert(0, repr(self._operator))
        if self._data_type is not None:
            arguments.append(f"data_type={self._data_type!r}")
        if self._unit not in (None, _UNITS.get(self._method)):
            arguments.append(f"unit={self._unit!r}")
        return f"{self._method}({', '.join(arguments)})"

    def _given(self) -> tuple[object, ...]:
        return (self._method, self._value, self._operator, self._unit, self._data_type)

    def _instead_of(self, operator: str) -> str:
        return (
            f"{operator} cannot join comparisons: a search takes one of after(t), before(t), since(day), until(day) "
            "and on(day); for a range of days use days(start, stop)"
        )

    def __and__(self, other: object) -> NoReturn:
        raise TypeError(self._instead_of("&"))

    def __or__(self, other: object) -> NoReturn:
        raise TypeError(self._instead_of("|"))


class Days(Given):
    """A range of days: made by `days`, `month`, `last_days` and `yesterday`."""

    __slots__ = ("_function", "_first", "_second")  # noqa: RUF023 - in the order of arguments

    _function: str
    _first: object
    _second: object

    def __init__(self, function: str, first: object = None, second: object = None) -> None:
        """Use `days`, `month`, `last_days` or `yesterday`."""
        super().__init__(function, first, second)

    def __repr__(self) -> str:
        count = _ARGUMENTS.get(self._function, 2)
        return f"{self._function}({', '.join(map(repr, (self._first, self._second)[:count]))})"

    def _given(self) -> tuple[object, ...]:
        return (self._function, self._first, self._second)


@public
def after(time: Time, *, unit: str = "DAY") -> Comparison:
    """Selects times after the day of `time`; that day itself is excluded (operator `after_date`).

    The instant that is sent gives these rows whether the service compares whole days or instants: see
    `day_comparison=` of the client.

    Args:
        time: A date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds.
        unit: The `time_unit`; the API specification shows DAY only. With another one the time is sent as given.

    Examples:
        >>> after("2024-01-31")
        after('2024-01-31')
    """
    return Comparison("after", time, None, unit)


@public
def before(time: Time, *, unit: str = "DAY") -> Comparison:
    """Selects times before the day of `time`; that day itself is excluded (operator `before_date`).

    The instant that is sent gives these rows whether the service compares whole days or instants: see
    `day_comparison=` of the client.

    Args:
        time: A date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds.
        unit: The `time_unit`; the API specification shows DAY only. With another one the time is sent as given.

    Examples:
        >>> before("2024-01-31", unit="HOUR")
        before('2024-01-31', unit='HOUR')
    """
    return Comparison("before", time, None, unit)


@public
def since(day: Time) -> Comparison:
    """Selects times from the start of `day` on; the day itself is included (operator `after_date`).

    The instant that is sent gives these rows whether the service compares whole days or instants: see
    `day_comparison=` of the client.

    Args:
        day: A date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds.

    Examples:
        >>> since("2024-01-31")
        since('2024-01-31')
    """
    return Comparison("since", day)


@public
def until(day: Time) -> Comparison:
    """Selects times up to the end of `day`; the day itself is included (operator `before_date`).

    The instant that is sent gives these rows whether the service compares whole days or instants: see
    `day_comparison=` of the client.

    Args:
        day: A date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds.

    Examples:
        >>> until("2024-01-31")
        until('2024-01-31')
    """
    return Comparison("until", day)


@public
def on(day: Time | Days, *, unit: str = "DAY") -> Comparison:
    """Selects times of the day of `day` (operator `equals`).

    Args:
        day: A date, a datetime, an ISO string, a `datetime64`, integer Unix milliseconds or `yesterday()`; in a scan
            also `days(start, stop)`, `month(text)` and `last_days(count)`, one request per day.
        unit: The `time_unit`; the API specification shows DAY only.

    Examples:
        >>> on("2024-01-31")
        on('2024-01-31')
    """
    return Comparison("on", day, None, unit)


@public
def op(operator: str, values: Values, *, unit: str | None = None) -> Comparison:
    """Compares by any operator of the service; it is sent as given.

    Args:
        operator: The operator.
        values: One value or several, as the service takes them.
        unit: The `time_unit` of a time.

    Examples:
        >>> op("not_matches", [3, 4])
        op('not_matches', [3, 4])
    """
    return Comparison("op", snapshot(values), operator, unit)


@public
def days(start: Time, stop: Time) -> Days:
    """Selects each day from `start` to the day before `stop`, like `range`: a scan sends one request per day.

    Args:
        start: The first day: a date, an ISO string, a `datetime64` or integer Unix milliseconds.
        stop: The day after the last one. A time of day in either end is refused, as days are whole.

    Examples:
        >>> days("2024-01-01", "2024-04-01")
        days('2024-01-01', '2024-04-01')
    """
    return Days("days", start, stop)


@public
def month(month: str) -> Days:
    """Selects each day of a month: a scan sends one request per day.

    Args:
        month: The month, as `"2024-01"`.

    Examples:
        >>> month("2024-01")
        month('2024-01')
    """
    return Days("month", month)


@public
def last_days(count: int) -> Days:
    """Selects the last `count` complete days, up to yesterday: a scan sends one request per day.

    A search, or the scan that is made, reads which day is today: in the time zone of its client.

    Args:
        count: How many days.

    Examples:
        >>> last_days(7)
        last_days(7)
    """
    return Days("last_days", count)


@public
def yesterday() -> Days:
    """Selects the day before today, in the time zone of the client (operator `equals`).

    A search, or the scan that is made, reads which day is today.

    Examples:
        >>> yesterday()
        yesterday()
    """
    return Days("yesterday")
