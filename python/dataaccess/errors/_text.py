"""Messages that name arguments: `timeout=5` in Python, `--timeout 5` in the command.

In a message, the spelling in Python, the name and the value of an argument stand between marks, which are those of the
core (`src/error/argument.rs`). Exceptions and warnings hold a `Text`, which is a string without marks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Self

# Unicode reserves these code points for use inside a program.
_OPEN, _NEXT, _CLOSE = "\ufdd0", "\ufdd1", "\ufdd2"


class Argument:
    """An argument that a message names. Its string is the spelling in Python.

    Attributes:
        name: Its name, such as `timeout`.
        value: The value that the message gives it, as text; None if it gives none.
        python: Its spelling in Python, such as `timeout=5`.
    """

    __slots__ = ("name", "python", "value")

    name: str
    python: str
    value: str | None

    def __init__(self, python: str, name: str = "", value: str | None = None) -> None:
        """Takes what stands between two marks."""
        self.python = python
        self.name = name
        self.value = value

    def __str__(self) -> str:
        return self.python

    def __repr__(self) -> str:
        return f"Argument({self.python})"


class Text(str):
    """A message as Python spells it, which can be spelled in another way."""

    __slots__ = ("marked",)

    marked: str

    def __new__(cls, marked: str) -> Self:
        """Takes a message with marks."""
        text = super().__new__(cls, "".join(map(str, _pieces(marked))))
        text.marked = marked
        return text

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the marks."""
        return type(self), (self.marked,)


def argument(name: str, value: object = None) -> str:
    """Names an argument in a message: `timeout=`, or with a value `timeout=5`."""
    if value is None:
        return f"{_OPEN}{name}={_NEXT}{name}{_CLOSE}"
    return f"{_OPEN}{name}={value!r}{_NEXT}{name}{_NEXT}{value}{_CLOSE}"


def for_programs(phrase: str) -> str:
    """A phrase about what only a program can do: other front ends leave it out."""
    return f"{_OPEN}{phrase}{_NEXT}{_CLOSE}"


def text_of(message: str) -> str:
    """A message for users: without marks, which a `Text` keeps."""
    return Text(message) if _OPEN in message else message


def texts_of(field: Any) -> Any:
    """The value of a field, in which messages are for users."""
    if isinstance(field, list):
        return [text_of(each) if isinstance(each, str) else each for each in field]
    return text_of(field) if isinstance(field, str) else field


def marked(text: str) -> str:
    """A message with its marks, for a part of another message."""
    return getattr(text, "marked", text)


def arguments_in(text: str) -> Iterator[Argument]:
    """The arguments that a message names."""
    return (piece for piece in _pieces(marked(text)) if isinstance(piece, Argument) and piece.name)


def spelled(text: str, spell: Callable[[Argument], str | None]) -> str:
    """A message with each argument as `spell` spells it; as Python does where that is None."""

    def spelling(piece: str | Argument) -> str:
        if isinstance(piece, str):
            return piece
        return (spell(piece) or piece.python) if piece.name else ""

    return "".join(map(spelling, _pieces(marked(text))))


def _pieces(text: str) -> Iterator[str | Argument]:
    first, *rest = text.split(_OPEN)
    yield first
    for piece in rest:
        inner, _, after = piece.partition(_CLOSE)
        yield Argument(*inner.split(_NEXT, 2))
        yield after
