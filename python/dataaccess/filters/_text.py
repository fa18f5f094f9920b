"""A condition as text that `parse` reads, also with names for values that are not known yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess.filters._comparison import Comparison
from dataaccess.filters._given import Given
from dataaccess.filters._parse import cut, read
from dataaccess.filters._plain import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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

    def change(value: object) -> object:
        if (name := name_of(value)) is not None:
            names[name] = value
            return _Name(name)
        return plain(value, change)

    text = repr(condition._changed(change))
    try:
        read(text, names)
    except ValueError:
        raise ValueError(f"a value is neither a string, a number nor a date: {cut(text)}") from None
    return text


class _Name:
    """The name of a value: its `repr` has no quotes."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


def comparisons(condition: Given) -> Iterator[Comparison]:
    """Each comparison of a condition."""
    if isinstance(condition, Comparison):
        yield condition
    for each in condition._given():
        if isinstance(each, Given):
            yield from comparisons(each)
