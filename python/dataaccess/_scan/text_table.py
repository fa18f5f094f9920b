"""Tables and names as text."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataaccess.types import Row

# Columns and characters of a cell that a grid shows, and names that a repr shows.
_MAX_COLUMNS = 12
_MAX_WIDTH = 32
_MAX_NAMES = 12


def counted(number: int, noun: str) -> str:
    """A number and its noun: `1 row`, `2,000 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shorten(names: list[str]) -> str:
    """The first names and the number of the others."""
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f", and {more} more" if more > 0 else "")


def grid(schema: dict[str, str], rows: list[Row], total: int) -> str:
    """The rows under the names and types of their columns, and the number of rows and columns that are left out."""
    names = list(schema)[:_MAX_COLUMNS]
    lines = [[cell(name) for name in names], [schema[name] for name in names]]
    lines += [[cell(row[name]) for name in names] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(2, ["-" * width for width in widths])
    more = [counted(total - len(rows), "more row")] if total > len(rows) else []
    more += [counted(len(schema) - len(names), "more column")] if len(schema) > len(names) else []
    return "\n".join([*(_line(line, widths) for line in lines), *([f"… {', '.join(more)}"] if more else [])])


def _line(cells: Iterable[str], widths: Iterable[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def cell(value: object) -> str:
    """A value in one short line. What a terminal could act on is escaped: a value may hold control characters."""
    shown = "" if value is None else str(value)
    text = "".join(character if character.isprintable() else repr(character)[1:-1] for character in shown)
    return text if len(text) <= _MAX_WIDTH else text[: _MAX_WIDTH - 1] + "…"
