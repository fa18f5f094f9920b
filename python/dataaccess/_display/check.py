"""What a check of a client found, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._display import html
from dataaccess._display.text import cell

if TYPE_CHECKING:
    from dataaccess.reports import ClientCheck

_KINDS = {True: "good", False: "bad", None: "doubt"}


def check_html(check: ClientCheck) -> str:
    """The findings, those of `print(check)`, with what is wrong marked."""
    kinds = {
        "address": _KINDS[check.is_reachable],
        "token": _KINDS[any(check.scopes.values()) or (None if None in check.scopes.values() else False)],
        "scopes": _KINDS[all(check.scopes.values()) or (None if any(check.scopes.values()) else False)],
        "time zone": _KINDS[check.is_day_right],
    }
    lines = (line.partition(":") for line in str(check).splitlines())
    rows = [(name, html.Mark(cell(text.strip(), 1_000), f"{kinds.get(name, 'bad')} wide")) for name, _, text in lines]
    return html.block(html.title("Check of a client", "ok" if check.is_ok else "not ok"), html.facts(rows))
