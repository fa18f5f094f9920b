"""What a run reports: its tasks and files, in figures, in a few lines and for notebooks."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from dataaccess._display import html
from dataaccess._display.text import cell, counted, duration, open_text, size
from dataaccess._public import public

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path
    from typing import Any


# Tasks that are shown on a click.
_MAX_TASKS = 400
_KINDS = {"new": "good", "kept": "dim", "refreshed": "busy"}


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
    doubts: list[str]
    requested_at: datetime
    is_final: bool
    absent: list[str]
    extra_keys: dict[str, int]


@public
@dataclass(frozen=True, slots=True, repr=False)
class ScanReport:
    """The result of a run: what `Scan.to_folder` returns. It shows how many tasks are new, kept and refreshed.

    `retries` and `seconds` are of this run alone. The other figures are of all tasks of the scan in the folder, also of
    those that an earlier run did.

    Attributes:
        folder: The folder of the files, in an object store its URL as a string.
        tasks: The tasks of the scan that are done, in the order of the plan.
        rows: Rows of all tasks.
        bytes: Size of their responses.
        file_bytes: Size of their files.
        seconds: How long this run took.
        maybe_capped: Whether the numbers of rows look as if the service capped responses. No total is specified, so
            False does not prove that all rows arrived.
        reasons: Why they may be capped; empty otherwise.
        open_days: The days that were not over when they were requested, or are not over: the next run requests them.
        unsettled_days: The days that were over when they were requested, and may still change: the next run requests
            them again.
        missing_days: The days that are over and have no file, as their requests failed.
        stray_days: The days whose requests returned rows of another day; of a range, days outside it. Empty too if
            nothing was checked, as `allocated_time` is not in `attrs`.
        absent: Attributes missing from every record of every task, as a misspelled one is.
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
    unsettled_days: list[str]
    missing_days: list[str]
    stray_days: list[str]
    absent: list[str]
    warnings: list[str]

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
            The figures by name, also `doubtful_days`, `new`, `kept`, `refreshed`, `retries` and `oldest`;
            `tasks` is a list of dicts.

        Examples:
            >>> import dataaccess as da
            >>> import json
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> report = client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_folder("codes")
            >>> text = json.dumps(report.to_dict())
            >>> json.loads(text)["rows"]
            73
        """
        names = [each.name for each in fields(self) if each.name not in ("folder", "tasks")]
        tasks = [
            {
                **asdict(task),
                "path": None if task.path is None else str(task.path),
                "requested_at": task.requested_at.isoformat(),
            }
            for task in self.tasks
        ]
        figures = {
            name: getattr(self, name) for name in [*names, "doubtful_days", "new", "kept", "refreshed", "retries"]
        }
        oldest = None if self.oldest is None else self.oldest.isoformat()
        return {"folder": str(self.folder), **figures, "oldest": oldest, "tasks": tasks}

    def serialize(self) -> dict[str, Any]:
        """Returns the figures: `to_dict` without `tasks`. Airflow calls it for a report that goes to XCom.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> report = client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_folder("codes")
            >>> report.serialize()["rows"]
            73
        """
        return {name: value for name, value in self.to_dict().items() if name != "tasks"}

    @staticmethod
    def deserialize(data: dict[str, Any], version: int) -> dict[str, Any]:
        """Returns the figures as a dict. Airflow calls it for a report that comes from XCom.

        Args:
            data: What `serialize` returned.
            version: The version of Airflow's text, which is not used.

        Examples:
            >>> import dataaccess as da
            >>> da.ScanReport.deserialize({"rows": 73}, 1)
            {'rows': 73}
        """
        return data

    def __str__(self) -> str:
        """A line for each fact: what `print(report)` shows."""
        lines = [
            headline(self),
            *(f"{name + ':':<11}{value}" for name, value in _facts(self)),
            *(f"{'doubtful:':<11}{doubt}" for doubt in self.warnings),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The report for notebooks."""
        marks: list[html.Value] = [html.Mark(text, _KINDS[name]) for name, text in _states(self).items()]
        doubts: list[html.Value] = [html.Mark(doubt, "doubt wide") for doubt in self.warnings]
        facts: list[tuple[str, html.Value | list[html.Value]]] = [("tasks", marks), *_facts(self)]
        return html.block(
            html.title(counted(self.rows, "row"), f"in {counted(len(self.tasks), 'task')}"),
            html.facts([*facts, ("doubtful", doubts or "nothing")]),
            _tasks(self.tasks),
        )

    def __repr__(self) -> str:
        rows, tasks = counted(self.rows, "row"), counted(len(self.tasks), "task")
        counts = {"new": self.new, "kept": self.kept, "refreshed": self.refreshed}
        shown = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
        capped = "; maybe capped" if self.maybe_capped else ""
        return f"ScanReport({rows} of {tasks} in {str(self.folder)!r}{shown and f': {shown}'}{capped})"


def headline(report: ScanReport) -> str:
    """The counts of a run, the same in Python and in the command."""
    return (
        f"{counted(report.rows, 'row')} in {counted(len(report.tasks), 'task')}: {', '.join(_states(report).values())}"
    )


def _state_of(task: TaskReport) -> str:
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
    return texts


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
            html.Mark(_state_of(task), _KINDS[_state_of(task)]),
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
