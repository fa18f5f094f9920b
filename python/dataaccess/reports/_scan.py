"""What a scan and its run report: statistics, progress and the files."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING

from dataaccess._public import public

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path
    from typing import Any, Literal

    import pandas as pd

    from dataaccess.types import StorageOptions, TimeZone


@public
@dataclass(frozen=True, slots=True)
class ScanStats:
    """Statistics of one use of a scan.

    Attributes:
        rows: Rows delivered.
        bytes: Size of the responses.
        seconds: From the start to the end of the last response; for batches including the time of their consumer.
        requests: Responses read: one for each request of the plan, or fewer if a limit was reached.
        attempts: Requests sent, retries included.
        empty_shape: What the response held in place of records if there were none, such as `data.data []`.
        extra_keys: Keys that were not requested, and how many records had each. Rows keep them, columns do not.
        absent: Attributes missing from every record, not even null; not known of a response cut by a limit.
        reasons: Why rows may be missing, as the numbers of rows look as if the service capped responses; empty
            otherwise.
        notes: What is worth knowing about the columns of a collected result, such as a time that stayed a string.
        missing_ids: The ids that were asked for and are in no row; None unless the scan selects by a list of ids whose
            column is among `attrs`, and was collected or written into a file.
    """

    rows: int
    bytes: int
    seconds: float
    requests: int
    attempts: int
    empty_shape: str | None
    extra_keys: dict[str, int]
    absent: list[str]
    reasons: list[str]
    notes: list[str]
    missing_ids: list[str] | None

    @property
    def maybe_capped(self) -> bool:
        """Whether there are `reasons`. False does not prove that all rows arrived: the service reports no total."""
        return bool(self.reasons)

    @property
    def retries(self) -> int:
        """Requests that were retried."""
        return self.attempts - self.requests


@public
@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a long call: what a function given as `progress=` gets.

    A scan reports at first and after each response, and all but `run` also as rows arrive. `wait_for_segment` reports
    with each response, `Sandbox.load` every thousand rows.

    Attributes:
        unit: What `total` and `done` count: tasks of a scan, entries of an export, or rows to load.
        total: How many there are; None if that is not known.
        done: How many are done; of a run, in this one or an earlier one.
        failed: How many failed in this call.
        rows: Rows of what is done; of scans, but not of runs, also of responses in flight.
        bytes: Size of the responses of the tasks that are done.
        seconds: Since the call began.
        retries: Requests that the client retried since the call began, those of its other calls included.
        day: The day of the task of a run that ended last, as `2024-01-15`; None before, and in scans without days.
    """

    unit: Literal["tasks", "entries", "rows"]
    total: int | None
    done: int
    failed: int = 0
    rows: int = 0
    bytes: int = 0
    seconds: float = 0.0
    retries: int = 0
    day: str | None = None


@public
@dataclass(frozen=True, slots=True)
class TaskReport:
    """A task that is done.

    Attributes:
        id: Its id, which begins with its day.
        day: The day that it asked for, as `2024-01-15`; None in scans without days.
        index: Its index in the plan.
        rows: Rows of its response.
        bytes: Size of its response.
        attempts: Requests sent.
        seconds: How long it took.
        path: Its Parquet file, in an object store its URL as a string; None if it has none, because no task had rows to
            infer types from.
        file_bytes: Size of its file.
        was_done: Whether it was done before this run.
        was_refreshed: Whether it has a file that this run replaced.
        rows_before: Rows of the file that it had before this run; None if it had none.
        rows_changed: Rows that are new, changed or gone since the file that was replaced, at the least.
            None if no file was replaced, or one of more than a million rows.
        doubts: What looks wrong in its rows, or in a newer response, for which its file was kept.
        requested_at: When it was requested, in UTC: by the clock of this machine or of the service, whichever was
            earlier. Later changes of its rows are not in its file.
        is_final: Whether it was requested after its day was over, and had settled. The next run requests the others
            again. True in scans without days.
        absent: Attributes missing from every record of its response, not even null.
        extra_keys: Keys that were not requested, and how many records had each.
    """

    id: str
    day: str | None
    index: int
    rows: int
    bytes: int
    attempts: int
    seconds: float
    path: Path | str | None
    file_bytes: int
    was_done: bool
    was_refreshed: bool
    rows_before: int | None
    rows_changed: int | None
    doubts: list[str]
    requested_at: datetime
    is_final: bool
    absent: list[str]
    extra_keys: dict[str, int]


@public
@dataclass(frozen=True, slots=True, repr=False)
class ScanReport:
    """The result of a run: what `Scan.run` returns. It shows how many tasks are new, kept and refreshed.

    `retries` and `seconds` are of this run alone. The other figures are of all tasks of the scan in the folder, also of
    those that an earlier run did.

    Attributes:
        folder: The folder of the files, in an object store its URL as a string.
        tasks: The tasks of the scan that are done, in the order of the plan.
        rows: Rows of all tasks.
        bytes: Size of their responses.
        file_bytes: Size of their files.
        seconds: How long this run took.
        maybe_capped: Whether the numbers of rows look as if the service capped responses. The service reports no total,
            so False does not prove that all rows arrived.
        reasons: Why they may be capped; empty otherwise.
        open_days: The days that were not over when they were requested, or have not begun: the next run requests them
            again.
        stray_days: The days whose requests returned rows of another day. Empty too if nothing was checked, as
            `allocated_time` is not in `attrs`.
        absent: Attributes missing from every record of every task, as a misspelled one is.
        missing_ids: The ids that were asked for and are in no row of these tasks; None unless the scan selects by a
            list of ids whose column is among `attrs`.
        warnings: The texts of the warnings of this run.
    """

    folder: Path | str
    tasks: list[TaskReport]
    rows: int
    bytes: int
    file_bytes: int
    seconds: float
    maybe_capped: bool
    reasons: list[str]
    open_days: list[str]
    stray_days: list[str]
    absent: list[str]
    missing_ids: list[str] | None
    warnings: list[str]
    # Reads the files of these tasks. It holds no client, so that a report pickles.
    _reader: Callable[[Any, Any], Callable[[], Any]] = field(compare=False)

    @property
    def new(self) -> int:
        """Tasks that this run did for the first time. A scan by days has one task a day, or more if it splits lists."""
        return len(self.tasks) - self.kept - self.refreshed

    @property
    def kept(self) -> int:
        """Tasks that an earlier run did: nothing was requested for them."""
        return sum(task.was_done for task in self.tasks)

    @property
    def refreshed(self) -> int:
        """Tasks whose file this run replaced, because of `refresh=` or because a response looked capped."""
        return sum(task.was_refreshed for task in self.tasks)

    @property
    def rows_changed(self) -> int:
        """Rows that are new, changed or gone since the files that this run replaced, at the least."""
        return sum(task.rows_changed or 0 for task in self.tasks)

    @property
    def doubtful_days(self) -> list[str]:
        """The days whose tasks have doubts; of a scan without days, the ids of the tasks."""
        return list(dict.fromkeys(task.day or task.id for task in self.tasks if task.doubts))

    @property
    def oldest(self) -> datetime | None:
        """When the oldest of the tasks was requested: no row is of an earlier time. None without tasks."""
        return min((task.requested_at for task in self.tasks), default=None)

    @property
    def retries(self) -> int:
        """Requests that this run retried, of the tasks that are done."""
        return sum(max(task.attempts - 1, 0) for task in self.tasks if not task.was_done)

    def to_dict(self) -> dict[str, Any]:
        """Returns the report as a dict that `json.dumps` takes: paths are strings, and so are times.

        Returns:
            The figures by name, also `doubtful_days`, `new`, `kept`, `refreshed`, `rows_changed`, `retries` and
            `oldest`; `tasks` is a list of dicts.

        Examples:
            >>> import dataaccess as da
            >>> import json
            >>> client = da.Client("sandbox:demo")
            >>> report = client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).run("codes")
            >>> text = json.dumps(report.to_dict())
            >>> json.loads(text)["rows"]
            73
        """
        names = [each.name for each in fields(self) if each.name not in ("folder", "tasks", "_reader")]
        tasks = [
            {
                **asdict(task),
                "path": None if task.path is None else str(task.path),
                "requested_at": task.requested_at.isoformat(),
            }
            for task in self.tasks
        ]
        figures = {
            name: getattr(self, name)
            for name in [*names, "doubtful_days", "new", "kept", "refreshed", "rows_changed", "retries"]
        }
        oldest = None if self.oldest is None else self.oldest.isoformat()
        return {"folder": str(self.folder), **figures, "oldest": oldest, "tasks": tasks}

    def frame(self, *, tz: TimeZone | None = None, storage_options: StorageOptions | None = None) -> pd.DataFrame:
        """Reads the rows of these tasks as a pandas DataFrame (extra `pandas`). Sends nothing.

        Only the tasks that the scan asked for are read: the folder may hold other days.

        Args:
            tz: IANA name of a time zone, or a `ZoneInfo`, for the timestamp columns: those of the service are read as
                UTC. None leaves them as the service wrote them, without a zone.
            storage_options: In place of those of the run, which a pickled report does not have.

        Returns:
            A DataFrame with the columns and types of `Scan.to_pandas`.

        Raises:
            ValidationError: `tz` is not a time zone.
            ImportError: pandas or pyarrow is not installed.
            CheckpointCorruptError: A file has changed since it was written.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> report = client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).run("codes")
            >>> report.frame().shape
            (73, 1)
        """
        read = self._reader(tz, storage_options)
        # A traceback shows no credentials.
        del storage_options
        frame: pd.DataFrame = read().to_pandas()
        return frame

    def __str__(self) -> str:
        """A line for each fact: what `print(report)` shows."""
        from dataaccess._display.report import report_text

        return report_text(self)

    def _repr_html_(self) -> str:
        """The report for notebooks."""
        from dataaccess._display.report import report_html

        return report_html(self)

    def __repr__(self) -> str:
        rows = f"{self.rows:,} row{'' if self.rows == 1 else 's'}"
        tasks = f"{len(self.tasks):,} task{'' if len(self.tasks) == 1 else 's'}"
        counts = {"new": self.new, "kept": self.kept, "refreshed": self.refreshed}
        shown = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
        capped = "; maybe capped" if self.maybe_capped else ""
        return f"ScanReport({rows} of {tasks} in {str(self.folder)!r}{shown and f': {shown}'}{capped})"
