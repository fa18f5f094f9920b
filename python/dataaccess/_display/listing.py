"""Tables of settings, statistics and attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._display import html
from dataaccess._display.grid import Column, ruled
from dataaccess._display.text import cell

if TYPE_CHECKING:
    from collections.abc import Sequence


def listing_text(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """The rows for a terminal."""
    columns = zip(heads, zip(*rows, strict=True), strict=True)
    return "\n".join(ruled([Column([head], list(map(cell, values))) for head, values in columns]).lines)


def listing_html(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]], note: str = "") -> str:
    """The rows for a notebook."""
    numeric = [all(type(row[index]) is int for row in rows) for index in range(len(heads))]
    return html.block(html.title(title, note), html.table(heads, [], rows, numeric))
