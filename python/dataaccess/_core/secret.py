"""Values that nothing shows: no repr, and no tool that walks through the containers of a frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    # As the argument is annotated: methods put `StorageOptions` in its place.
    _Annotated: TypeAlias = dict[str, str]
else:
    _Annotated = object


class Secret:
    """Holds what may be a secret."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        """Takes a value of any type."""
        self.value = value

    def __repr__(self) -> str:
        return "(hidden)"


class StorageOptions(_Annotated):
    """`storage_options=`. It is no dict: tools that show the locals of a traceback walk through dicts."""

    __slots__ = ("options",)

    def __init__(self, given: object) -> None:
        """Takes the argument. The core reads `options` once `checked` has checked it."""
        self.options: dict[str, str] = given  # type: ignore[assignment]

    def __repr__(self) -> str:
        given: Any = self.options
        return f"StorageOptions({', '.join(map(repr, given if isinstance(given, Mapping) else ()))})"

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle has no options: `checked` refuses what it becomes."""
        return StorageOptions, (None,)


def hidden(given: object) -> StorageOptions | None:
    """The unchecked options; None if there are none."""
    return given if given is None or isinstance(given, StorageOptions) else StorageOptions(given)


def checked(options: StorageOptions | None) -> StorageOptions | None:
    """The options for the core. A `TypeError` if they are no mapping of strings."""
    if options is not None:
        if problem := _problem_of(options.options):
            raise TypeError(f"storage_options must be a dict of strings, {problem}")
        options.options = dict(options.options)
    return options


def _problem_of(given: object) -> str | None:
    """What is wrong with options. No frame of the error has a value of them."""
    if not isinstance(given, Mapping):
        return f"not {type(given).__name__}"
    for name in given:
        if not isinstance(name, str) or not isinstance(given[name], str):
            return f"and {name!r} has a value of type {type(given[name]).__name__}"
    return None
