"""Tables as wide as the terminal, for people."""

from __future__ import annotations

import shutil
import unicodedata
from datetime import datetime
from typing import TYPE_CHECKING, Any

from dataaccess.cli.colors import style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NUMBERS = ("int64", "float64")
_GAP = "  "
# No column is cut below this, and no cell is wider than that.
_LEAST = 6
_MOST = 48


def grid(schema: Mapping[str, str], rows: Sequence[Mapping[str, Any]], total: int, noun: str = "") -> str:
    """Rows under the names of their columns; below them how many there are."""
    width = shutil.get_terminal_size().columns
    names = list(schema)
    cells = {name: [text(name), *(text(row[name]) for row in rows)] for name in names}
    natural = [min(max(map(columns_of, cells[name])), _MOST) for name in names]
    widths = _fitting(natural, width)
    shown = names[: len(widths)]
    lines = []
    for number in range(len(rows) + 1):
        pieces = [
            _padded(cells[name][number], size, to_the_right=schema[name] in _NUMBERS)
            for name, size in zip(shown, widths, strict=True)
        ]
        line = _GAP.join(pieces).rstrip()
        lines.append(style(line, bold=True) if number == 0 else line)
    counts = [f"{total:,} {noun or ('row' if total == 1 else 'rows')}"]
    if total > len(rows):
        counts.append(f"the first {len(rows)} are shown")
    if len(names) > len(shown):
        counts.append(f"columns that do not fit: {', '.join(map(text, names[len(shown) :]))}")
    hidden = total > len(rows) or len(names) > len(shown)
    advice = " (--json or --csv writes all)" if hidden else ""
    return "\n".join([*lines, style(f"{'; '.join(counts)}{advice}", dim=True)])


def text(value: object) -> str:
    """A value in one line. What a terminal could act on is escaped."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="milliseconds" if value.microsecond else "seconds")
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in str(value))


def columns_of(shown: str) -> int:
    """The columns of a terminal that a text takes."""
    if shown.isascii():
        return len(shown)
    wide = sum(unicodedata.east_asian_width(one) in "WF" for one in shown)
    return len(shown) + wide - sum(unicodedata.combining(one) > 0 for one in shown)


def _fitting(natural: list[int], width: int) -> list[int]:
    """The widths of the columns that fit: the widest are cut first, then the last are left out."""
    widths = list(natural)
    while len(widths) > 1 and sum(min(one, _LEAST) for one in widths) + len(_GAP) * (len(widths) - 1) > width:
        widths.pop()
    while sum(widths) + len(_GAP) * (len(widths) - 1) > width and max(widths) > _LEAST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _padded(shown: str, width: int, *, to_the_right: bool) -> str:
    if columns_of(shown) > width:
        while columns_of(shown) > width - 1:
            shown = shown[:-1]
        shown += "…"
    space = " " * (width - columns_of(shown))
    return space + shown if to_the_right else shown + space
