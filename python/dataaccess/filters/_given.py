"""The base of conditions: what they were made of, which cannot be changed.

`dataclass` would do the same. But nothing else of a search needs it, and importing it takes two fifths of the time
until a new process has its first record.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, NoReturn


class Given:
    """A value that cannot be changed. Equality, copies and pickles follow the arguments that it was made with."""

    __slots__: tuple[str, ...] = ()

    def __init__(self, *given: object) -> None:
        """Takes a value for each of the slots."""
        for name, value in zip(self.__slots__, given, strict=True):
            object.__setattr__(self, name, value)

    def _given(self) -> tuple[Any, ...]:
        """The arguments of the class that make an equal one. The core reads them too."""
        raise NotImplementedError

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{self!r} cannot be changed: make another one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{self!r} cannot be changed: make another one")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._given() == other._given()

    def __hash__(self) -> int:
        return hash(self._given())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._given()
