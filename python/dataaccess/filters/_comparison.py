"""An operator with its values, and ranges of days."""

from __future__ import annotations

from dataaccess._public import public
from dataaccess.filters._given import Given
from dataaccess.filters._refusals import NotCompared
from dataaccess.filters._values import Time, Values, snapshot

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Literal, NoReturn, TypeAlias

    _Method: TypeAlias = Literal["matches", "equals", "after", "before", "since", "on", "op"]


# The units that these have by default.
_UNITS = {"after": "DAY", "before": "DAY", "on": "DAY"}


class Comparison(Given, NotCompared):
    """An operator and its values: made by `after`, `before`, `since`, `on` and `op`."""

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
        """Use `after`, `before`, `since`, `on` or `op`."""
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
            f"{operator} cannot join comparisons: a search takes one of after(t), before(t), since(day) and "
            "on(day); for a range of days use between(start, stop)"
        )

    def __and__(self, other: object) -> NoReturn:
        raise TypeError(self._instead_of("&"))

    def __or__(self, other: object) -> NoReturn:
        raise TypeError(self._instead_of("|"))


class Days(Given):
    """A range of days, `stop` excluded: made by `days`."""

    __slots__ = ("_start", "_stop")

    _start: Time
    _stop: Time

    def __init__(self, start: Time, stop: Time) -> None:
        """Use `days`."""
        super().__init__(start, stop)

    def __repr__(self) -> str:
        return f"days({self._start!r}, {self._stop!r})"

    def _given(self) -> tuple[object, ...]:
        return (self._start, self._stop)


@public
def after(time: Time, *, unit: str = "DAY") -> Comparison:
    """Selects times after the day of `time`; that day itself is excluded (operator `after_date`).

    Args:
        time: A date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds.
        unit: The `time_unit`; the API specification shows DAY only.

    Examples:
        >>> after("2024-01-31")
        after('2024-01-31')
    """
    return Comparison("after", time, None, unit)


@public
def before(time: Time, *, unit: str = "DAY") -> Comparison:
    """Selects times before the day of `time`; that day itself is excluded (operator `before_date`).

    Args:
        time: A date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds.
        unit: The `time_unit`; the API specification shows DAY only.

    Examples:
        >>> before("2024-01-31", unit="HOUR")
        before('2024-01-31', unit='HOUR')
    """
    return Comparison("before", time, None, unit)


@public
def since(day: Time) -> Comparison:
    """Selects times from the start of `day` on; the day itself is included.

    The service has no operator that includes the day, so `after_date` is sent with the last instant of the day before,
    in the time zone of the client.

    Args:
        day: A date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds.

    Examples:
        >>> since("2024-01-31")
        since('2024-01-31')
    """
    return Comparison("since", day)


@public
def on(day: Time | Days, *, unit: str = "DAY") -> Comparison:
    """Selects times of the day of `day` (operator `equals`).

    Args:
        day: A date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds; in a scan also
            `days(start, stop)`, one request per day.
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
        stop: The day after the last one.

    Examples:
        >>> days("2024-01-01", "2024-04-01")
        days('2024-01-01', '2024-04-01')
    """
    return Days(start, stop)


@public
def between(start: Time, stop: Time) -> Days:
    """Selects times from the start of the day `start` to the end of the day before `stop`, like `range`.

    A search of promotion codes takes one time condition, so this is sent as one request per day, as `days` is. For
    other objects `col(name).between(start, stop)` is one request.

    Args:
        start: The first day: a date, an ISO string, a `datetime64` or integer Unix milliseconds.
        stop: The day after the last one.

    Examples:
        >>> between("2024-01-01", "2024-04-01")
        days('2024-01-01', '2024-04-01')
    """
    return days(start, stop)
