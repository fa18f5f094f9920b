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
# In a terminal no text is cut below this, and none but those of the first column is wider than that.
_LEAST = 16
_MOST = 48


class Column(NamedTuple):
    """A column of a grid.

    Attributes:
        heads: Its name, and more that stands above the rows.
        cells: Its values.
        is_number: Whether they end at the right.
        is_whole: Whether they are never cut, as a part of a number says something else.
    """

    heads: Sequence[str]
    cells: Sequence[str]
    is_number: bool = False
    is_whole: bool = False


class Grid(NamedTuple):
    """The lines of a grid, and the names of the columns that do not fit."""

    lines: list[str]
    left_out: list[str]


def columns_of(
    schema: Mapping[str, str], rows: Sequence[Mapping[str, Any]], *, has_types: bool = True, most: int = MAX_WIDTH
) -> list[Column]:
    """The columns of rows, with their types under their names. No cell is wider than `most`."""
    return [
        Column(
            [cell(name, most), kind] if has_types else [cell(name, most)],
            [value_text(row[name], most) for row in rows],
            COLUMN_TYPES[kind].is_number,
            COLUMN_TYPES[kind].is_whole,
        )
        for name, kind in schema.items()
    ]


def value_text(value: object, most: int = MAX_WIDTH) -> str:
    """A value of a row in one short line."""
    if isinstance(value, datetime):
        is_short = value.microsecond and value.microsecond % 1000 == 0
        return value.isoformat(sep=" ", timespec="milliseconds" if is_short else "auto")
    return cell(value, most)


def ruled(columns: Sequence[Column]) -> Grid:
    """The columns with a line under their heads, as wide as they are."""
    shown = _grid(columns, [_natural(column) for column in columns])
    shown.lines.insert(len(columns[0].heads), _GAP.join("-" * _natural(column) for column in columns))
    return shown


def fitted(columns: Sequence[Column], width: int, style: Callable[[str], str] = str) -> Grid:
    """The columns that fit into a width: the last are left out first, then the widest are cut. The first never is.

    Args:
        columns: The columns.
        width: Columns of the terminal.
        style: Applied to the heads.
    """
    natural = [min(_natural(column), _MOST if number else width) for number, column in enumerate(columns)]
    least = [
        size if column.is_whole or number == 0 else min(size, _LEAST)
        for number, (column, size) in enumerate(zip(columns, natural, strict=True))
    ]
    return _grid(columns, _widths(natural, least, width), style)


def _grid(columns: Sequence[Column], widths: list[int], style: Callable[[str], str] = str) -> Grid:
    shown = columns[: len(widths)]
    padded = [
        [_padded(text, width, to_the_right=column.is_number) for text in (*column.heads, *column.cells)]
        for column, width in zip(shown, widths, strict=True)
    ]
    lines = [_GAP.join(pieces).rstrip() for pieces in zip(*padded, strict=True)]
    heads = len(columns[0].heads)
    return Grid([*map(style, lines[:heads]), *lines[heads:]], [column.heads[0] for column in columns[len(widths) :]])


def _natural(column: Column) -> int:
    return max(map(width_of, (*column.heads, *column.cells)))


def _widths(natural: list[int], least: list[int], width: int) -> list[int]:
    """The widths of the columns that fit."""
    count = len(natural)
    while count > 1 and sum(least[:count]) + len(_GAP) * (count - 1) > width:
        count -= 1
    widths = natural[:count]
    while sum(widths) + len(_GAP) * (count - 1) > width:
        cuttable = [number for number in range(count) if widths[number] > least[number]]
        if not cuttable:
            break
        widths[max(cuttable, key=widths.__getitem__)] -= 1
    return widths


def _padded(text: str, width: int, *, to_the_right: bool) -> str:
    shown = cut(text, width)
    space = " " * (width - width_of(shown))
    return space + shown if to_the_right else shown + space
