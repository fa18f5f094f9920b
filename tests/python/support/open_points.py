"""The table of open points in docs/service.md."""

from __future__ import annotations

from pathlib import Path

_PAGE = (Path(__file__).parents[3] / "docs" / "service.md").read_text(encoding="utf-8")


def _rows() -> list[list[str]]:
    table = _PAGE.split("<!-- open points -->")[1]
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in table.splitlines() if line][2:]


# Each name is behind its anchor, to which other pages link.
TABLE = {row[0].rpartition("`")[2]: row[-1] for row in _rows()}
"""Each open point with the values that its switch takes; empty if it has no switch."""
SWITCHES = {name for name, takes in TABLE.items() if takes}
"""The open points that are switches."""
