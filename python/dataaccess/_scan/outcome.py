"""Statistics, progress and warnings, from the plain values of the core."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dataaccess import errors
from dataaccess._core.warn import warn_caller
from dataaccess.reports import ScanProgress, ScanReport, ScanStats, TaskReport


def stats_of(outcome: dict[str, Any]) -> ScanStats:
    """The figures of a use of a scan."""
    figures = {name: value for name, value in outcome.items() if name != "warnings"}
    return ScanStats(**{**figures, "extra_keys": dict(outcome["extra_keys"])})


def warn_of(outcome: dict[str, Any]) -> None:
    """Warns of what is doubtful in the data."""
    for warning in outcome["warnings"]:
        warn_caller(warning["message"], getattr(errors, warning["category"]))


def progress_of(update: dict[str, Any]) -> ScanProgress:
    """The progress of a run."""
    known = {name: value for name, value in update.items() if name != "tasks"}
    return ScanProgress(total=update["tasks"], **known)


def report_of(outcome: dict[str, Any], failed: list[tuple[str, errors.DataAccessError]]) -> ScanReport:
    """The report of a run. Warns of what is doubtful in the data.

    Raises:
        ScanIncompleteError: Tasks failed permanently.
    """
    tasks = [TaskReport(**task) for task in outcome["tasks"]]
    figures = ("rows", "bytes", "file_bytes", "retries", "seconds", "reasons", "stray_days")
    report = ScanReport(
        folder=Path(outcome["folder"]),
        tasks=tasks,
        maybe_capped=outcome["complete"] == "capped",
        **{name: outcome[name] for name in figures},
    )
    if failed:
        (_, first), *_ = failed
        raise errors.ScanIncompleteError(
            f"{len(failed)} of {len(failed) + len(tasks)} tasks failed permanently, and {len(tasks)} are kept in "
            f"{report.folder}: run it again to resume with the others. The first: {first}",
            operation=first.operation,
            retryable=any(error.retryable for _, error in failed),
            failed=dict(failed),
            report=report,
        ) from first
    warn_of(outcome)
    return report
