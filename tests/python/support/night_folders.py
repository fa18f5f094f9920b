"""The folder of a nightly job, on this machine or in a bucket: what a test reads and damages there."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
from support.objects import Store

import dataaccess as da

# A row as the test compares it: id, time, status.
Row = tuple[Any, ...]


class NightFolder(ABC):
    """A folder whose parts are read as bytes."""

    url: str
    # Whether a lock outlives its process, until it runs out.
    has_lease: bool

    @abstractmethod
    def parts(self) -> dict[str, bytes]:
        """The content of each part, by its name."""

    @abstractmethod
    def write(self, name: str, content: bytes) -> None:
        """Replaces a part."""

    @abstractmethod
    def unlock(self) -> None:
        """Removes the lock of a run that was killed."""

    @abstractmethod
    def beside(self) -> NightFolder:
        """Another folder."""

    def rows(self) -> dict[str, set[Row]]:
        """The rows of each day; no id is there twice. Without days all rows are those of the day `""`."""
        found: dict[str, set[Row]] = {}
        for name, content in self.parts().items():
            frame = pl.read_parquet(BytesIO(content), hive_partitioning=False)
            assert frame["id"].drop_nulls().is_unique().all()
            times = frame["allocated_time"].cast(pl.String).str.slice(0, 19)
            day = re.match(r"day=([\d-]+)/", name)
            found.setdefault(day[1] if day else "", set()).update(
                zip(frame["id"], times, frame["code_status"], strict=True)
            )
        return found

    def status(self) -> da.FolderReport:
        """What the package says of it."""
        return da.folder_status(self.url)


class LocalFolder(NightFolder):
    """A folder of this machine."""

    has_lease = False

    def __init__(self, path: Path) -> None:
        """It need not exist."""
        self.path, self.url = path, str(path)

    def parts(self) -> dict[str, bytes]:
        """The content of each part, by its name."""
        return {path.relative_to(self.path).as_posix(): path.read_bytes() for path in self.path.rglob("part-*.parquet")}

    def write(self, name: str, content: bytes) -> None:
        """Replaces a part."""
        (self.path / name).write_bytes(content)

    def unlock(self) -> None:
        """The lock ends with its process."""

    def beside(self) -> NightFolder:
        """Another folder."""
        return LocalFolder(self.path.parent / "snapshot")


@dataclass
class BucketFolder(NightFolder):
    """A folder of an object store, whose settings are in the environment."""

    store: Store
    name: str = "codes"

    has_lease = True

    def __post_init__(self) -> None:
        """It need not exist."""
        self.url = self.store.url(self.name)

    def parts(self) -> dict[str, bytes]:
        """The content of each part, by its name."""
        names = [name for name in self.store.names() if name.startswith(f"{self.name}/") and "/part-" in name]
        return {name.removeprefix(f"{self.name}/"): self.store.get(name) for name in names}

    def write(self, name: str, content: bytes) -> None:
        """Replaces a part."""
        self.store.put(f"{self.name}/{name}", content)

    def unlock(self) -> None:
        """Removes the lock of a run that was killed."""
        self.store.delete(f"{self.name}/.dataaccess/lock")

    def beside(self) -> NightFolder:
        """Another folder."""
        return BucketFolder(self.store, "snapshot")
