"""Tables of settings, statistics and attributes, and the first rows of a result with its columns and their types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._display import html
from dataaccess._display.column_types import COLUMN_TYPES
from dataaccess._display.grid import Column, columns_of, ruled
from dataaccess._display.text import MAX_COLUMNS, cell, counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# Rows that are shown.
HEAD = 10


def listing_text(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """The rows for a terminal."""
    columns = zip(heads, zip(*rows, strict=True), strict=True)
    return "\n".join(ruled([Column([head], list(map(cell, values))) for head, values in columns]).lines)


def listing_html(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]], note: str = "") -> str:
    """The rows for a notebook."""
    numeric = [all(type(row[index]) is int for row in rows) for index in range(len(heads))]
    return html.block(html.title(title, note), html.table(heads, [], rows, numeric))


def rows_text(schema: dict[str, str], rows: list[dict[str, Any]], total: int, figures: str) -> str:
    """The first rows for a terminal, with the figures of their scan."""
    lines = ruled(columns_of(dict(list(schema.items())[:MAX_COLUMNS]), rows)).lines
    return "\n".join([*lines, *_summary(schema, rows, total, figures)])


def rows_html(schema: dict[str, str], rows: list[dict[str, Any]], total: int, figures: str) -> str:
    """The first rows for a notebook, with the figures of their scan."""
    names = list(schema)[:MAX_COLUMNS]
    types = [schema[name] for name in names]
    cells = ([row[name] for name in names] for row in rows)
    head = html.table(names, types, cells, [COLUMN_TYPES[kind].is_number for kind in types])
    return html.block(head, html.line(html.Mark(": ".join(_summary(schema, rows, total, figures)), "dim")))


def _summary(schema: dict[str, str], rows: list[dict[str, Any]], total: int, figures: str) -> list[str]:
    """How much is not shown, if anything, and how much there is."""
    missing = {"more row": total - len(rows), "more column": len(schema) - MAX_COLUMNS}
    more = ", ".join(counted(number, noun) for noun, number in missing.items() if number > 0)
    size = f"{counted(total, 'row')}, {counted(len(schema), 'column')}"
    return [*([f"… {more}"] if more else []), f"{size}; {figures}" if figures else size]
