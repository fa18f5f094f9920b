"""Python operators that conditions refuse, with what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NoReturn


class NotCompared:
    """Refuses the operators that Python evaluates at once, and says what to write instead."""

    __slots__ = ()

    def _instead_of(self, operator: str) -> str:
        """Says what to write instead of an operator."""
        raise NotImplementedError

    # Not NoReturn: type checkers would skip the code after `if`, `and` and `or`.
    def __bool__(self) -> bool:
        raise TypeError(self._instead_of("and, or, not, if"))

    def __invert__(self) -> NoReturn:
        raise TypeError(self._instead_of("~"))


class NotOrdered(NotCompared):
    """Also refuses comparison operators: `==` would otherwise be false without a word."""

    __slots__ = ()

    # Equality is refused, so sets and dicts compare these by identity.
    def __hash__(self) -> int:
        return object.__hash__(self)

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError(self._instead_of("=="))

    def __ne__(self, other: object) -> NoReturn:
        raise TypeError(self._instead_of("!="))

    def __lt__(self, other: object) -> NoReturn:
        raise TypeError(self._instead_of("<"))

    def __le__(self, other: object) -> NoReturn:
        raise TypeError(self._instead_of("<="))

    def __gt__(self, other: object) -> NoReturn:
        raise TypeError(self._instead_of(">"))

    def __ge__(self, other: object) -> NoReturn:
        raise TypeError(self._instead_of(">="))

    def __contains__(self, value: object) -> NoReturn:
        raise TypeError(self._instead_of("in"))
