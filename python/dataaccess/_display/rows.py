"""The first rows of a table or a batch, with the names and types of its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._display import html
from dataaccess._display.column_types import COLUMN_TYPES
from dataaccess._display.grid import columns_of, ruled
from dataaccess._display.text import MAX_COLUMNS, counted

if TYPE_CHECKING:
    from typing import Any

# Rows that are shown.
HEAD = 10


def rows_text(schema: dict[str, str], rows: list[dict[str, Any]], total: int, figures: str) -> str:
    """The rows for a terminal, with the figures of their scan."""
    shown = dict(list(schema.items())[:MAX_COLUMNS])
    more = _left_out(schema, rows, total)
    lines = ruled(columns_of(shown, rows)).lines
    return "\n".join([*lines, *([f"… {more}"] if more else []), _summary(schema, total, figures)])


def rows_html(schema: dict[str, str], rows: list[dict[str, Any]], total: int, figures: str) -> str:
    """The rows for a notebook, with the figures of their scan."""
    names = list(schema)[:MAX_COLUMNS]
    types = [schema[name] for name in names]
    cells = ([row[name] for name in names] for row in rows)
    head = html.table(names, types, cells, [COLUMN_TYPES[kind].is_number for kind in types])
    more = _left_out(schema, rows, total)
    text = _summary(schema, total, figures)
    return html.block(head, html.line(html.Mark(f"… {more}: {text}" if more else text, "dim")))


def _left_out(schema: dict[str, str], rows: list[dict[str, Any]], total: int) -> str:
    """How much is not shown."""
    missing = {"more row": total - len(rows), "more column": len(schema) - MAX_COLUMNS}
    return ", ".join(counted(number, noun) for noun, number in missing.items() if number > 0)


def _summary(schema: dict[str, str], total: int, figures: str) -> str:
    size = f"{counted(total, 'row')}, {counted(len(schema), 'column')}"
    return f"{size}; {figures}" if figures else size
