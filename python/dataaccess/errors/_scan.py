"""A scan, an export or a file did not complete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataaccess.errors._base import DataAccessError

if TYPE_CHECKING:
    from dataaccess.reports import ScanReport
    from dataaccess.types import SegmentStatus


class StreamInterruptedError(DataAccessError):
    """A stream was cut off after rows were delivered; those rows are not a complete result.

    Attributes:
        rows_yielded: Number of rows delivered.
    """

    rows_yielded: int | None


class WaitTimeoutError(DataAccessError, TimeoutError):
    """An export did not end in time.

    Attributes:
        last: The last response, if there was one.
    """

    last: SegmentStatus | None


class ScanError(DataAccessError):
    """A scan did not complete."""


class ScanIncompleteError(ScanError):
    """Some tasks of a scan failed permanently; the others are done and kept.

    Attributes:
        failed: The error of each failed task, by task id.
        report: The `ScanReport` of the tasks that are done.
    """

    failed: dict[str, DataAccessError]
    report: ScanReport | None


class CheckpointError(ScanError):
    """A checkpoint cannot be written or read. The finished tasks are kept.

    Attributes:
        errno: The error number of the operating system, such as `errno.ENOSPC`, if there is one.
        path: The file or folder.
    """

    errno: int | None
    path: str | None


class CheckpointMismatchError(CheckpointError):
    """A checkpoint belongs to a different scan.

    Attributes:
        field: The first setting that differs.
    """

    field: str | None


class CheckpointCorruptError(CheckpointError):
    """A file or the journal of a checkpoint was changed or damaged.

    Attributes:
        line: The line of the journal, from 1.
    """

    line: int | None


class CheckpointLockedError(CheckpointError):
    """Another run uses the checkpoint.

    Attributes:
        pid: Its process id, if known.
    """

    pid: int | None


class FileError(DataAccessError, OSError):
    """A file cannot be written. A file that existed before is unchanged.

    Attributes:
        errno: The error number of the operating system, such as `errno.ENOSPC`, if there is one.
        path: The file.
    """

    errno: int | None
    path: str | None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles `errno` too, which an OSError keeps apart from its other fields."""
        return type(self), self.args, {**self.__dict__, "errno": self.errno}
