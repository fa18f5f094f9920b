"""Conditions of a search.

Values are kept as given. A request checks them and reports all problems together, so nothing here checks a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Any, Literal, NoReturn, Protocol, TypeAlias

from dataaccess._public import public

__all__ = [
    "Column",
    "Comparison",
    "Days",
    "Expression",
    "after",
    "before",
    "between",
    "col",
    "days",
    "on",
    "op",
    "since",
]

_MOST_VALUES = 1_000_000
_MOST_CONDITIONS = 10_000
# Nested lists and dicts: raw filters have six levels.
_LEVELS = 8


class _Scalar(Protocol):
    """A numpy scalar, such as `datetime64`."""

    def item(self) -> Any: ...


Time: TypeAlias = date | str | int | _Scalar
"""A date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds."""

Value: TypeAlias = str | int | float | date | _Scalar
"""One value to compare with."""

Values: TypeAlias = Value | Iterable[object]
"""One value or several: a list, a set, a Series, an array, any iterable."""

_Method: TypeAlias = Literal["matches", "equals", "after", "before", "since", "on", "op"]


class _NotCompared:
    """Refuses the operators that Python evaluates at once, and says what to write instead."""

    __slots__ = ()

    def _instead_of(self, operator: str) -> str:
        """Says what to write instead of an operator."""
        raise NotImplementedError

    def __bool__(self) -> NoReturn:
        raise TypeError(self._instead_of("and, or, not, if"))

    def __invert__(self) -> NoReturn:
        raise TypeError(self._instead_of("~"))


class _NotOrdered(_NotCompared):
    """Also refuses comparison operators: `==` would otherwise be false without a word."""

    __slots__ = ()

    # Equality is refused, so a set or dict tells two of these apart by identity.
    def __hash__(self) -> int:
        return object.__hash__(self)

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError(self._instead_of("=="))

    def __ne__(self, other: object) -> NoReturn:
        raise TypeError(self._instead_of("!="))

    def __lt__(self, other: object) -> NoReturn:
        raise TypeError(self._instead_of("<"))

    def __le__(self, other: object) -> NoReturn:
        raise TypeError(self._instead_of("<="))

    def __gt__(self, other: object) -> NoReturn:
        raise TypeError(self._instead_of(">"))

    def __ge__(self, other: object) -> NoReturn:
        raise TypeError(self._instead_of(">="))

    def __contains__(self, value: object) -> NoReturn:
        raise TypeError(self._instead_of("in"))


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(_NotCompared):
    """An operator and its values: made by `after`, `before`, `since`, `on` and `op`."""

    _method: _Method
    _value: object
    _operator: str | None = None
    _unit: str | None = None
    _data_type: str | None = None

    def __repr__(self) -> str:
        arguments = [repr(self._value)]
        if self._method == "op":
            arguments.insert(0, repr(self._operator))
        if self._data_type is not None:
            arguments.append(f"data_type={self._data_type!r}")
        if self._unit not in (None, "DAY"):
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


@dataclass(frozen=True, slots=True, repr=False)
class Days:
    """A range of days, `stop` excluded: made by `days`."""

    _start: Time
    _stop: Time

    def __repr__(self) -> str:
        return f"days({self._start!r}, {self._stop!r})"

    def _given(self) -> tuple[object, ...]:
        return (self._start, self._stop)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Expression(_NotOrdered):
    """Conditions joined by `&` and `|`, to any depth: the argument `where=`.

    Examples:
        >>> col("age").op("greater_than", 17) & (col("name").equals("Ada") | col("name").equals("Bob"))
        col('age').op('greater_than', 17) & (col('name').equals('Ada') | col('name').equals('Bob'))
    """

    _kind: Literal["condition", "all", "any"]
    _parts: tuple[object, ...]

    def __and__(self, other: Expression) -> Expression:
        return self._joined("all", "&", other)

    def __or__(self, other: Expression) -> Expression:
        return self._joined("any", "|", other)

    def __rand__(self, other: object) -> NoReturn:
        _refuse_to_join(other, "&")

    def __ror__(self, other: object) -> NoReturn:
        _refuse_to_join(other, "|")

    def __repr__(self) -> str:
        if self._kind == "condition":
            return ".".join(repr(part) for part in self._parts)
        operator = " & " if self._kind == "all" else " | "
        return operator.join(_enclosed(part) for part in self._parts)

    def _given(self) -> tuple[object, ...]:
        return (self._kind, *self._parts)

    def _joined(self, kind: Literal["all", "any"], operator: str, other: object) -> Expression:
        if not isinstance(other, Expression):
            _refuse_to_join(other, operator)
        # One level for a long chain of the same operator, so that its length adds no depth.
        parts = [part for side in (self, other) for part in (side._parts if side._kind == kind else (side,))]
        if len(parts) > _MOST_CONDITIONS:
            raise ValueError(
                f"more than {_MOST_CONDITIONS:,} conditions joined by {operator}: values of one column go into one "
                "col(name).matches([...])"
            )
        return Expression(kind, tuple(parts))

    def _instead_of(self, operator: str) -> str:
        if operator == "~":
            return "~ cannot negate a condition, as the service has no NOT: write col(name).op(operator, values)"
        return f"{operator} does not work on conditions: join them as (...) & (...) or (...) | (...)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Column(_NotOrdered):
    """An attribute to filter by: made by `col`."""

    _name: str

    def matches(self, values: Values) -> Expression:
        """Selects records whose value is one of `values` (operator `matches`).

        Args:
            values: One value or several, all strings or all numbers.

        Examples:
            >>> col("customer_id").matches(["17", "42"])
            col('customer_id').matches(['17', '42'])
        """
        return self._condition(Comparison("matches", snapshot(values)))

    def equals(self, value: Value) -> Expression:
        """Selects records with exactly this value (operator `equals`).

        Examples:
            >>> col("name").equals("Ada")
            col('name').equals('Ada')
        """
        return self._condition(Comparison("equals", value))

    def after(self, time: Time, unit: str = "DAY") -> Expression:
        """Selects times after the day of `time`; that day itself is excluded (operator `after_date`).

        Args:
            time: A date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds.
            unit: The `time_unit`; the API specification shows DAY only.

        Examples:
            >>> col("allocated_time").after("2024-01-31")
            col('allocated_time').after('2024-01-31')
        """
        return self._condition(after(time, unit=unit))

    def before(self, time: Time, unit: str = "DAY") -> Expression:
        """Selects times before the day of `time`; that day itself is excluded (operator `before_date`).

        Args:
            time: A date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds.
            unit: The `time_unit`; the API specification shows DAY only.

        Examples:
            >>> col("allocated_time").before("2024-01-31")
            col('allocated_time').before('2024-01-31')
        """
        return self._condition(before(time, unit=unit))

    def since(self, day: Time) -> Expression:
        """Selects times from the start of `day` on; the day itself is included.

        The service has no operator that includes the day, so `after_date` is sent with the last instant of the day
        before, in the time zone of the client.

        Args:
            day: A date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds.

        Examples:
            >>> col("allocated_time").since("2024-01-31")
            col('allocated_time').since('2024-01-31')
        """
        return self._condition(since(day))

    def between(self, start: Time, stop: Time) -> Expression:
        """Selects times from the start of the day `start` to the end of the day before `stop`, like `range`.

        Args:
            start: The first day: a date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds.
            stop: The day after the last one.

        Examples:
            >>> col("opened").between("2024-01-01", "2024-04-01")
            col('opened').since('2024-01-01') & col('opened').before('2024-04-01')
        """
        return self.since(start) & self.before(stop)

    def on(self, day: Time | Days, unit: str = "DAY") -> Expression:
        """Selects times of the day of `day` (operator `equals`).

        Args:
            day: A date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds; in a scan also
                `days(start, stop)`, one request per day.
            unit: The `time_unit`; the API specification shows DAY only.

        Examples:
            >>> col("allocated_time").on("2024-01-31")
            col('allocated_time').on('2024-01-31')
        """
        return self._condition(on(day, unit=unit))

    def op(self, name: str, values: Values, data_type: str | None = None, unit: str | None = None) -> Expression:
        """Selects records by any operator of the service; it is sent as given.

        Args:
            name: The operator.
            values: One value or several.
            data_type: `string`, `number`, `datetime` or another one of the service; default: the type of the values.
            unit: The `time_unit` of a time.

        Examples:
            >>> col("age").op("greater_than", 17, data_type="number")
            col('age').op('greater_than', 17, data_type='number')
        """
        return self._condition(Comparison("op", snapshot(values), name, unit, data_type))

    def __and__(self, other: object) -> NoReturn:
        _refuse_to_join(self, "&")

    def __or__(self, other: object) -> NoReturn:
        _refuse_to_join(self, "|")

    def __repr__(self) -> str:
        return f"col({self._name!r})"

    def _condition(self, comparison: Comparison) -> Expression:
        return Expression("condition", (self, comparison))

    def _given(self) -> tuple[object, ...]:
        return (self._name,)

    def _instead_of(self, operator: str) -> str:
        instead = {
            "==": ".equals(value), or .matches([...]) for one of several",
            "<": ".before(time), or .op(operator, value) for a number",
            "<=": ".before(time), or .op(operator, value) for a number",
            ">": ".after(time), or .op(operator, value) for a number",
            ">=": ".since(day), or .op(operator, value) for a number",
            "!=": ".op(operator, value), as the API specification names no operator for it",
            "~": ".op(operator, value), as the service has no NOT",
            "in": ".matches([...])",
        }
        return f"{operator} does not work on a column: write {self!r}{instead.get(operator, '.matches([...])')}"


@public
def col(name: str) -> Column:
    """Names an attribute to filter by.

    Args:
        name: Name of the attribute.

    Examples:
        >>> col("customer_id").matches("17") & col("created").after("2024-01-31")
        col('customer_id').matches('17') & col('created').after('2024-01-31')
    """
    return Column(name)


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


def is_range(condition: object) -> bool:
    """Whether a time condition is a range of days, and so several requests."""
    return isinstance(condition._value if isinstance(condition, Comparison) else condition, Days)


def snapshot(values: object, levels: int = _LEVELS) -> object:
    """A copy of the values: an iterator can be read only once, and a list or dict could change."""
    if isinstance(values, list) and levels:
        return [snapshot(value, levels - 1) if isinstance(value, (list, dict)) else value for value in values]
    if isinstance(values, dict) and levels:
        return {name: snapshot(value, levels - 1) for name, value in values.items()}
    if isinstance(values, set):
        return values.copy()
    if isinstance(values, Iterator):
        read = list(islice(values, _MOST_VALUES + 1))
        if len(read) > _MOST_VALUES:
            raise ValueError(f"more than {_MOST_VALUES:,} values: send them in several requests")
        return read
    return values


def _enclosed(part: object) -> str:
    return f"({part!r})" if isinstance(part, Expression) and part._kind != "condition" else repr(part)


def _refuse_to_join(other: object, operator: str) -> NoReturn:
    if isinstance(other, Column):
        raise TypeError(f"{operator} joins conditions, and {other!r} is a column: write {other!r}.matches([...])")
    if isinstance(other, Comparison):
        raise TypeError(f"{operator} joins conditions, and {other!r} names no column: write col(name).{other!r}")
    raise TypeError(
        f"{operator} joins conditions, not {type(other).__name__}: write each as col(name).matches(values), "
        "in parentheses"
    )
