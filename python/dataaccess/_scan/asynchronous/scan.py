"""`AsyncScan` and `AsyncTask`: as `Scan` and `Task`, awaited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._scan.asynchronous.reading import AsyncReading
from dataaccess._scan.outcome import warn_of
from dataaccess._scan.plan import Planned, Single
from dataaccess.reports import ScanReport, progress_of, report_of

if TYPE_CHECKING:
    from dataaccess.types import OnProgress, PathArgument


class AsyncTask(Single, AsyncReading):
    """One request of an `AsyncScan`, as `Task`, awaited.

    Attributes:
        id: Its name: the same for the same request at the same place of its scan, whenever that is made.

    Example:
        >>> import asyncio
        >>> import dataaccess as da
        >>> async def main() -> int:
        ...     client = da.AsyncClient("sandbox:demo")
        ...     tasks = client.scan_codes(["id"], allocated_time=da.days("2024-01-14", "2024-01-17")).tasks()
        ...     return len(await asyncio.gather(*[task.to_dicts() for task in tasks]))
        >>> asyncio.run(main())
        3
    """


class AsyncScan(Planned, AsyncReading):
    """A scan of an `AsyncClient`: as `Scan`, with everything that waits to be awaited.

    Other libraries cannot await: they read what `collect` gives.

    Example:
        >>> import asyncio
        >>> import dataaccess as da
        >>> scan = da.AsyncClient("sandbox:demo").scan_codes(["pool_id"], allocated_time=da.on("2024-01-15"))
        >>> dict(asyncio.run(scan.to_polars()).schema)
        {'pool_id': Int64}
    """

    def tasks(self) -> list[AsyncTask]:
        """Its requests one by one, in the order of their rows. Sends nothing.

        Returns:
            A list of `AsyncTask`, which pickle.

        Raises:
            ValidationError: The scan has a limit, which no part of it could keep.

        Example:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-04-01"))
            >>> len(scan.tasks())
            91
        """
        return self._tasks(AsyncTask)

    async def to_parquet(self, path: PathArgument) -> None:
        """Writes the rows into a Parquet file (zstd), in bounded memory. It comes to be whole, or not at all.

        Of a scan of several requests, an answer that is longer than a batch cannot be asked for again once it broke
        off: `run` keeps what is done, and asks for each as often as need be.

        Args:
            path: Where to; a file that is there is replaced at the end.

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
        """Writes the rows into a CSV file: a line of names, then a line a row.

        An empty field is a missing value or an empty text, which CSV does not tell apart; Parquet and JSON lines do.
        A spreadsheet may take a text that begins with `=`, `+`, `-` or `@` for a formula: values are written as they
        are.

        Args:
            path: As for `to_parquet`.

        Raises:
            FileError: The file cannot be written; also an `OSError`.
            DataAccessError: Any failure of `batches`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> scan = client.scan_codes(["id", "pool_id"], allocated_time=da.on("2024-01-15"))
            >>> asyncio.run(scan.to_csv("codes.csv"))
        """
        warn_of(await self._raw.write_async(path, "csv"))

    async def to_jsonl(self, path: PathArgument) -> None:
        """Writes the rows into a file of JSON lines: an object each, with the values as `to_dicts` has them.

        Args:
            path: As for `to_parquet`.

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
        suspect_at: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> ScanReport:
        """Writes each task into a Parquet file of its own. Run again, it does only what is not done.

        The folder reads as one dataset: `pl.scan_parquet("folder/*.parquet")`. Beside the files it holds a journal of
        what is done, and it belongs to this scan alone. However a run ends, what was done is kept: at most the tasks
        that were under way are asked for again. A task is tried eight times; one that fails for good does not end the
        others.

        Args:
            folder: Where the files go; made if need be. One run at a time may use it.
            fail_fast: Whether the first task that fails for good ends the run.
            suspect_at: A number of rows at which the service is known to cut its answers.
            on_progress: Called with a `ScanProgress` before the first task and after each, in the loop's thread.

        Returns:
            A `ScanReport`.

        Raises:
            ValidationError: The scan has a limit.
            ScanIncompleteError: Tasks failed for good; `failed` has their errors and `report` what is done.
            PermissionDeniedError: The token was refused (section 7): run it again with another one.
            CheckpointMismatchError: The folder is of another scan.
            CheckpointLockedError: Another run uses the folder.
            CheckpointCorruptError: What is in the folder was changed.
            CheckpointError: The folder cannot be used, as when the disk is full or others may write to it.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> scan = client.scan_codes(allocated_time=da.days("2024-01-01", "2024-02-01"))
            >>> report = asyncio.run(scan.run("checkpoints/2024-01"))
            >>> len(report.tasks), report.complete
            (31, 'unknown')
        """
        told = None if on_progress is None else lambda update: on_progress(progress_of(update))
        return report_of(*await self._raw.run_async(folder, *self._run_options(fail_fast, suspect_at), told))
