"""What a folder holds: its days, their age, and what looks wrong."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from dataaccess._display.text import cell, counted, shorten
from dataaccess._public import public

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path
    from typing import Any

# Files that a text names.
_NAMED = 5


@public
@dataclass(frozen=True, slots=True)
class PartStatus:
    """A file of a folder.

    Attributes:
        day: Its day, as `2024-01-15`; None in a folder of a scan without days.
        path: Where it is, in an object store its URL as a string.
        rows: Its rows; 0 if it is damaged.
        bytes: Its size.
        requested_at: When it was requested, in UTC; None if it is damaged.
        is_final: Whether it was requested after its day was over, and had settled. True without days.
        doubts: What looks wrong in its rows.
        damage: Why it cannot be read; None if it can.
    """

    day: str | None
    path: Path | str
    rows: int
    bytes: int
    requested_at: datetime | None
    is_final: bool
    doubts: list[str]
    damage: str | None


@public
@dataclass(frozen=True, slots=True)
class FolderStatus:
    """What a folder of a run holds: what `dataaccess.folder_status` returns.

    Attributes:
        folder: The folder, in an object store its URL as a string.
        service: The address of the service whose rows it has; None if no file can be read.
        query: The query that it belongs to, in words: object, attributes, time zone and filters.
        parts: Its files: a file a day, or more where lists were split.
        missing_days: The days between the first and the last one that have no file, and those after it to `until=`.
        open_days: The days that were not over when they were requested.
        unsettled_days: The days that were over when they were requested, and may still change.
        doubtful_days: The days whose rows look wrong; without days, the names of the files.
        warnings: What looks wrong, in words.
    """

    folder: Path | str
    service: str | None
    query: dict[str, str]
    parts: list[PartStatus]
    missing_days: list[str]
    open_days: list[str]
    unsettled_days: list[str]
    doubtful_days: list[str]
    warnings: list[str]

    @property
    def rows(self) -> int:
        """Rows of all files."""
        return sum(part.rows for part in self.parts)

    @property
    def days(self) -> list[str]:
        """The days that have a file, in order."""
        return list(dict.fromkeys(part.day for part in self.parts if part.day is not None))

    @property
    def doubtful(self) -> list[PartStatus]:
        """The files whose rows look wrong."""
        return [part for part in self.parts if part.doubts]

    @property
    def damaged(self) -> list[PartStatus]:
        """The files that cannot be read."""
        return [part for part in self.parts if part.damage is not None]

    @property
    def oldest(self) -> datetime | None:
        """When the oldest file was requested."""
        return min((part.requested_at for part in self.parts if part.requested_at is not None), default=None)

    @property
    def newest(self) -> datetime | None:
        """When the newest file was requested."""
        return max((part.requested_at for part in self.parts if part.requested_at is not None), default=None)

    def to_dict(self) -> dict[str, Any]:
        """Returns the status as a dict that `json.dumps` takes: paths and times are strings.

        Returns:
            The figures by name; `parts` is a list of dicts.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> report = client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_folder("codes")
            >>> da.folder_status("codes").to_dict()["rows"]
            73
        """

        def text(time: datetime | None) -> str | None:
            return None if time is None else time.isoformat()

        parts = [
            {**asdict(part), "path": str(part.path), "requested_at": text(part.requested_at)} for part in self.parts
        ]
        return {
            "folder": str(self.folder),
            "service": self.service,
            "query": self.query,
            "rows": self.rows,
            "days": self.days,
            "missing_days": self.missing_days,
            "open_days": self.open_days,
            "unsettled_days": self.unsettled_days,
            "doubtful_days": self.doubtful_days,
            "warnings": self.warnings,
            "damaged": len(self.damaged),
            "oldest": text(self.oldest),
            "newest": text(self.newest),
            "parts": parts,
        }

    def __str__(self) -> str:
        """A line for each fact: what `print(status)` shows."""
        facts = [("rows", f"{self.rows:,} in {counted(len(self.parts), 'file')}")]
        if days := self.days:
            facts.append(("days", f"{len(days):,}, {days[0]} to {days[-1]}"))
        if self.oldest is not None and self.newest is not None:
            facts.append(("requested", f"{self.oldest:%Y-%m-%d %H:%M} to {self.newest:%Y-%m-%d %H:%M} UTC"))
        facts += [("service", cell(self.service, 200))] if self.service else []
        for name, found in (("missing", self.missing_days), ("open", self.open_days)):
            facts += [(name, f"{counted(len(found), 'day')}: {shorten(found)}")] if found else []
        facts += [("doubtful", f"{_name(part)}: {'; '.join(part.doubts)}") for part in self.doubtful[:_NAMED]]
        facts += [("damaged", f"{_name(part)}: {part.damage}") for part in self.damaged[:_NAMED]]
        for name, parts in (("doubtful", self.doubtful), ("damaged", self.damaged)):
            facts += [(name, f"{len(parts) - _NAMED} more")] if len(parts) > _NAMED else []
        return "\n".join([cell(self.folder, 500), *(f"{name + ':':<11}{value}" for name, value in facts)])


def _name(part: PartStatus) -> str:
    return part.day or cell(part.path, 200)
