"""Exceptions in notebooks: what happened, what to do, and for a refused request its arguments as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._display import html
from dataaccess._display.text import cell, counted, duration
from dataaccess._display.tree import tree_html, tree_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Protocol

    from dataaccess._display.tree import Line

    class Failure(Protocol):
        """What is shown of an error of this package."""

        operation: str | None
        attempts: int
        elapsed: float
        request_id: str | None
        history: list[str]
        hint: str | None
        retryable: bool


# Failed tasks that are shown.
_MAX_FAILED = 20
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def error_html(error: Failure, *more: str) -> str:
    """An exception, followed by more HTML."""
    facts: list[tuple[str, html.Value | list[html.Value]]] = []
    if error.hint:
        facts.append(("what to do", cell(error.hint, 1_000)))
    if error.attempts:
        facts.append(("sent", f"{counted(error.attempts, 'request')} in {duration(error.elapsed)}"))
        facts.append(("retryable", "yes" if error.retryable else "no"))
    if error.request_id:
        facts.append(("request id", cell(error.request_id, 200)))
    history = html.details(
        f"each of {counted(len(error.history), 'failed request')}",
        "".join(html.line(cell(line, 1_000)) for line in error.history),
    )
    return html.block(
        html.title(type(error).__name__, error.operation or ""),
        html.line(html.Mark(cell(error, 2_000), "bad wide")),
        html.facts(facts) if facts else "",
        history if error.history else "",
        *more,
    )


def refusal_html(error: Exception, problems: int, lines: Sequence[Line]) -> str:
    """A request that was refused before it was sent."""
    summary = f"{counted(problems, 'problem')}; nothing was sent"
    return html.block(html.title(type(error).__name__, summary), tree_html(lines) if lines else html.line(str(error)))


def failed_html(failed: Mapping[str, Exception]) -> str:
    """The tasks of a run that failed."""
    rows = [
        (task, html.Mark(type(error).__name__, "bad"), cell(error, 300))
        for task, error in list(failed.items())[:_MAX_FAILED]
    ]
    more = len(failed) - len(rows)
    note = html.line(html.Mark(f"… {counted(more, 'more failed task')}", "dim")) if more else ""
    return html.table(["task", "error", "message"], [], rows) + note


def ipython_traceback(error: Exception, lines: Sequence[Line]) -> list[str]:
    """The traceback as IPython and notebooks show it, with the tree in place of the notes, which say the same."""
    import sys

    shell = sys.modules["IPython"].get_ipython()
    notes = getattr(error, "__notes__", [])
    error.__notes__ = []
    try:
        traceback: list[str] = shell.InteractiveTB.structured_traceback(type(error), error, error.__traceback__)
    finally:
        error.__notes__ = notes
    return [*traceback, "", tree_text(lines, lambda problem: f"{_BOLD}{problem}{_PLAIN}")]
