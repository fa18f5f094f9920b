"""What operators say of their rows: in XCom, asset events and one line of the log, with every doubt.

And rows that are too few: each try of a task asks the service again, so a retry helps where rows come late.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dataaccess._core.checks import boolean_argument, count
from dataaccess._display.text import counted, shorten
from dataaccess.airflow.compat import AirflowException

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataaccess import FolderReport
    from dataaccess.reports import ScanStats

# Doubts that reports and statistics have, by the names of their attributes.
_DOUBTS = ("maybe_capped", "warnings")
# Days of which a line says that something is the matter with them.
_DAYS = {"doubtful_days": "doubtful", "open_days": "open"}


def of_report(report: FolderReport) -> dict[str, Any]:
    """The figures of a run into a folder."""
    return {
        "folder": str(report.folder),
        "rows": report.rows,
        "bytes": sum(file.bytes for file in report.files),
        "files": len(report.files),
        "new": report.new,
        "kept": report.kept,
        "refreshed": report.refreshed,
        "first_day": min(report.days, default=None),
        "last_day": max(report.days, default=None),
        "open_days": report.open_days,
        "doubtful_days": report.doubtful_days,
        **{name: getattr(report, name) for name in _DOUBTS},
    }


def of_stats(stats: ScanStats) -> dict[str, Any]:
    """The figures of one search, or of one request."""
    return {"rows": stats.rows, **{name: getattr(stats, name) for name in _DOUBTS}}


def log_figures(log: Any, figures: Mapping[str, Any]) -> None:
    """Logs one line: a warning if something is in doubt."""
    warnings = figures["warnings"]
    days = [figures[name] for name in ("first_day", "last_day") if figures.get(name)]
    texts = [
        counted(figures["rows"], "row"),
        *([f"of {' to '.join(dict.fromkeys(days))}"] if days else []),
        f"in {figures.get('folder') or figures.get('path') or 'XCom'}",
    ]
    changes = ", ".join(f"{figures[name]} {name}" for name in ("new", "kept", "refreshed") if name in figures)
    doubts = [f"{text}: {shorten(figures[name])}" for name, text in _DAYS.items() if figures.get(name)]
    line = "; ".join([" ".join(texts), *([changes] if changes else []), *doubts, *warnings])
    log.log(logging.WARNING if warnings or doubts else logging.INFO, "%s", line)


@dataclass(frozen=True)
class RequiredRows:
    """How many rows a task needs.

    Attributes:
        min_rows: The fewest rows of all days together.
        fail_on_empty: Whether each day must have rows; of what has no days, all of it.
    """

    min_rows: int | None
    fail_on_empty: bool

    def __post_init__(self) -> None:
        """Checks the arguments of an operator.

        Raises:
            ValidationError: One is of another type.
        """
        if self.min_rows is not None:
            count("min_rows", self.min_rows)
        boolean_argument("fail_on_empty", self.fail_on_empty)

    def check(self, rows: int, empty_days: list[str] | None = None) -> None:
        """Fails the task if there are too few rows. Airflow may retry it: the service may have more by then.

        Raises:
            AirflowException: There are too few.
        """
        problem = self.problem(rows, empty_days or [])
        if problem is not None:
            raise AirflowException(problem)

    def check_report(self, report: FolderReport) -> None:
        """Fails the task if a run has too few rows.

        Raises:
            AirflowException: It has.
        """
        self.check(report.rows, _empty_days(report))

    def days_to_repeat(self, report: FolderReport) -> list[str]:
        """The days that fail the task by files of an earlier try: only another request can bring their rows."""
        kept = list(dict.fromkeys(file.day for file in report.files if file.state == "kept" and file.day is not None))
        empty = _empty_days(report)
        if self.fail_on_empty and empty:
            return [day for day in kept if day in empty]
        return kept if self.problem(report.rows, empty) is not None else []

    def problem(self, rows: int, empty_days: list[str]) -> str | None:
        """Why there are too few rows; None if there are enough."""
        if self.fail_on_empty and (empty_days or not rows):
            return f"no rows{f' of {shorten(empty_days)}' if empty_days else ''}, and fail_on_empty=True"
        if self.min_rows is not None and rows < self.min_rows:
            return f"{counted(rows, 'row')}, fewer than min_rows={self.min_rows}"
        return None


def _empty_days(report: FolderReport) -> list[str]:
    rows: Counter[str] = Counter()
    for file in report.files:
        if file.day is not None:
            rows[file.day] += file.rows
    return [day for day, number in rows.items() if number == 0]
