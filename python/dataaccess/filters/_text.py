"""A condition as text that `parse` reads: its values as Python literals and dates.

A `repr` alone is not enough: values may be a Series, numpy's, or a set, whose order differs in each process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from dataaccess.filters._comparison import Comparison
from dataaccess.filters._given import Given
from dataaccess.filters._parse import cut, read

if TYPE_CHECKING:
    from collections.abc import Callable


def text_of(condition: Given, name_of: Callable[[object], str | None] = lambda _: None) -> str:
    """The text of a condition.

    Args:
        condition: What `col(name).matches(values)`, `on(day)` and the like return.
        name_of: Returns the name of a value that is not known yet, and None for other values. The text has the name
            in its place, and `read(text, names)` the value.

    Raises:
        ValueError: A value is neither a string, a number nor a date.
    """
    names: dict[str, object] = {}

    def plain(value: object) -> object:
        if (name := name_of(value)) is not None:
            names[name] = value
            return _Name(name)
        return _plain(value, plain)

    text = repr(_with_values(condition, plain))
    try:
        read(text, names)
    except ValueError:
        raise ValueError(f"a value is neither a string, a number nor a date: {cut(text)}") from None
    return text


def plain_of(value: object) -> object:
    """A value without the classes of other libraries: an array, a Series or a set is a list."""
    return _plain(value, plain_of)


def comparisons(condition: Given) -> Iterator[Comparison]:
    """Each comparison of a condition."""
    if isinstance(condition, Comparison):
        yield condition
    for each in condition._given():  # noqa: SLF001 - its base class is of this package
        if isinstance(each, Given):
            yield from comparisons(each)


class _Name:
    """The name of a value: its `repr` has no quotes."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


def _with_values(condition: Given, change: Callable[[object], object]) -> Given:
    """The condition with other values."""
    given = condition._given()  # noqa: SLF001 - its base class is of this package
    return type(condition)(*(_with_values(each, change) if isinstance(each, Given) else change(each) for each in given))


def _plain(value: object, plain: Callable[[object], object]) -> object:
    """A value as a literal or date, its items by `plain`."""
    if value is None or isinstance(value, bool | bytes):
        return value
    # Of enumerations too, and of numpy's subclasses.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int | float):
        return int(value) if isinstance(value, int) else float(value)
    if isinstance(value, datetime):
        return _plain_time(value)
    if isinstance(value, date):
        return date(value.year, value.month, value.day)
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((plain(each) for each in value), key=repr)
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if isinstance(value, Iterable) and getattr(value, "ndim", 1):
        return [plain(each) for each in value]
    return value if kind is None else _of_numpy(value, kind)


def _plain_time(value: datetime) -> datetime:
    """A time without the classes of pandas and pendulum, whose `repr` is not that of Python."""
    if type(value) is datetime and type(value.tzinfo) in (type(None), timezone, ZoneInfo):
        return value
    offset = value.utcoffset()
    return datetime.combine(value.date(), value.time(), None if offset is None else timezone(offset))


def _of_numpy(value: Any, kind: str) -> object:
    """The value of numpy's scalar."""
    if kind != "M":
        return value.item()
    text = str(value)
    return datetime.fromisoformat(text) if "T" in text else date.fromisoformat(text)
