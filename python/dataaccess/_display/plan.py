"""The plan of a scan, for people: what is requested, which columns come back, and what does not happen."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dataaccess._display import html
from dataaccess._display.text import cell, counted, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence


class Plan(NamedTuple):
    """What a scan will do.

    Attributes:
        item: The business object and its id.
        requests: Number of requests.
        zones: Time zones of days and times, in words; None if there are no times.
        filters: The conditions of the service, in words.
        columns: Names and types.
        limit: Rows after which the client cuts.
        unchecked: What the client does not check in the rows, and why; None if it checks what it can.
        open_days: Days that are not over, whose rows are not all there.
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
    zones = f", {plan.zones}" if plan.zones else ""
    lines = [
        f"{plan.item} in {counted(plan.requests, 'request')}{zones}",
        "service filters: " + "\n                 ".join(plan.filters),
        "columns:         " + ", ".join(f"{cell(name)} {kind}" for name, kind in plan.columns),
    ]
    if plan.limit is not None:
        lines.append(f"client cuts:     {counted(plan.limit, 'row')}")
    if plan.unchecked is not None:
        lines.append(f"not checked:     {plan.unchecked}")
    if plan.open_days:
        lines.append(f"not over:        {_open(plan)}")
    return "\n".join(lines)


def _open(plan: Plan) -> str:
    """Which days are not over."""
    return f"{counted(len(plan.open_days), 'day')}: {shorten(list(plan.open_days))}"


def plan_html(plan: Plan) -> str:
    """The plan for a notebook."""
    requests = counted(plan.requests, "request")
    facts: list[tuple[str, html.Value | list[html.Value]]] = [
        ("service filters", list(plan.filters)),
        ("columns", html.columns(plan.columns)),
    ]
    if plan.limit is not None:
        facts.append(("client cuts", f"after {counted(plan.limit, 'row')}"))
    if plan.unchecked is not None:
        facts.append(("not checked", html.Mark(plan.unchecked, "doubt wide")))
    if plan.open_days:
        facts.append(("not over", html.Mark(_open(plan), "doubt wide")))
    facts.append(("not done", [html.Mark(note, "dim") for note in plan.notes]))
    zones = f", {plan.zones}" if plan.zones else ""
    return html.block(html.title(plan.item, f"{requests}{zones}; nothing was sent"), html.facts(facts))
