"""Attributes, comparisons and ranges of days, and conditions joined by `&` and `|`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NoReturn

from dataaccess._public import public
from dataaccess.filters._values import Time, Value, Values, snapshot

_MOST_CONDITIONS = 10_000


class _Condition:
    """The base of conditions. Python evaluates `and`, `or`, `not` and `if` itself, which would lose a condition."""

    __slots__ = ()

    # What to write in place of operators.
    _instead: ClassVar[str]

    # Not NoReturn: type checkers would skip the code after `if`, `and` and `or`.
    def __bool__(self) -> bool:
        self._refuse()

    def __invert__(self) -> NoReturn:
        self._refuse()

    def _refuse(self, _other: object = None) -> NoReturn:
        raise TypeError(self._instead.format(self))


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(_Condition):
    """An operator and its values: made by `after`, `before`, `since`, `until`, `on` and `op`."""

    method: Literal["matches", "equals", "after", "before", "since", "until", "on", "op"]
    value: object
    operator: str | None = None
    unit: str | None = None
    data_type: str | None = None

    _instead: ClassVar[str] = (
        "Python cannot join comparisons: a search takes one of after(t), before(t), since(day), until(day) and "
        "on(day); for a range of days use days(start, stop)"
    )

    def __repr__(self) -> str:
        arguments = [_shown(self.value)]
        if self.method == "op":
            arguments.insert(0, repr(self.operator))
        named = {"data_type": self.data_type, "unit": self.unit}
        arguments += [f"{name}={value!r}" for name, value in named.items() if value is not None]
        return f"{self.method}({', '.join(arguments)})"

    __and__ = __or__ = _Condition._refuse


@dataclass(frozen=True, slots=True, repr=False)
class Days(_Condition):
    """A range of days: made by `days`, `month`, `last_days` and `yesterday`."""

    function: Literal["days", "month", "last_days", "yesterday"]
    arguments: tuple[object, ...] = ()

    _instead: ClassVar[str] = "Python cannot join ranges of days: a search takes one, such as days(start, stop)"

    def __repr__(self) -> str:
        return f"{self.function}({', '.join(map(_shown, self.arguments))})"


@dataclass(frozen=True, slots=True, repr=False)
class Expression(_Condition):
    """Conditions joined by `&` and `|`, to any depth: the argument `where`.

    Examples:
        >>> col("age").op("greater_than", 17) & (col("name").equals("Ada") | col("name").equals("Bob"))
        col('age').op('greater_than', 17) & (col('name').equals('Ada') | col('name').equals('Bob'))
    """

    kind: Literal["condition", "all", "any"]
    parts: tuple[Column | Comparison | Expression, ...]

    _instead: ClassVar[str] = (
        "Python evaluates and, or, not and if itself: join conditions as (...) & (...) or (...) | (...). The API "
        "specification shows no NOT: write col(name).op(operator, values)"
    )

    def __and__(self, other: Expression) -> Expression:
        return self._joined("all", "&", other)

    def __or__(self, other: Expression) -> Expression:
        return self._joined("any", "|", other)

    def __rand__(self, other: object) -> NoReturn:
        _refuse_to_join("&", other)

    def __ror__(self, other: object) -> NoReturn:
        _refuse_to_join("|", other)

    def __repr__(self) -> str:
        if self.kind == "condition":
            return ".".join(map(repr, self.parts))
        sign = " & " if self.kind == "all" else " | "
        return sign.join(_enclosed(each) for each in self.parts)

    def _joined(self, kind: Literal["all", "any"], sign: str, other: object) -> Expression:
        if not isinstance(other, Expression):
            _refuse_to_join(sign, other)
        # One level for a long chain of the same sign, so that its length adds no depth.
        parts = [part for side in (self, other) for part in (side.parts if side.kind == kind else (side,))]
        if len(parts) > _MOST_CONDITIONS:
            advice = "values of one column go into one col(name).matches([...])"
            raise ValueError(f"more than {_MOST_CONDITIONS:,} conditions joined by {sign}: {advice}")
        return Expression(kind, tuple(parts))


@dataclass(frozen=True, slots=True, repr=False)
class Column(_Condition):
    """An attribute to filter by: made by `col`.

    Times are as in the functions of the same name, such as `dataaccess.after`.
    """

    name: str

    _instead: ClassVar[str] = (
        "Python operators do not work on a column: write {0!r}.equals(value), .matches([...]) for one of several, "
        ".before(time), .until(day), .after(time), .since(day), or .op(operator, value) for any other"
    )

    def matches(self, values: Values) -> Expression:
        """Selects records whose value is one of `values` (operator `matches`).

        Args:
            values: One value or several, all strings or all numbers.

        Examples:
            >>> col("customer_id").matches(["17", "42"])
            col('customer_id').matches(['17', '42'])
        """
        return self._compared(Comparison("matches", snapshot(values, tuple)))

    def equals(self, value: Value) -> Expression:
        """Selects records with exactly this value (operator `equals`).

        Examples:
            >>> col("name").equals("Ada")
            col('name').equals('Ada')
        """
        return self._compared(Comparison("equals", snapshot(value, tuple)))

    def after(self, time: Time) -> Expression:
        """Selects times after the day of `time`; that day itself is excluded (operator `after_date`)."""
        return self._compared(after(time))

    def before(self, time: Time) -> Expression:
        """Selects times before the day of `time`; that day itself is excluded (operator `before_date`)."""
        return self._compared(before(time))

    def since(self, day: Time) -> Expression:
        """Selects times from the start of `day` on; the day itself is included (operator `after_date`)."""
        return self._compared(since(day))

    def until(self, day: Time) -> Expression:
        """Selects times up to the end of `day`; the day itself is included (operator `before_date`)."""
        return self._compared(until(day))

    def between(self, first: Time, last: Time) -> Expression:
        """Selects times from the start of the day `first` to the end of the day `last`: both days are included.

        Examples:
            >>> col("opened").between("2024-01-01", "2024-03-31")
            col('opened').since('2024-01-01') & col('opened').until('2024-03-31')
        """
        return self.since(first) & self.until(last)

    def on(self, day: Time | Days) -> Expression:
        """Selects times of the day of `day` (operator `equals`)."""
        return self._compared(on(day))

    def op(self, name: str, values: Values, *, data_type: str | None = None, unit: str | None = None) -> Expression:
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
        return self._compared(Comparison("op", snapshot(values, tuple), name, unit, data_type))

    # Equality with anything else would be false without a word.
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Column):
            self._refuse()
        return self.name == other.name

    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = _Condition._refuse

    def __repr__(self) -> str:
        return f"col({self.name!r})"

    def _compared(self, comparison: Comparison) -> Expression:
        return Expression("condition", (self, comparison))


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
def after(time: Time) -> Comparison:
    """Selects times after the day of `time`; that day itself is excluded (operator `after_date`).

    The instant that `after`, `before`, `since` and `until` send gives these rows whether the service compares whole
    days or instants: see `day_comparison` of the client.

    Args:
        time: A date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds.

    Examples:
        >>> after("2024-01-31")
        after('2024-01-31')
    """
    return Comparison("after", snapshot(time, tuple))


@public
def before(time: Time) -> Comparison:
    """Selects times before the day of `time`; that day itself is excluded (operator `before_date`).

    Args:
        time: As in `after`.

    Examples:
        >>> before("2024-01-31")
        before('2024-01-31')
    """
    return Comparison("before", snapshot(time, tuple))


@public
def since(day: Time) -> Comparison:
    """Selects times from the start of `day` on; the day itself is included (operator `after_date`).

    Args:
        day: As in `after`.

    Examples:
        >>> since("2024-01-31")
        since('2024-01-31')
    """
    return Comparison("since", snapshot(day, tuple))


@public
def until(day: Time) -> Comparison:
    """Selects times up to the end of `day`; the day itself is included (operator `before_date`).

    Args:
        day: As in `after`.

    Examples:
        >>> until("2024-01-31")
        until('2024-01-31')
    """
    return Comparison("until", snapshot(day, tuple))


@public
def on(day: Time | Days) -> Comparison:
    """Selects times of the day of `day` (operator `equals`).

    Args:
        day: As in `after`, or `yesterday()`; in a scan also `days(start, stop)`, `month(text)` and
            `last_days(count)`, one request per day.

    Examples:
        >>> on("2024-01-31")
        on('2024-01-31')
    """
    return Comparison("on", snapshot(day, tuple))


@public
def op(operator: str, values: Values, *, unit: str | None = None) -> Comparison:
    """Compares by any operator of the service; it is sent as given.

    Args:
        operator: The operator.
        values: One value or several, as the service takes them.
        unit: The `time_unit` of a time; default: DAY, the only one that the API specification shows.

    Examples:
        >>> op("not_matches", [3, 4])
        op('not_matches', [3, 4])
    """
    return Comparison("op", snapshot(values, tuple), operator, unit)


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
    return Days("days", (snapshot(start, tuple), snapshot(stop, tuple)))


@public
def month(month: str) -> Days:
    """Selects each day of a month: a scan sends one request per day.

    Args:
        month: The month, as `"2024-01"`.

    Examples:
        >>> month("2024-01")
        month('2024-01')
    """
    return Days("month", (snapshot(month, tuple),))


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
    return Days("last_days", (snapshot(count, tuple),))


@public
def yesterday() -> Days:
    """Selects the day before today, in the time zone of the client (operator `equals`).

    A search, or the scan that is made, reads which day is today.

    Examples:
        >>> yesterday()
        yesterday()
    """
    return Days("yesterday")


def _shown(value: object) -> str:
    """A value as it is written: a list, as parentheses of one value would be no tuple."""
    return f"[{', '.join(map(_shown, value))}]" if isinstance(value, tuple) else repr(value)


def _enclosed(part: object) -> str:
    return f"({part!r})" if isinstance(part, Expression) and part.kind != "condition" else repr(part)


def _refuse_to_join(sign: str, other: object) -> NoReturn:
    shown = repr(other) if isinstance(other, _Condition) else type(other).__name__
    raise TypeError(f"{sign} joins conditions in parentheses, such as (col(name).matches(values)), not {shown}")
