"""A scan, an export or a file did not complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess.errors._base import DataAccessError

if TYPE_CHECKING:
    from typing import Any

    from dataaccess._types import ExportEntry
    from dataaccess.reports import ScanReport


# As in `sysexits.h`.
_WRONG_DATA = 65


class StreamInterruptedError(DataAccessError):
    """A stream was cut off after rows were delivered; those rows are not a complete result.

    Attributes:
        rows_yielded: Number of rows delivered.
    """

    rows_yielded: int | None

    _exit_code = 69


class WaitTimeoutError(DataAccessError, TimeoutError):
    """An export did not end in time.

    Attributes:
        last: The status of the last response, if there was one, as `download_segment` returns it.
    """

    last: dict[str, Any] | None

    _exit_code = 75


class SegmentExportError(DataAccessError):
    """An entry of a segment export has ended and failed: its `responseCode` is not 200.

    Attributes:
        entries: All entries of the export.
    """

    entries: list[ExportEntry]

    _exit_code = 69


class ScanError(DataAccessError):
    """A scan did not complete."""

    _exit_code = 69


class ScanIncompleteError(ScanError):
    """Some tasks of a run failed; the others are done and kept.

    Attributes:
        failed: The error of each failed task, by task id, which begins with its day.
        report: The `ScanReport` of the tasks that are done.
    """

    failed: dict[str, DataAccessError]
    report: ScanReport | None

    @property
    def exit_code(self) -> int:
        """75 if a task may succeed later; 65 if the data of one are wrong; else the code that all tasks have."""
        codes = {error.exit_code for error in self.failed.values()}
        if self.retryable or (len(codes) != 1 and _WRONG_DATA not in codes):
            return super().exit_code
        return _WRONG_DATA if _WRONG_DATA in codes else codes.pop()

    def _repr_html_(self) -> str:
        """The error for notebooks, with the tasks that failed."""
        from dataaccess._display.failure import error_html, failed_html

        return error_html(self, failed_html(self.failed))


class FileError(DataAccessError, OSError):
    """A file cannot be written. A file that existed before is unchanged.

    Attributes:
        errno: The error number of the operating system, such as `errno.ENOSPC`, if there is one.
        path: The file.
    """

    errno: int | None
    path: str | None

    _exit_code = 74

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles `errno` too, which an OSError keeps apart from its other fields."""
        return type(self), self.args, {**self.__dict__, "errno": self.errno}


class FolderError(ScanError):
    """The folder of a run cannot be used. Tasks that were finished before are kept.

    Attributes:
        path: The file or folder.
    """

    path: str | None

    _exit_code = 74


class FolderFileError(FolderError, FileError):
    """A file in the folder of a run cannot be written or read, for example because the disk is full. Also an `OSError`.

    Attributes:
        errno: The error number of the operating system, such as `errno.ENOSPC`, if there is one.
        path: The file.
    """

    _exit_code = 74


class FolderMismatchError(FolderError):
    """The folder belongs to a different query or service, or another version of this package wrote it.

    Attributes:
        field: The first argument that differs; `format` for another version.
    """

    field: str | None

    _exit_code = 64


class FolderCorruptError(FolderError):
    """A file in the folder of a run was changed or damaged since it was written.

    Attributes:
        day: The day of the file, as `2024-01-15`, if it has one.
    """

    day: str | None

    _exit_code = 65


class FolderLockedError(FolderError):
    """Another run uses the folder.

    Attributes:
        pid: Its process id, if known.
        host: Its machine, for a folder in an object store.
    """

    pid: int | None
    host: str | None

    _exit_code = 75
