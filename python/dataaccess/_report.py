"""What is told of a run: how far it is, and what it came to."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from dataaccess import errors
from dataaccess._warn import warn_caller


@dataclass(frozen=True, slots=True)
class ScanProgress:
    """How far a run is: what `on_progress` is called with, first before any task and then after each.

    Attributes:
        tasks: Tasks of the scan.
        done: Tasks that are done, in this run or before.
        failed: Tasks that failed for good in this run.
        rows: Rows of those that are done.
        bytes: Size of their answers.
        seconds: Since this run began.
    """

    tasks: int
    done: int
    failed: int
    rows: int
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class TaskReport:
    """A task that is done.

    Attributes:
        id: Its name, which is that of its file without `.parquet`.
        index: Its place in the plan.
        rows: Rows of its answer.
        bytes: Size of its answer.
        attempts: Requests sent.
        seconds: What it took.
        file_bytes: Size of its file; 0 if it needed none.
        was_done: Whether it was done before this run.
    """

    id: str
    index: int
    rows: int
    bytes: int
    attempts: int
    seconds: float
    file_bytes: int
    was_done: bool


@dataclass(frozen=True, slots=True, repr=False)
class ScanReport:
    """What a run came to.

    Attributes:
        folder: Where the files are.
        tasks: The tasks that are done, in the order of the plan.
        rows: Rows of all of them.
        bytes: Size of their answers.
        file_bytes: Size of their files.
        retries: Requests that were sent again.
        seconds: What this run took.
        complete: "capped" where the numbers of rows look as if the service had cut answers, else "unknown": the
            document knows no total, so nobody can know more.
        reasons: Why it is "capped".
        stray_days: The tasks with rows of another day than they asked for.
    """

    folder: Path
    tasks: list[TaskReport]
    rows: int
    bytes: int
    file_bytes: int
    retries: int
    seconds: float
    complete: Literal["unknown", "capped"]
    reasons: list[str]
    stray_days: list[str]

    def __repr__(self) -> str:
        rows = f"{self.rows:,} row{'' if self.rows == 1 else 's'}"
        tasks = f"{len(self.tasks):,} task{'' if len(self.tasks) == 1 else 's'}"
        return f"ScanReport({rows} of {tasks} in {str(self.folder)!r}; complete: {self.complete})"


def progress_of(told: dict[str, Any]) -> ScanProgress:
    """How far a run is, as the core tells it."""
    return ScanProgress(**told)


def report_of(told: dict[str, Any], failed: list[tuple[str, errors.DataAccessError]]) -> ScanReport:
    """The report of a run as the core tells it; warns of what is doubtful.

    Raises:
        ScanIncompleteError: Tasks failed for good.
    """
    known = {field.name: told[field.name] for field in fields(ScanReport)}
    tasks = [TaskReport(**task) for task in told["tasks"]]
    report = ScanReport(**{**known, "folder": Path(told["folder"]), "tasks": tasks})
    if failed:
        (_, first), *_ = failed
        raise errors.ScanIncompleteError(
            f"{len(failed)} of {len(failed) + len(tasks)} tasks failed for good, and {len(tasks)} are kept in "
            f"{report.folder}: run it again to go on with the others. The first: {first}",
            operation=first.operation,
            retryable=any(error.retryable for _, error in failed),
            failed=dict(failed),
            report=report,
        ) from first
    for warning in told["warnings"]:
        warn_caller(warning["message"], getattr(errors, warning["category"]))
    return report
