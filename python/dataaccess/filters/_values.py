"""The values of a condition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timezone
from enum import Enum
from itertools import islice
from typing import Any, Protocol, TypeAlias

_MAX_VALUES = 1_000_000


class Scalar(Protocol):
    """A numpy scalar, such as `datetime64`."""

    def item(self) -> Any: ...


Time: TypeAlias = date | str | int | Scalar
"""A date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds."""

Value: TypeAlias = str | int | float | date | Scalar
"""One value to compare with."""

Values: TypeAlias = Value | Iterable[object]
"""One value or several: a list, a set, a Series, an array, any iterable."""


def snapshot(value: Any, several: Callable[[Iterable[Any]], Any] = list, levels: int = 8) -> Any:
    """Copies a value into plain Python objects: an iterator can be read only once, and a list could change.

    `several` makes the collection of several values. A set is sorted, as its order differs between processes. What no
    request can hold stays as it is: the check reports it.
    """
    if type(value) in _PLAIN or not levels:
        return value
    for known, plain in _SUBCLASSES:
        if isinstance(value, known):
            return plain(value)
    if isinstance(value, Mapping):
        return {name: snapshot(each, several, levels - 1) for name, each in value.items()}
    # Of numpy and pandas. The list of an array of times has numbers without a unit.
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind == "m":
        return value
    if kind == "M" and not value.ndim:
        return _plain_time64(value)
    for method in ("to_list", "tolist", "to_pylist") if kind != "M" else ():
        if hasattr(value, method):
            found = getattr(value, method)()
            return value if type(found) is type(value) else snapshot(found, several, levels)
    values = _elements(value)
    if values is None:
        return value
    return several(each if type(each) in _PLAIN else snapshot(each, several, levels - 1) for each in values)


def _elements(value: Any) -> list[Any] | None:
    """The values of an iterable; None of what is one value."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    # A table would be read as the names of its columns.
    if isinstance(value, bytes | bytearray | type) or hasattr(type(value), "columns"):
        return None
    try:
        values = iter(value)
    except TypeError:
        return None
    read = list(islice(values, _MAX_VALUES + 1))
    if len(read) > _MAX_VALUES:
        raise ValueError(f"more than {_MAX_VALUES:,} values: send them in several requests")
    return read


def _plain_time64(value: Any) -> Any:
    """A datetime64 as a date or datetime; NaT, a year or a month as it is."""
    text = str(value)
    try:
        return datetime.fromisoformat(text) if "T" in text else date.fromisoformat(text)
    except ValueError:
        return value


def _plain_datetime(value: datetime) -> datetime:
    """A datetime without the classes of pandas, pendulum and pytz."""
    zone: Any = value.tzinfo
    if str(value) == "NaT":
        return value
    # Without an import of `zoneinfo`, which takes milliseconds.
    has_name = type(zone).__module__ == "zoneinfo" and zone.key
    if zone is not None and type(zone) is not timezone and not has_name:
        offset = value.utcoffset()
        zone = None if offset is None else timezone(offset)
    return datetime.combine(value.date(), value.time(), zone)


# Most values are of these types.
_PLAIN = (str, int, float, bool, date, type(None))
# Subclasses of numpy and pandas, and members of enumerations, have another `repr` than the values.
_SUBCLASSES: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (int, int),
    (float, float),
    (datetime, _plain_datetime),
    (date, lambda day: date(day.year, day.month, day.day)),
    (Enum, lambda member: snapshot(member.value)),
)
