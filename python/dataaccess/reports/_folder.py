"""What a folder holds, after a run and at any time: its files and days, in a few lines and for notebooks."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dataaccess._display import html
from dataaccess._display.text import cell, counted, duration, open_text, shorten, size
from dataaccess._public import public

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self

# Files that are shown on a click, and files that a text names.
_SHOWN = 400
_NAMED = 5
_STATES = {"new": "good", "kept": "dim", "refreshed": "busy", "damaged": "doubt"}


@public
@dataclass(frozen=True, slots=True)
class FileReport:
    """A file of a folder.

    Attributes:
        day: Its day, as `2024-01-15`; None of a scan without days.
        path: Where it is, in an object store its URL as a string; None if it is not written yet: `on_doubt` is asked
            before, and without any row the types of its columns are not known.
        rows: Its rows; 0 if it is damaged.
        rows_before: Rows of the file that was there before the run; None if there was none, if it was damaged, and in
            `folder_status`.
        bytes: Its size; 0 if it is damaged.
        requested_at: When it was requested, in UTC: by the clock of this machine or of the service, whichever was
            earlier. Later changes of its rows are not in it. None if it is damaged.
        is_final: Whether it was requested after its day was over and had settled, and no later response was refused. A
            run requests the others again. True of a scan without days.
        state: `new` or `refreshed` if the run wrote it, `kept` if it is as it was, `damaged` if it cannot be read.
        doubts: What looks wrong in its rows, or in a newer response that was not written, or why it cannot be read.
        attempts: Requests that the run that wrote it sent for it, retries included.
        seconds: How long they took.
    """

    day: str | None
    path: Path | str | None
    rows: int
    rows_before: int | None
    bytes: int
    requested_at: datetime | None
    is_final: bool
    state: Literal["new", "kept", "refreshed", "damaged"]
    doubts: list[str]
    attempts: int
    seconds: float

    @classmethod
    def _of(cls, values: dict[str, Any], path: Callable[[str], Path | str] = str) -> Self:
        """Of the values of the core."""
        place, sent = values["path"], values["requested_at"]
        time = None if sent is None else datetime.fromtimestamp(sent / 1000, UTC)
        return cls(**{**values, "path": place and path(place), "requested_at": time})


@public
@dataclass(frozen=True, slots=True, repr=False)
class FolderReport:
    """What a folder holds: what `Scan.to_folder` and `folder_status` return. `print` shows it in lines.

    After a run it has the days of its scan. A day that is not as it should be is in one of four lists: missing, open,
    unsettled or doubtful; a day with several files may be in more.

    Attributes:
        folder: The folder as it was given, in an object store its URL as a string.
        service: The address of the service whose rows it has; None if no file can be read.
        query: The query that it belongs to, in words: object, attributes, time zone and filters.
        files: Its files: one a day, or more where lists of values were split.
        warnings: What looks wrong, in words.
        maybe_capped: Whether the numbers of rows look as if the service capped responses. No total is specified, so
            False does not prove that all rows arrived.
        missing_days: The days that are over and have no file: in a run those whose request failed or whose response was
            refused, in `folder_status` those between the first and the last file, and up to `until`.
        open_days: The days that were not over when they were requested, or are not over: the next run requests them.
        unsettled_days: The days that were over when they were requested, and may still change: the next run requests
            them again.
        doubtful_days: The days that are over and look wrong or cannot be read; without days, the names of the files.
            The next run requests those whose newer response was refused. The others need `refresh` or `accept`.
        requests: Requests that the run sent, retries and failed ones included; 0 in `folder_status`.
        retries: How many of them were retries.
        seconds: How long it took.
    """

    folder: Path | str
    service: str | None
    query: dict[str, str]
    files: list[FileReport]
    warnings: list[str]
    maybe_capped: bool
    missing_days: list[str]
    open_days: list[str]
    unsettled_days: list[str]
    doubtful_days: list[str]
    requests: int
    retries: int
    seconds: float

    @classmethod
    def _of(cls, values: dict[str, Any], folder: str) -> Self:
        """Of the values of the core, of a folder or its URL."""
        # `Path` drops a slash of a URL.
        path: Callable[[str], Path | str] = str if "://" in folder else Path
        files = [FileReport._of(file, path) for file in values["files"]]
        warnings = [warning["message"] for warning in values["warnings"]]
        return cls(**{**values, "folder": path(folder), "files": files, "warnings": warnings})

    @property
    def rows(self) -> int:
        """Rows of all files."""
        return sum(file.rows for file in self.files)

    @property
    def days(self) -> list[str]:
        """The days that have a file, also a damaged one, in order."""
        return list(dict.fromkeys(file.day for file in self.files if file.day is not None))

    @property
    def new(self) -> int:
        """Files that the run wrote for the first time."""
        return self._count("new")

    @property
    def kept(self) -> int:
        """Files that are as they were before the run."""
        return self._count("kept")

    @property
    def refreshed(self) -> int:
        """Files that the run replaced."""
        return self._count("refreshed")

    def to_dict(self) -> dict[str, Any]:
        """Returns the report as a dict that `json.dumps` takes: paths and times are strings.

        Returns:
            The figures by name, also `rows`, `days`, `new`, `kept` and `refreshed`; `files` is a list of dicts.

        Examples:
            >>> import dataaccess as da
            >>> import json
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> report = client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_folder("codes")
            >>> text = json.dumps(report.to_dict())
            >>> json.loads(text)["rows"]
            73
        """
        figures = {each.name: getattr(self, each.name) for each in fields(self)}
        figures |= {name: getattr(self, name) for name in ("rows", "days", "new", "kept", "refreshed")}
        return {**figures, "folder": str(self.folder), "files": [_plain(file) for file in self.files]}

    def __str__(self) -> str:
        """A line for each fact: what `print(report)` shows."""
        damaged = [file for file in self.files if file.state == "damaged"]
        facts = [
            *self._facts(),
            *(("doubtful", warning) for warning in self.warnings),
            *(("damaged", f"{file.day or cell(file.path, 200)}: {file.doubts[0]}") for file in damaged[:_NAMED]),
            *([("damaged", f"{len(damaged) - _NAMED} more")] if len(damaged) > _NAMED else []),
        ]
        return "\n".join([self._headline(), *(f"{name + ':':<11}{value}" for name, value in facts)])

    def _repr_html_(self) -> str:
        """The report for notebooks."""
        marks: list[html.Value] = [html.Mark(text, _STATES[state]) for state, text in self._states().items()]
        doubts: list[html.Value] = [html.Mark(doubt, "doubt wide") for doubt in self.warnings]
        facts: list[tuple[str, html.Value | list[html.Value]]] = [("files", marks), *self._facts()]
        return html.block(
            html.title(counted(self.rows, "row"), f"in {counted(len(self.files), 'file')}"),
            html.facts([*facts, ("doubtful", doubts or "nothing")]),
            _table(self.files),
        )

    def __repr__(self) -> str:
        states = ", ".join(f"{count:,} {state}" for state in _STATES if (count := self._count(state)))
        capped = "; maybe capped" if self.maybe_capped else ""
        rows, files = counted(self.rows, "row"), counted(len(self.files), "file")
        return f"FolderReport({rows} in {files} of {str(self.folder)!r}{states and f': {states}'}{capped})"

    def _headline(self) -> str:
        """The counts, the same in Python, in the log and in the command."""
        states = ", ".join(self._states().values())
        return f"{counted(self.rows, 'row')} in {counted(len(self.files), 'file')}{states and f': {states}'}"

    def _count(self, state: str) -> int:
        return sum(file.state == state for file in self.files)

    def _states(self) -> dict[str, str]:
        texts = {state: f"{count:,} {state}" for state in _STATES if (count := self._count(state))}
        if "kept" in texts:
            # Their rows are as they were then.
            times = [file.requested_at for file in self.files if file.state == "kept" and file.requested_at]
            days = sorted(f"{time:%Y-%m-%d}" for time in times)
            texts["kept"] += f" (requested {days[0]}{'' if days[0] == days[-1] else f' to {days[-1]}'})"
        return texts

    def _facts(self) -> list[tuple[str, str]]:
        facts = [("folder", cell(self.folder, 500))]
        if self.service:
            facts.append(("service", cell(self.service, 200)))
        if days := self.days:
            facts.append(("days", f"{len(days):,}, {days[0]} to {days[-1]}" if days[1:] else days[0]))
        facts.append(("size", size(sum(file.bytes for file in self.files))))
        if self.requests:
            sent = f"{counted(self.requests, 'request')} in {duration(self.seconds)}"
            facts.append(("sent", f"{sent}, {counted(self.retries, 'retry', 'retries')}" if self.retries else sent))
        if self.missing_days:
            facts.append(("missing", f"{counted(len(self.missing_days), 'day')}: {shorten(self.missing_days)}"))
        if self.open_days:
            facts.append(("open", open_text(self.open_days)))
        if self.unsettled_days:
            count = counted(len(self.unsettled_days), "day")
            facts.append(("unsettled", f"{count} may still change: {shorten(self.unsettled_days)}"))
        return facts


def _plain(file: FileReport) -> dict[str, Any]:
    path = None if file.path is None else str(file.path)
    time = None if file.requested_at is None else file.requested_at.isoformat()
    return {**asdict(file), "path": path, "requested_at": time}


def _table(files: list[FileReport]) -> str:
    names = ["file", "state", "rows", "requests", "time", "size"]
    rows = [
        [
            file.day or cell(file.path, 200),
            html.Mark(file.state, _STATES[file.state]),
            f"{file.rows:,}",
            file.attempts,
            duration(file.seconds),
            size(file.bytes),
        ]
        for file in files[:_SHOWN]
    ]
    table = html.table(names, [], rows, [name not in ("file", "state") for name in names])
    more = len(files) - len(rows)
    return html.details("each file", table + (html.line(f"… {counted(more, 'more file')}") if more > 0 else ""))
