"""The values of a condition without the classes of other libraries: Python literals and dates.

An array, a Series or a set is a list. A set has another order in each process, so its list is sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timezone
from typing import Any
from zoneinfo import ZoneInfo


def plain_of(value: object) -> object:
    """A value as a literal or date."""
    return plain(value, plain_of)


def plain(value: object, item: Callable[[object], object]) -> object:
    """A value as a literal or date, its items by `item`."""
    known = next((change for kind, change in _PLAIN if isinstance(value, kind)), None)
    if known is not None:
        return known(value)
    if isinstance(value, Mapping):
        return {name: item(each) for name, each in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((item(each) for each in value), key=repr)
    # An array without dimensions has no items.
    if isinstance(value, Iterable) and getattr(value, "ndim", True):
        return [item(each) for each in value]
    return _of_numpy(value)


def _plain_time(value: datetime) -> datetime:
    """A time without the classes of pandas and pendulum, whose `repr` is not that of Python."""
    if type(value) is datetime and type(value.tzinfo) in (type(None), timezone, ZoneInfo):
        return value
    if str(value) == "NaT":
        return value
    offset = value.utcoffset()
    return datetime.combine(value.date(), value.time(), None if offset is None else timezone(offset))


def _of_numpy(value: Any) -> object:
    """The value of numpy's scalar; any other as it is."""
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind == "M":
        text = str(value)
        return datetime.fromisoformat(text) if "T" in text else date.fromisoformat(text)
    return value if kind is None else value.item()


# Enumerations, and numpy's and pandas' subclasses, have another `repr` than the values.
_PLAIN: tuple[tuple[type, Callable[[Any], object]], ...] = (
    (str, str.__str__),
    (bool, bool),
    (int, int),
    (float, float),
    (bytes, bytes),
    (datetime, _plain_time),
    (date, lambda day: date(day.year, day.month, day.day)),
)
