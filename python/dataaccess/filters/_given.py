"""The base of conditions: what they were made of, which cannot be changed.

`dataclass` would do the same. But nothing else of a search needs it, and importing it takes two fifths of the time
until a new process has its first record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar, NoReturn, Self


class Given:
    """A value that cannot be changed. Equality, copies and pickles follow the arguments that it was made with."""

    __slots__: tuple[str, ...] = ()

    # Of what `serialize` returns, for Airflow.
    __version__: ClassVar[int] = 1

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

    def _changed(self, change: Callable[[object], object]) -> Self:
        """The same condition of other values."""
        return type(self)(
            *(each._changed(change) if isinstance(each, Given) else change(each) for each in self._given())
        )

    def serialize(self) -> str:
        """Returns the condition as text, which `parse` reads. Airflow calls it for a condition that goes to XCom.

        Raises:
            ValueError: A value is neither a string, a number nor a date.

        Examples:
            >>> import dataaccess as da
            >>> da.on("2024-01-15").serialize()
            "on('2024-01-15')"
        """
        # The package loads the parser at its first use.
        from dataaccess import filters
        from dataaccess.filters._plain import plain_of

        text = repr(self._changed(plain_of))
        try:
            filters.condition_of(text)
        except ValueError as error:
            raise ValueError(f"{error}; values of a condition in XCom are strings, numbers and dates") from None
        return text

    @classmethod
    def deserialize(cls, data: str, version: int) -> Self:
        """Returns the condition of a text. Airflow calls it for a condition that comes from XCom.

        Args:
            data: What `serialize` returned.
            version: The version of that text: 1.

        Raises:
            ValueError: A newer version of this package wrote the text, or it is of another kind of condition.

        Examples:
            >>> import dataaccess as da
            >>> da.filters.Comparison.deserialize("on('2024-01-15')", 1)
            on('2024-01-15')
        """
        from dataaccess import filters

        if version > cls.__version__:
            raise ValueError(f"{data!r} was written by a newer version of dataaccess: install it here too")
        if not isinstance(found := filters.condition_of(data), cls):
            raise ValueError(f"{data!r} is of the class {type(found).__name__}, not {cls.__name__}")
        return found
