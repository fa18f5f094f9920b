"""Attributes, and conditions joined by `&` and `|`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._public import public
from dataaccess.filters._comparison import Comparison, Days, after, before, on, since, until
from dataaccess.filters._given import Given
from dataaccess.filters._refusals import NotOrdered
from dataaccess.filters._values import Time, Value, Values, snapshot

if TYPE_CHECKING:
    from typing import Literal, NoReturn

_MOST_CONDITIONS = 10_000


class Expression(NotOrdered, Given):
    """Conditions joined by `&` and `|`, to any depth: the argument `where=`.

    Examples:
        >>> col("age").op("greater_than", 17) & (col("name").equals("Ada") | col("name").equals("Bob"))
        col('age').op('greater_than', 17) & (col('name').equals('Ada') | col('name').equals('Bob'))
    """

    __slots__ = ("_kind", "_parts")

    _kind: Literal["condition", "all", "any"]
    _parts: tuple[object, ...]

    def __init__(self, kind: Literal["condition", "all", "any"], *parts: object) -> None:
        """Use the methods of `col(name)`, and join what they return."""
        super().__init__(kind, parts)

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
        return Expression(kind, *parts)

    def _instead_of(self, operator: str) -> str:
        if operator == "~":
            return (
                "~ cannot negate a condition, the API specification shows no NOT: write col(name).op(operator, values)"
            )
        return f"{operator} does not work on conditions: join them as (...) & (...) or (...) | (...)"


class Column(NotOrdered, Given):
    """An attribute to filter by: made by `col`."""

    __slots__ = ("_name",)

    _name: str

    def __init__(self, name: str) -> None:
        """Use `col`."""
        super().__init__(name)

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

    def after(self, time: Time, *, unit: str = "DAY") -> Expression:
        """Selects times after the day of `time`; that day itself is excluded (operator `after_date`).

        The instant that is sent gives these rows whether the service compares whole days or instants: see
        `day_comparison=` of the client.

        Args:
            time: A date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds.
            unit: The `time_unit`; the API specification shows DAY only. With another one the time is sent as given.

        Examples:
            >>> col("allocated_time").after("2024-01-31")
            col('allocated_time').after('2024-01-31')
        """
        return self._condition(after(time, unit=unit))

    def before(self, time: Time, *, unit: str = "DAY") -> Expression:
        """Selects times before the day of `time`; that day itself is excluded (operator `before_date`).

        The instant that is sent gives these rows whether the service compares whole days or instants: see
        `day_comparison=` of the client.

        Args:
            time: A date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds.
            unit: The `time_unit`; the API specification shows DAY only. With another one the time is sent as given.

        Examples:
            >>> col("allocated_time").before("2024-01-31")
            col('allocated_time').before('2024-01-31')
        """
        return self._condition(before(time, unit=unit))

    def since(self, day: Time) -> Expression:
        """Selects times from the start of `day` on; the day itself is included (operator `after_date`).

        The instant that is sent gives these rows whether the service compares whole days or instants: see
        `day_comparison=` of the client.

        Args:
            day: A date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds.

        Examples:
            >>> col("allocated_time").since("2024-01-31")
            col('allocated_time').since('2024-01-31')
        """
        return self._condition(since(day))

    def until(self, day: Time) -> Expression:
        """Selects times up to the end of `day`; the day itself is included (operator `before_date`).

        The instant that is sent gives these rows whether the service compares whole days or instants: see
        `day_comparison=` of the client.

        Args:
            day: A date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds.

        Examples:
            >>> col("allocated_time").until("2024-01-31")
            col('allocated_time').until('2024-01-31')
        """
        return self._condition(until(day))

    def between(self, first: Time, last: Time) -> Expression:
        """Selects times from the start of the day `first` to the end of the day `last`: both days are included.

        The instants that are sent give these rows whether the service compares whole days or instants: see
        `day_comparison=` of the client.

        Args:
            first: The first day: a date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds.
            last: The last day.

        Examples:
            >>> col("opened").between("2024-01-01", "2024-03-31")
            col('opened').since('2024-01-01') & col('opened').until('2024-03-31')
        """
        return self.since(first) & self.until(last)

    def on(self, day: Time | Days, *, unit: str = "DAY") -> Expression:
        """Selects times of the day of `day` (operator `equals`).

        Args:
            day: A date, a datetime, an ISO string, a `datetime64`, integer Unix milliseconds or `yesterday()`; in a
                scan also `days(start, stop)`, `month(text)` and `last_days(count)`, one request per day.
            unit: The `time_unit`; the API specification shows DAY only.

        Examples:
            >>> col("allocated_time").on("2024-01-31")
            col('allocated_time').on('2024-01-31')
        """
        return self._condition(on(day, unit=unit))

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
        return self._condition(Comparison("op", snapshot(values), name, unit, data_type))

    def __and__(self, other: object) -> NoReturn:
        _refuse_to_join(self, "&")

    def __or__(self, other: object) -> NoReturn:
        _refuse_to_join(self, "|")

    def __repr__(self) -> str:
        return f"col({self._name!r})"

    def _condition(self, comparison: Comparison) -> Expression:
        return Expression("condition", self, comparison)

    def _given(self) -> tuple[object, ...]:
        return (self._name,)

    def _instead_of(self, operator: str) -> str:
        instead = {
            "==": ".equals(value), or .matches([...]) for one of several",
            "<": ".before(time), or .op(operator, value) for a number",
            "<=": ".until(day), or .op(operator, value) for a number",
            ">": ".after(time), or .op(operator, value) for a number",
            ">=": ".since(day), or .op(operator, value) for a number",
            "!=": ".op(operator, value), as the API specification names no operator for it",
            "~": ".op(operator, value), as the API specification shows no NOT",
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
