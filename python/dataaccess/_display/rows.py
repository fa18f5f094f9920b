"""The first rows of a table or a batch under the names and types of its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._display import html
from dataaccess._display.column_types import COLUMN_TYPES
from dataaccess._display.grid import columns_of, ruled
from dataaccess._display.text import MAX_COLUMNS, counted, left_out

if TYPE_CHECKING:
    from typing import Any

# Rows that are shown.
HEAD = 10


def rows_text(schema: dict[str, str], rows: list[dict[str, Any]], total: int, figures: str) -> str:
    """The rows for a terminal, with what is known of where they come from."""
    shown = {name: schema[name] for name in list(schema)[:MAX_COLUMNS]}
    more = left_out(total - len(rows), len(schema) - len(shown))
    lines = [*ruled(columns_of(shown, rows)).lines, *([f"… {more}"] if more else [])]
    return "\n".join([*lines, _summary(schema, total, figures)])


def rows_html(schema: dict[str, str], rows: list[dict[str, Any]], total: int, figures: str) -> str:
    """The rows for a notebook, with what is known of where they come from."""
    names = list(schema)[:MAX_COLUMNS]
    head = html.table(
        names,
        [schema[name] for name in names],
        ([row[name] for name in names] for row in rows),
        [COLUMN_TYPES[schema[name]].is_number for name in names],
    )
    more = left_out(total - len(rows), len(schema) - len(names))
    more = f"… {more}: " if more else ""
    text = _summary(schema, total, figures)
    return html.block(head, html.line(html.Mark(f"{more}{text}", "dim")))


def _summary(schema: dict[str, str], total: int, figures: str) -> str:
    return "; ".join(filter(None, [f"{counted(total, 'row')}, {counted(len(schema), 'column')}", figures]))
