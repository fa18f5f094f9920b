"""Cells, names, sizes and durations as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Columns and characters of a cell that a grid shows, and names that a repr shows.
MAX_COLUMNS = 12
MAX_WIDTH = 32
_MAX_NAMES = 12
# Characters for each column of a terminal: combining marks take none.
_MARKS = 4
# Characters of a JSON value, and of a string in it.
_MAX_LITERAL = 20_000
_MAX_STRING = 1_000


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number and its noun: `1 row`, `2,000 rows`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def shorten(names: list[str]) -> str:
    """The first names and the number of the rest."""
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f", and {more} more" if more > 0 else "")


def size(number: float) -> str:
    """A number of bytes: `512 B`, `1.2 MB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if number < 999.5:
            return f"{number:.0f} {unit}" if unit == "B" or number >= 99.5 else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:,.1f} TB"


def duration(seconds: float) -> str:
    """A time span: `0.25 s`, `12.3 s`, `5 min 0 s`, `2 h 5 min`."""
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    return f"{hours} h {minutes_left} min" if hours else f"{minutes} min {rest} s"


def python_escape(character: str) -> str:
    """The escape of a character in a string of Python."""
    return repr(character)[1:-1]


def escaped(text: str, escape: Callable[[str], str] = python_escape) -> str:
    """Escapes what breaks a line, controls a terminal, changes the direction of text, or is invisible."""
    if text.isprintable():
        return text
    from unicodedata import category

    # Blanks of other scripts are not printable, but harmless.
    return "".join(each if each.isprintable() or category(each) == "Zs" else escape(each) for each in text)


def cell(value: object, width: int = MAX_WIDTH) -> str:
    """A value in one line of `width` terminal columns."""
    # One character more shows that there are more. All of a long value would take long to escape.
    most = _MARKS * width + 1
    text = literal(value, most) if isinstance(value, dict | list) else "" if value is None else str(value)
    return cut(escaped(text[:most]), width)


def cut(text: str, width: int) -> str:
    """Truncates text to `width` terminal columns."""
    most = _MARKS * width
    if len(text) <= most and width_of(text) <= width:
        return text
    used = 0
    for end, character in enumerate(text[:most]):
        used += width_of(character)
        if used >= width:
            return f"{text[:end]}…"
    return f"{text[:most]}…"


def literal(value: object, most: int = _MAX_LITERAL) -> str:
    """The `repr` of a JSON value, truncated."""
    text = ""
    for piece in _pieces(value):
        text += piece
        if len(text) > most:
            return f"{text}…"
    return text


def _pieces(value: object) -> Iterator[str]:
    if isinstance(value, dict | list):
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        yield opening
        for number, element in enumerate(value):
            yield ", " if number else ""
            if isinstance(value, dict):
                yield from _pieces(element)
                yield ": "
            yield from _pieces(value[element] if isinstance(value, dict) else element)
        yield closing
    elif isinstance(value, str) and len(value) > _MAX_STRING:
        yield f"{value[:_MAX_STRING]!r}…"
    else:
        yield repr(value)


def width_of(text: str) -> int:
    """Terminal columns of a text: wide characters take two."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(each) else 1 + (east_asian_width(each) in "WF") for each in text)


def open_text(days: list[str]) -> str:
    """Says that days were not over."""
    were, them = ("day was", "it") if len(days) == 1 else ("days were", "them")
    return f"{len(days)} {were} not over: {shorten(days)}; the next run requests {them}"
