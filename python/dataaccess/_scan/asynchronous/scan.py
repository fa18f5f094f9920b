"""Asynchronous scans and their tasks. They are lazy: each use sends the requests anew, and keeps no rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._public import public
from dataaccess._scan.asynchronous.reading import AsyncReading
from dataaccess._scan.outcome import progress_of, report_of, warn_of
from dataaccess._scan.plan import Planned, Single

if TYPE_CHECKING:
    from dataaccess.reports import ScanReport
    from dataaccess.types import OnProgress, PathArgument


@public
class AsyncTask(Single, AsyncReading):
    """One request of a scan, picklable: for workers of Dask, Ray or multiprocessing. Made by `AsyncScan.tasks`.

    The token is not pickled: the worker gets it as the client did, from the environment, a file or a callable. Each
    use sends the request, and retries it for the client's `retry_for`.

    Attributes:
        id: Identifies the request: the same for the same request at the same position of its scan.

    Example:
        >>> import asyncio
        >>> import dataaccess as da
        >>> async def main() -> int:
        ...     client = da.AsyncClient("sandbox:demo")
        ...     tasks = client.scan_codes(["id"], allocated_time=da.days("2024-01-14", "2024-01-17")).tasks()
        ...     return sum([len(await task.to_dicts()) for task in tasks])
        >>> asyncio.run(main())
        215
    """


@public
class AsyncScan(Planned, AsyncReading):
    """A lazy search: the requests, and each form its rows can take. Made by `AsyncClient.scan_codes` and `scan_items`.

    Nothing is sent before it is used, and each use sends the requests anew. A scan of several requests runs up to
    `concurrency` of them at a time, and delivers rows in the order of the plan. It is not a snapshot: a row that
    changes between two requests may occur in both, or in none.

    Other libraries cannot await: pass them the result of `collect`.

    Example:
        >>> import asyncio
        >>> import dataaccess as da
        >>> client = da.AsyncClient("sandbox:demo")
        >>> scan = client.scan_codes(["id", "code_status"], allocated_time=da.on("2024-01-15"))
        >>> asyncio.run(scan.to_pandas()).dtypes.astype(str).to_dict()
        {'id': 'str', 'code_status': 'Int64'}
    """

    def tasks(self) -> list[AsyncTask]:
        """Returns the requests one by one, in the order of their rows. Sends nothing.

        Returns:
            A list of `AsyncTask`, which pickle.

        Raises:
            ValidationError: The scan has a limit, which a task on its own cannot keep.

        Example:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-04-01"))
            >>> len(scan.tasks())
            91
        """
        return self._tasks(AsyncTask)

    async def to_parquet(self, path: PathArgument) -> None:
        """Writes the rows into a Parquet file (zstd), in bounded memory. Atomic: the file appears only when complete.

        In a scan of several requests, a response longer than a batch cannot be retried once it was cut off. `run`
        can retry each request, and keeps what is done.

        Args:
            path: The file; an existing one is replaced at the end.

        Raises:
            FileError: The file cannot be written; also an `OSError`.
            DataAccessError: Any failure of `batches`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> asyncio.run(client.scan_codes(allocated_time=da.on("2024-01-15")).to_parquet("codes.parquet"))
        """
        warn_of(await self._raw.write_async(path, "parquet"))

    async def to_csv(self, path: PathArgument) -> None:
        """Writes the rows into a CSV file: a line of names, then one line per row.

        CSV does not distinguish a missing value from an empty string; Parquet and JSON lines do. A spreadsheet may
        take a string that begins with `=`, `+`, `-` or `@` for a formula: values are written as they are.

        Args:
            path: The file; an existing one is replaced at the end.

        Raises:
            FileError: The file cannot be written; also an `OSError`.
            DataAccessError: Any failure of `batches`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> asyncio.run(client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_csv("codes.csv"))
        """
        warn_of(await self._raw.write_async(path, "csv"))

    async def to_jsonl(self, path: PathArgument) -> None:
        """Writes the rows into a file of JSON lines: one object per row, with the values of `to_dicts`.

        Args:
            path: The file; an existing one is replaced at the end.

        Raises:
            FileError: The file cannot be written; also an `OSError`.
            DataAccessError: Any failure of `batches`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> asyncio.run(client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_jsonl("codes.jsonl"))
        """
        warn_of(await self._raw.write_async(path, "jsonl"))

    async def run(
        self,
        folder: PathArgument,
        *,
        fail_fast: bool = False,
        known_row_cap: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> ScanReport:
        """Writes each task into a Parquet file of its own. A second run resumes: it runs only the open tasks.

        The folder reads as one dataset: `pl.scan_parquet("folder/*.parquet")`. It also holds a journal of the tasks
        that are done, and belongs to this scan alone. However a run ends, finished tasks are kept: only the tasks
        that were in flight are requested again. A task is retried up to seven times; one that fails permanently does
        not end the others.

        Args:
            folder: The folder of the files; made if it does not exist. One run at a time may use it.
            fail_fast: Whether the first task that fails permanently ends the run.
            known_row_cap: A number of rows at which the service is known to cap responses.
            on_progress: Called with a `ScanProgress` before the first task and after each one, in the thread of the
                event loop.

        Returns:
            A `ScanReport`.

        Raises:
            ValidationError: The scan has a limit.
            ScanIncompleteError: Tasks failed permanently; `failed` has their errors and `report` what is done.
            PermissionDeniedError: The token was refused: run it again with another one.
            CheckpointMismatchError: The folder belongs to a different scan.
            CheckpointLockedError: Another run uses the folder.
            CheckpointCorruptError: A file in the folder was changed.
            CheckpointError: The folder cannot be used, for example because the disk is full or others may write to
                it.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> scan = client.scan_codes(allocated_time=da.days("2024-01-01", "2024-02-01"))
            >>> report = asyncio.run(scan.run("checkpoints/2024-01"))
            >>> len(report.tasks), report.maybe_capped
            (31, False)
        """
        callback = None if on_progress is None else lambda update: on_progress(progress_of(update))
        return report_of(*await self._raw.run_async(folder, *self._run_options(fail_fast, known_row_cap), callback))
