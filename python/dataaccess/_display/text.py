"""Cells, names, sizes and durations as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Columns and characters of a cell that a grid shows, and names that a repr shows.
MAX_COLUMNS = 12
MAX_WIDTH = 32
_MAX_NAMES = 12
# Characters that are shown for each column of a terminal, as marks above and below others take none.
_MARKS = 4
# Characters of a value of JSON, and of a string in it.
_MAX_LITERAL = 20_000
_MAX_STRING = 1_000

_MINUTE = 60


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number and its noun: `1 row`, `2,000 rows`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def shorten(names: list[str]) -> str:
    """The first names and the number of the others."""
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
    if seconds < _MINUTE:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), _MINUTE)
    hours, minutes_left = divmod(minutes, _MINUTE)
    return f"{hours} h {minutes_left} min" if hours else f"{minutes} min {rest} s"


def cell(value: object, width: int = MAX_WIDTH) -> str:
    """A value in one short line. What a terminal could act on is escaped: a value may hold control characters."""
    # One character more shows that there are more. All of a long value would take long to escape.
    most = _MARKS * width + 1
    text = literal(value, most) if isinstance(value, dict | list) else "" if value is None else str(value)
    shown = text[:most]
    return cut("".join(character if character.isprintable() else repr(character)[1:-1] for character in shown), width)


def cut(text: str, width: int) -> str:
    """The text in so many columns of a terminal, with `…` in place of what does not fit, or has too many marks."""
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
    """A value of JSON as Python writes it, with `…` in place of what is too long."""
    pieces, length = [], 0
    for piece in _pieces(value):
        pieces.append(piece)
        length += len(piece)
        if length > most:
            pieces.append("…")
            break
    return "".join(pieces)


def _pieces(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield "{"
        for number, (name, member) in enumerate(value.items()):
            yield f"{', ' if number else ''}{_string(name)}: "
            yield from _pieces(member)
        yield "}"
    elif isinstance(value, list):
        yield "["
        for number, element in enumerate(value):
            if number:
                yield ", "
            yield from _pieces(element)
        yield "]"
    else:
        yield _string(value)


def _string(value: object) -> str:
    if isinstance(value, str) and len(value) > _MAX_STRING:
        return f"{value[:_MAX_STRING]!r}…"
    return repr(value)


def width_of(text: str) -> int:
    """Columns of a terminal that a text takes: wide characters take two."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(each) else 1 + (east_asian_width(each) in "WF") for each in text)


def left_out(rows: int, columns: int) -> str:
    """How much of a table is not shown; empty if all of it is."""
    more = [counted(rows, "more row")] if rows > 0 else []
    more += [counted(columns, "more column")] if columns > 0 else []
    return ", ".join(more)


def open_text(days: list[str]) -> str:
    """That days were not over, and what follows."""
    were, them = ("day was", "it") if len(days) == 1 else ("days were", "them")
    return f"{len(days)} {were} not over: {shorten(days)}; the next run requests {them} again"
