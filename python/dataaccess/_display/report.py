"""The report of a run: its tasks by state, its retries, and what is doubtful in the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._display import html
from dataaccess._display.text import cell, counted, duration, shorten, size

if TYPE_CHECKING:
    from dataaccess.reports import ScanReport, TaskReport

# Tasks that are shown on a click.
_MAX_TASKS = 400
_KINDS = {"new": "good", "kept": "dim", "refreshed": "busy"}


def report_text(report: ScanReport) -> str:
    """The report for a terminal."""
    states = ", ".join(_states(report).values())
    lines = [
        f"{counted(report.rows, 'row')} in {counted(len(report.tasks), 'task')}: {states}",
        *(f"{name + ':':<11}{value}" for name, value in _facts(report)),
        *(f"{'doubtful:':<11}{doubt}" for doubt in report.warnings),
    ]
    return "\n".join(lines)


def report_html(report: ScanReport) -> str:
    """The report for a notebook."""
    states = _states(report)
    marks: list[html.Value] = [html.Mark(text, _KINDS[name]) for name, text in states.items()]
    doubts: list[html.Value] = [html.Mark(doubt, "doubt wide") for doubt in report.warnings]
    facts: list[tuple[str, html.Value | list[html.Value]]] = [("tasks", marks), *_facts(report)]
    return html.block(
        html.title(counted(report.rows, "row"), f"in {counted(len(report.tasks), 'task')}"),
        html.facts([*facts, ("doubtful", doubts or "nothing")]),
        _tasks(report.tasks),
    )


def state_of(task: TaskReport) -> str:
    """`new`, `kept` or `refreshed`."""
    if task.was_refreshed:
        return "refreshed"
    return "kept" if task.was_done else "new"


def _states(report: ScanReport) -> dict[str, str]:
    counts = {"new": report.new, "kept": report.kept, "refreshed": report.refreshed}
    texts = {name: f"{count:,} {name}" for name, count in counts.items() if count or name == "new"}
    if report.kept:
        # Their rows are as they were then.
        days = sorted(f"{task.requested_at:%Y-%m-%d}" for task in report.tasks if task.was_done)
        texts["kept"] += f" (requested {days[0]}{'' if days[0] == days[-1] else f' to {days[-1]}'})"
    if report.refreshed:
        texts["refreshed"] += f" ({counted(report.rows_changed, 'row')} changed)"
    return texts


def open_text(days: list[str]) -> str:
    """That days were not over, and what follows."""
    were, them = ("day was", "it") if len(days) == 1 else ("days were", "them")
    return f"{len(days)} {were} not over: {shorten(days)}; the next run requests {them} again"


def _facts(report: ScanReport) -> list[tuple[str, str]]:
    return [
        ("folder", cell(report.folder, 500)),
        ("size", f"{size(report.file_bytes)} in files, {size(report.bytes)} in responses"),
        ("time", duration(report.seconds)),
        ("retries", f"{report.retries:,}"),
        *([("open", open_text(report.open_days))] if report.open_days else []),
    ]


def _tasks(tasks: list[TaskReport]) -> str:
    names = ["task", "state", "rows", "requests", "time", "file"]
    rows = [
        [
            task.day or task.id,
            html.Mark(state_of(task), _KINDS[state_of(task)]),
            f"{task.rows:,}",
            task.attempts,
            duration(task.seconds),
            size(task.file_bytes) if task.path else None,
        ]
        for task in tasks[:_MAX_TASKS]
    ]
    table = html.table(names, [], rows, [name not in ("task", "state") for name in names])
    more = len(tasks) - len(rows)
    return html.details("each task", table + (html.line(f"… {counted(more, 'more task')}") if more > 0 else ""))
