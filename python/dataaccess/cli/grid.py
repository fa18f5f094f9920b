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
_WHOLE = (*_NUMBERS, "timestamp", "bool")
_GAP = "  "
# No string is cut below this, and none is wider than that. Numbers and times are never cut.
_LEAST = 12
_MOST = 48


def grid(schema: Mapping[str, str], rows: Sequence[Mapping[str, Any]], total: int, noun: str = "") -> str:
    """Rows under the names of their columns; below them how many there are."""
    width = shutil.get_terminal_size().columns
    names = list(schema)
    cells = {name: [text(name), *(text(row[name]) for row in rows)] for name in names}
    natural = [min(max(map(columns_of, cells[name])), _MOST) for name in names]
    least = [size if schema[name] in _WHOLE else min(size, _LEAST) for name, size in zip(names, natural, strict=True)]
    widths = _fitting(natural, least, width)
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


def _fitting(natural: list[int], least: list[int], width: int) -> list[int]:
    """The widths of the columns that fit: the last are left out first, then the widest are cut."""
    gaps = len(_GAP)
    count = len(natural)
    while count > 1 and sum(least[:count]) + gaps * (count - 1) > width:
        count -= 1
    widths = natural[:count]
    while sum(widths) + gaps * (count - 1) > width:
        cut = [size - small for size, small in zip(widths, least, strict=False)]
        if max(cut) <= 0:
            break
        # The widest of those that can be cut.
        widest = max((size, number) for number, size in enumerate(widths) if cut[number] > 0)[1]
        widths[widest] -= 1
    return widths


def _padded(shown: str, width: int, *, to_the_right: bool) -> str:
    if columns_of(shown) > width:
        while columns_of(shown) > width - 1:
            shown = shown[:-1]
        shown += "…"
    space = " " * (width - columns_of(shown))
    return space + shown if to_the_right else shown + space
