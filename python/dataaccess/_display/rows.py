"""The first rows of a table or a batch under the names and types of its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._display import html
from dataaccess._display.grid import columns_of, ruled
from dataaccess._display.text import MAX_COLUMNS, counted, duration, left_out, size

if TYPE_CHECKING:
    from typing import Any

    from dataaccess.reports import ScanStats

# Rows that are shown.
HEAD = 10
_NUMBERS = ("int64", "float64")


def rows_text(schema: dict[str, str], rows: list[dict[str, Any]], total: int, stats: ScanStats | None) -> str:
    """The rows for a terminal, with the figures of the scan that they come from, if they are all of its rows."""
    shown = {name: schema[name] for name in list(schema)[:MAX_COLUMNS]}
    more = left_out(total - len(rows), len(schema) - len(shown))
    lines = [*ruled(columns_of(shown, rows)).lines, *([f"… {more}"] if more else [])]
    return "\n".join([*lines, "; ".join([_shape(schema, total), *_figures(total, stats)])])


def rows_html(schema: dict[str, str], rows: list[dict[str, Any]], total: int, stats: ScanStats | None) -> str:
    """The rows for a notebook, with the figures of the scan that they come from, if they are all of its rows."""
    names = list(schema)[:MAX_COLUMNS]
    head = html.table(
        names,
        [schema[name] for name in names],
        ([row[name] for name in names] for row in rows),
        [schema[name] in _NUMBERS for name in names],
    )
    more = left_out(total - len(rows), len(schema) - len(names))
    more = f"… {more}: " if more else ""
    text = "; ".join([_shape(schema, total), *_figures(total, stats)])
    return html.block(head, html.line(html.Mark(f"{more}{text}", "dim")))


def _shape(schema: dict[str, str], total: int) -> str:
    return f"{counted(total, 'row')}, {counted(len(schema), 'column')}"


def _figures(total: int, stats: ScanStats | None) -> list[str]:
    """Size, time and requests of the scan, if the rows are all that it read."""
    if stats is None or not stats.bytes or stats.rows != total:
        return []
    retries = f", {counted(stats.retries, 'retry', 'retries')}" if stats.retries else ""
    return [f"{size(stats.bytes)} in {duration(stats.seconds)}, {counted(stats.requests, 'request')}{retries}"]
