"""The plan of a scan, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dataaccess._display import html
from dataaccess._display.text import cell, counted, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

_CUT = "client cuts"


class Plan(NamedTuple):
    """What a scan will do.

    Attributes:
        item: The business object and its id.
        requests: Number of requests.
        zones: Time zones of days and times; None without times.
        filters: The conditions of the service.
        columns: Names and types.
        limit: Rows after which the client cuts.
        unchecked: What the client does not check in the rows, and why.
        open_days: Days that are not over.
        notes: What does not happen.
    """

    item: str
    requests: int
    zones: str | None
    filters: list[str]
    columns: list[tuple[str, str]]
    limit: int | None
    unchecked: str | None = None
    open_days: Sequence[str] = ()
    notes: Sequence[str] = ()


def plan_text(plan: Plan) -> str:
    """The plan for a terminal."""
    columns = ", ".join(f"{cell(name)} {kind}" for name, kind in plan.columns)
    facts = [("service filters", plan.filters), ("columns", [columns])]
    facts += [(name, [text]) for name, text in _limits(plan)]
    lines = [f"{name + ':':<17}" + f"\n{'':17}".join(texts) for name, texts in facts]
    return "\n".join([f"{plan.item} in {_requests(plan)}", *lines])


def plan_html(plan: Plan) -> str:
    """The plan for a notebook."""
    facts: list[tuple[str, html.Value | list[html.Value]]] = [
        ("service filters", list(plan.filters)),
        ("columns", html.columns(plan.columns)),
        *((name, text if name == _CUT else html.Mark(text, "doubt wide")) for name, text in _limits(plan)),
        ("not done", [html.Mark(note, "dim") for note in plan.notes]),
    ]
    return html.block(html.title(plan.item, f"{_requests(plan)}; nothing was sent"), html.facts(facts))


def _requests(plan: Plan) -> str:
    return counted(plan.requests, "request") + (f", {plan.zones}" if plan.zones else "")


def _limits(plan: Plan) -> list[tuple[str, str]]:
    """What the client cuts or cannot check, and which days are not over."""
    days = f"{counted(len(plan.open_days), 'day')}: {shorten(list(plan.open_days))}"
    found = {
        _CUT: None if plan.limit is None else counted(plan.limit, "row"),
        "not checked": plan.unchecked,
        "not over": days if plan.open_days else None,
    }
    return [(name, text) for name, text in found.items() if text is not None]
