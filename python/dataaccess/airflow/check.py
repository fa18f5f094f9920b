"""`DataAccessCheckOperator`: whether a folder has what its readers expect. It sends nothing to the service."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from dataaccess import folder_status
from dataaccess._client.functions import unconnected_client
from dataaccess._core.checks import SETTLE, duration, invalid
from dataaccess._display.text import shorten
from dataaccess.airflow.compat import AirflowException, BaseOperator
from dataaccess.airflow.condition import condition, stated
from dataaccess.airflow.failures import without_useless_retries
from dataaccess.airflow.figures import RequiredRows, log_figures
from dataaccess.airflow.plan import day_of
from dataaccess.airflow.rendering import Templated
from dataaccess.airflow.storage import located
from dataaccess.airflow.window import days_of_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from airflow.sdk import Context, ObjectStoragePath

    from dataaccess._types import TimeCondition
    from dataaccess.reports import FileReport, FolderReport


class DataAccessCheckOperator(Templated, BaseOperator):
    """Checks a folder that `DataAccessScanOperator` fills, before other tasks read it. Sends nothing to the service.

    The task fails, and its error names the days, if a day has no file or one that is damaged, was not over when it was
    requested, is too old, or is in doubt. It compares the numbers of rows of all files of the folder, so it also finds
    a cap that nobody could see when the first days were loaded. A retry reads the folder again.

    `folder` and `days` are templated.

    Args:
        folder: The folder, as for `DataAccessScanOperator`.
        days: The days that must be there: `da.days(start, stop)`, `da.month("2024-01")`, `da.last_days(7)`,
            `da.on(day)`, or as text for `da.filters.parse`, such as `"last_days(7)"`. None: the days that ended in the
            data interval of the run, in the time zone of the folder. A folder of a scan without days is checked as a
            whole.
        max_age: Seconds, or a timedelta, since the oldest of these days was requested, at most.
        settle: How long a day that is over may still change: a timedelta, or days, as in `Scan.to_folder`.
        known_row_cap: A number of rows at which the service is known to cap responses: a file with exactly that number
            is in doubt. Give it here too if `DataAccessScanOperator` has it.
        on_doubt: "error", or "warn": what is in doubt is logged, and in XCom.
        min_rows: The fewest rows of these days together.
        fail_on_empty: Whether a day without rows fails the task.
        **options: Arguments of every operator.

    Returns:
        To XCom: a dict of `folder`, `rows`, `bytes`, `first_day` and `last_day` of the days that are there, `oldest`,
        when the oldest of them was requested, and the days that are not as they should be: `missing_days`,
        `damaged_days`, `open_days`, `unsettled_days` (which fails nothing), `old_days` and `doubtful_days`; `warnings`
        says why they are in doubt.

    Examples:
        >>> complete = DataAccessCheckOperator(task_id="complete", folder="s3://warehouse/codes", days="last_days(7)")
    """

    template_fields: Sequence[str] = ("folder", "days")

    def __init__(
        self,
        *,
        folder: str | ObjectStoragePath,
        days: TimeCondition | str | None = None,
        max_age: float | timedelta | None = None,
        settle: float | timedelta = SETTLE,
        known_row_cap: int | None = None,
        on_doubt: Literal["warn", "error"] = "error",
        min_rows: int | None = None,
        fail_on_empty: bool = False,
        **options: Any,
    ) -> None:
        """Checks only what a template cannot change: templates are rendered when the task runs."""
        super().__init__(**options)
        if on_doubt not in ("warn", "error"):
            raise invalid("on_doubt", 'must be "warn" or "error"', on_doubt)
        if max_age is not None:
            duration("max_age", max_age)
        RequiredRows(min_rows, fail_on_empty)
        self.folder = folder
        self.days: Any = stated("days", days)
        self.max_age = max_age
        self.settle = settle
        self.known_row_cap = known_row_cap
        self.on_doubt = on_doubt
        self.min_rows = min_rows
        self.fail_on_empty = fail_on_empty

    def execute(self, context: Context) -> dict[str, Any]:
        """Reads the folder. Airflow calls it."""
        with without_useless_retries():
            folder, storage_options = located(self.folder)
            status = folder_status(
                folder, settle=self.settle, known_row_cap=self.known_row_cap, storage_options=storage_options
            )
            days = self._days(context, status)
            figures = self._figures(status, days)
            log_figures(self.log, figures)
            if problems := self._problems(figures, status, days):
                raise AirflowException(f"{status.folder}: {'; '.join(problems)}")
            return figures

    def _days(self, context: Context, status: FolderReport) -> list[str]:
        """The days that must be there; none of a folder without days."""
        if status.files and not status.days:
            return []
        zone = status.query.get("timezone", "UTC")
        chosen = condition("days", self.days)
        chosen = days_of_run(context, zone) if chosen is None else chosen
        # It plans the days as the scan of these days did.
        scan = unconnected_client(zone, "exclusive").scan_codes(["id"], allocated_time=chosen)
        days = [day_of(task) for task in scan.tasks()]
        if None in days:
            raise invalid("days", "must be days: write days('2024-01-01', '2024-02-01') or last_days(7)", self.days)
        return [str(day) for day in days]

    def _figures(self, status: FolderReport, days: list[str]) -> dict[str, Any]:
        chosen = _chosen(status, days)
        found = [day for day in status.days if day in days]
        oldest = min((file.requested_at for file in chosen if file.requested_at is not None), default=None)
        return {
            "folder": str(status.folder),
            "rows": sum(file.rows for file in chosen),
            "bytes": sum(file.bytes for file in chosen),
            "first_day": min(found, default=None),
            "last_day": max(found, default=None),
            "oldest": None if oldest is None else oldest.isoformat(),
            "missing_days": [day for day in days if day not in found],
            "damaged_days": _names([file for file in chosen if file.state == "damaged"]),
            "open_days": [day for day in status.open_days if not days or day in days],
            "unsettled_days": [day for day in status.unsettled_days if not days or day in days],
            "old_days": _names([file for file in chosen if self._is_old(file)]),
            "doubtful_days": [day for day in status.doubtful_days if not days or day in days],
            "warnings": list(dict.fromkeys(doubt for file in chosen for doubt in file.doubts)),
        }

    def _is_old(self, file: FileReport) -> bool:
        if self.max_age is None or file.requested_at is None:
            return False
        return datetime.now(UTC) - file.requested_at > timedelta(seconds=duration("max_age", self.max_age))

    def _problems(self, figures: dict[str, Any], status: FolderReport, days: list[str]) -> list[str]:
        names = ["missing_days", "damaged_days", "open_days", "old_days"]
        names += ["doubtful_days"] if self.on_doubt == "error" else []
        found = [f"{name.removesuffix('_days')}: {shorten(figures[name])}" for name in names if figures[name]]
        if self.on_doubt == "error":
            found += figures["warnings"]
        chosen = _chosen(status, days)
        with_rows = {file.day for file in chosen if file.rows}
        empty = [day for day in days if day not in with_rows and day not in figures["missing_days"]]
        rows = RequiredRows(self.min_rows, self.fail_on_empty).problem(figures["rows"], empty)
        return [*found, *([rows] if rows is not None else [])]


def _chosen(status: FolderReport, days: list[str]) -> list[FileReport]:
    """The files of these days; without days all files."""
    return [file for file in status.files if not days or file.day in days]


def _names(files: list[FileReport]) -> list[str]:
    return list(dict.fromkeys(file.day or str(file.path) for file in files))
