"""Grids of text: each column as wide as its widest cell, or all of them as wide as a terminal."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from dataaccess._display.column_types import COLUMN_TYPES
from dataaccess._display.text import MAX_WIDTH, cell, cut, width_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

_GAP = "  "
# Terminal columns: no cell is truncated below the least, and only cells of the first column are wider than the most.
_LEAST = 16
_MOST = 48


class Column(NamedTuple):
    """A column of a grid: its name and other lines above the rows, its values, and how these are shown."""

    heads: Sequence[str]
    cells: Sequence[str]
    # Aligned to the right.
    is_number: bool = False
    # Never truncated: a part of a number is another number.
    is_whole: bool = False


class Grid(NamedTuple):
    """The lines of a grid, and the names of columns that do not fit."""

    lines: list[str]
    left_out: list[str]


def columns_of(
    schema: Mapping[str, str], rows: Sequence[Mapping[str, Any]], *, has_types: bool = True, most: int = MAX_WIDTH
) -> list[Column]:
    """The columns of rows, with their types below their names, and cells of at most `most` terminal columns."""
    columns = []
    for name, kind in schema.items():
        heads = [cell(name, most), kind] if has_types else [cell(name, most)]
        cells = [value_text(row[name], most) for row in rows]
        columns.append(Column(heads, cells, COLUMN_TYPES[kind].is_number, kind not in ("string", "json")))
    return columns


def value_text(value: object, most: int = MAX_WIDTH) -> str:
    """A value of a row in one line."""
    if isinstance(value, datetime):
        is_short = value.microsecond and value.microsecond % 1000 == 0
        return value.isoformat(sep=" ", timespec="milliseconds" if is_short else "auto")
    return cell(value, most)


def ruled(columns: Sequence[Column]) -> Grid:
    """The columns in their natural widths, with a line below their heads."""
    widths = [_natural(column) for column in columns]
    shown = _grid(columns, widths)
    shown.lines.insert(len(columns[0].heads), _GAP.join("-" * width for width in widths))
    return shown


def fitted(columns: Sequence[Column], width: int, style: Callable[[str], str] = str) -> Grid:
    """The columns in the width of a terminal, with styled heads: drops the last, then truncates the widest."""
    widths = [min(_natural(column), _MOST if number else width) for number, column in enumerate(columns)]
    least = [
        natural if column.is_whole or number == 0 else min(natural, _LEAST)
        for number, (column, natural) in enumerate(zip(columns, widths, strict=True))
    ]
    while len(widths) > 1 and _total(least[: len(widths)]) > width:
        widths.pop()
    while _total(widths) > width:
        cuttable = [number for number, natural in enumerate(widths) if natural > least[number]]
        if not cuttable:
            break
        widths[max(cuttable, key=widths.__getitem__)] -= 1
    return _grid(columns, widths, style)


def _grid(columns: Sequence[Column], widths: list[int], style: Callable[[str], str] = str) -> Grid:
    padded = [
        [_padded(text, width, to_the_right=column.is_number) for text in (*column.heads, *column.cells)]
        for column, width in zip(columns, widths, strict=False)
    ]
    lines = [_GAP.join(pieces).rstrip() for pieces in zip(*padded, strict=True)]
    heads = len(columns[0].heads)
    return Grid([*map(style, lines[:heads]), *lines[heads:]], [column.heads[0] for column in columns[len(widths) :]])


def _natural(column: Column) -> int:
    return max(map(width_of, (*column.heads, *column.cells)))


def _total(widths: list[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _padded(text: str, width: int, *, to_the_right: bool) -> str:
    shown = cut(text, width)
    space = " " * (width - width_of(shown))
    return space + shown if to_the_right else shown + space
