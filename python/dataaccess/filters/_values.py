"""The values of a condition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, Protocol, TypeAlias
else:
    # At runtime a protocol is only a part of a union, and importing `typing` takes longer than a request.
    Protocol = object

_MAX_VALUES = 1_000_000
# Nested lists and dicts: raw filters have six levels.
_MAX_LEVELS = 8


class Scalar(Protocol):
    """A numpy scalar, such as `datetime64`."""

    def item(self) -> Any: ...


Time: TypeAlias = date | str | int | Scalar
"""A date, a datetime, an ISO string, a `datetime64` or integer Unix milliseconds."""

Value: TypeAlias = str | int | float | date | Scalar
"""One value to compare with."""

Values: TypeAlias = Value | Iterable[object]
"""One value or several: a list, a set, a Series, an array, any iterable."""


def snapshot(values: object, levels: int = _MAX_LEVELS) -> object:
    """A copy of the values: an iterator can be read only once, and a list or dict could change."""
    if isinstance(values, list) and levels:
        return [snapshot(value, levels - 1) if isinstance(value, (list, dict)) else value for value in values]
    if isinstance(values, dict) and levels:
        return {name: snapshot(value, levels - 1) for name, value in values.items()}
    if isinstance(values, set):
        return values.copy()
    if isinstance(values, Iterator):
        read = list(islice(values, _MAX_VALUES + 1))
        if len(read) > _MAX_VALUES:
            raise ValueError(f"more than {_MAX_VALUES:,} values: send them in several requests")
        return read
    return values
