"""Scans: what a search asks for, in one request or hundreds. Lazy: every use asks the service again, and keeps no rows.

Made by `Client.scan_codes`, `Client.scan_items` and their like of `AsyncClient`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._scan.asynchronous.batches import AsyncBatches, Batches
from dataaccess._scan.asynchronous.scan import AsyncScan, AsyncTask
from dataaccess._scan.outcome import ScanStats, warn_of
from dataaccess._scan.plan import Planned, Single
from dataaccess._scan.synchronous.reading import Reading
from dataaccess._scan.table import Batch, Table
from dataaccess.reports import ScanProgress, ScanReport, TaskReport, progress_of, report_of

if TYPE_CHECKING:
    from dataaccess.types import OnProgress, PathArgument

__all__ = [
    "AsyncBatches",
    "AsyncScan",
    "AsyncTask",
    "Batch",
    "Batches",
    "Scan",
    "ScanProgress",
    "ScanReport",
    "ScanStats",
    "Table",
    "Task",
    "TaskReport",
]


class Task(Single, Reading):
    """One request of a scan: what an engine hands to its workers. Made by `Scan.tasks`.

    It is as small as its request, and pickles without the token: the other side looks it up as the client did. Each use
    asks the service, up to eight times where it fails. Other libraries read it as they read a scan.

    Attributes:
        id: Its name: the same for the same request at the same place of its scan, whenever that is made.

    Example:
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> import dataaccess as da
        >>> scan = da.Client("sandbox:demo").scan_codes(["id"], allocated_time=da.days("2024-01-14", "2024-01-17"))
        >>> with ThreadPoolExecutor() as pool:
        ...     counts = list(pool.map(lambda task: len(task.to_dicts()), scan.tasks()))
        >>> len(counts), sum(counts) == len(scan.to_dicts())
        (3, True)
    """


class Scan(Planned, Reading):
    """A scan of one client: what it asks for, and every form its rows can take.

    Nothing is sent before it is used, and each use asks anew. Where it takes several requests, as many as the client's
    `concurrency` are under way at a time, and rows come in the order of the plan. It is no snapshot: a row that changes
    between two requests may be in both, or in none.

    pyarrow, polars, pandas and DuckDB read it directly: `pa.table(scan)`, `pl.DataFrame(scan)`,
    `duckdb.sql("from scan")`. They read batch by batch; of what is doubtful in the answers nothing warns then, but
    `stats` has the figures.

    Example:
        >>> import dataaccess as da
        >>> client = da.Client("sandbox:demo")
        >>> scan = client.scan_codes(["id", "code_status"], allocated_time=da.on("2024-01-15"))
        >>> scan.to_pandas().dtypes.astype(str).to_dict()
        {'id': 'str', 'code_status': 'Int64'}
    """

    def tasks(self) -> list[Task]:
        """Its requests one by one, in the order of their rows. Sends nothing.

        Returns:
            A list of `Task`, which pickle.

        Raises:
            ValidationError: The scan has a limit, which no part of it could keep.

        Example:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-04-01"))
            >>> len(scan.tasks())
            91
        """
        return self._tasks(Task)

    def to_parquet(self, path: PathArgument) -> None:
        """Writes the rows into a Parquet file (zstd), in bounded memory. It comes to be whole, or not at all.

        Of a scan of several requests, an answer that is longer than a batch cannot be asked for again once it broke
        off: `run` keeps what is done, and asks for each as often as need be.

        Args:
            path: Where to; a file that is there is replaced at the end.

        Raises:
            FileError: The file cannot be written; also an `OSError`.
            DataAccessError: Any failure of `batches`.

        Example:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> client.scan_codes(allocated_time=da.on("2024-01-15")).to_parquet("codes.parquet")
        """
        warn_of(self._raw.write(path, "parquet"))

    def to_csv(self, path: PathArgument) -> None:
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
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> client.scan_codes(["id", "pool_id"], allocated_time=da.on("2024-01-15")).to_csv("codes.csv")
        """
        warn_of(self._raw.write(path, "csv"))

    def to_jsonl(self, path: PathArgument) -> None:
        """Writes the rows into a file of JSON lines: an object each, with the values as `to_dicts` has them.

        Args:
            path: As for `to_parquet`.

        Raises:
            FileError: The file cannot be written; also an `OSError`.
            DataAccessError: Any failure of `batches`.

        Example:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_jsonl("codes.jsonl")
        """
        warn_of(self._raw.write(path, "jsonl"))

    def run(
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
            on_progress: Called with a `ScanProgress` before the first task and after each, in the thread that waits.

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
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> scan = client.scan_codes(allocated_time=da.days("2024-01-01", "2024-02-01"))
            >>> report = scan.run("checkpoints/2024-01")
            >>> len(report.tasks), report.complete
            (31, 'unknown')
        """
        told = None if on_progress is None else lambda update: on_progress(progress_of(update))
        return report_of(*self._raw.run(folder, *self._run_options(fail_fast, suspect_at), told))
