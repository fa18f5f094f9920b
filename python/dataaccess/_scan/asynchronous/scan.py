"""Asynchronous scans and their tasks. They are lazy: each use sends the requests anew, and keeps no rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._core.progress import follow_async
from dataaccess._core.storage import hidden
from dataaccess._core.tracebacks import short_tracebacks
from dataaccess._public import CLIENT_ZONE, public
from dataaccess._scan.asynchronous.records import AsyncRecords
from dataaccess._scan.asynchronous.writing import AsyncWriting
from dataaccess._scan.doubt import TaskDoubt, on_doubt_argument
from dataaccess._scan.lazyframe import AsyncLazySource
from dataaccess._scan.plan import Single, checked_table
from dataaccess._scan.run import RunProgress, read_options, report_of, run_options

if TYPE_CHECKING:
    from datetime import timedelta
    from typing import Literal

    from dataaccess._scan.table import Table
    from dataaccess._types import OnDoubt, PathArgument, Refresh, ResultZone, StorageOptions
    from dataaccess.reports import ProgressArgument, ScanReport


@public
class AsyncTask(Single, AsyncRecords, AsyncWriting):
    """One request of a scan, picklable: for workers of Dask, Ray or multiprocessing. Made by `AsyncScan.tasks`.

    The token is not pickled: the worker gets it as the client did, from the environment, a file or a callable. Each
    use sends the request, and retries it for the client's `retry_for`.

    Attributes:
        id: Identifies the request: the same for the same request at the same position of its scan.

    Examples:
        >>> import dataaccess as da
        >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
        >>> tasks = client.scan_codes(["id"], allocated_time=da.days("2024-01-14", "2024-01-17")).tasks()
        >>> sum([len(await task.to_dicts()) for task in tasks])
        215
    """


@public
@short_tracebacks
class AsyncScan(AsyncLazySource, AsyncRecords, AsyncWriting):
    """A lazy search: the requests, and each form its rows can take. Made by `AsyncClient.scan_codes` and `scan_items`.

    Nothing is sent before it is used, and each use sends the requests anew. A scan of several requests runs up to
    `concurrency` of them at a time, and delivers rows in the order of the plan. It is not a snapshot: a row that
    changes between two requests may occur in both, or in none.

    Other libraries cannot await: pass them the result of `collect`.

    Examples:
        >>> import dataaccess as da
        >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
        >>> scan = client.scan_codes(["id", "code_status"], allocated_time=da.on("2024-01-15"))
        >>> codes = await scan.to_pandas()
        >>> codes.dtypes.astype(str).to_dict()
        {'id': 'str', 'code_status': 'Int64'}
    """

    def tasks(self) -> list[AsyncTask]:
        """Returns the requests one by one, in the order of their rows. Sends nothing.

        Returns:
            A list of `AsyncTask`, which pickle.

        Raises:
            ValidationError: The scan has a limit, which a task on its own cannot keep.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-04-01"))
            >>> len(scan.tasks())
            91
        """
        return self._tasks(AsyncTask)

    async def to_folder(
        self,
        folder: PathArgument,
        *,
        layout: Literal["days", "flat"] | None = None,
        refresh: Refresh | None = None,
        keep: Literal["final", "all"] = "final",
        settle: float | timedelta = 3600,
        on_shrink: Literal["keep", "replace", "error"] = "keep",
        on_doubt: OnDoubt = "warn",
        requested_at: bool = False,
        tz: ResultZone = CLIENT_ZONE,
        same_service: bool = False,
        private: bool = False,
        fail_fast: bool = False,
        progress: ProgressArgument = None,
        storage_options: StorageOptions | None = None,
    ) -> ScanReport:
        """Writes each task into a Parquet file of its own. A second run runs only tasks without a final file.

        A scan by days makes `day=2024-01-15/part-0.parquet`: pandas, polars, DuckDB, pyarrow and Spark read the folder
        as one dataset with a column `day`. The same call with more days adds them; with fewer it reports on those.
        However a run ends, finished tasks are kept: only the tasks that were in flight are requested again. Tasks that
        fail do not end the others.

        A file is final if its request was sent after its day was over, in the client's time zone, plus `settle`. Until
        then each run requests the day again, and `open_days` of the report names it. Days of codes that have not begun
        are not requested. A scan without days is a snapshot: each run requests it anew and replaces its files, unless
        the last run was broken off, which it then completes.

        Args:
            folder: The folder of the files: a path, or a `file://`, `s3://`, `gs://` or `az://` URL; made if it does
                not exist. It belongs to one query: object, attributes, filters but the days, time zones, types. One
                run at a time may use it.
            layout: "days" names files by day, "flat" by number, which fixes the days. None is "days" where each request
                is for one day.
            refresh: What to request again although it is done: "last 3 days" of the scan, a day as "2024-01-15",
                "2024-01-15 to 2024-01-20", `da.days(start, stop)`, `da.month(text)`, `da.last_days(count)`,
                `da.yesterday()`, "older than 7 days", "requested before 2024-02-01T06:00", "1/30" (the oldest
                thirtieth, so that thirty runs refresh all), "all", or a list of these. A file is replaced when the new
                one is complete; `rows_changed` of the report counts the rows that are new, changed or gone.
            keep: "final" requests again what is not final, and all of a scan without days. "all" requests only tasks
                without a file.
            settle: Seconds, or a timedelta, for which the service may still add rows to a day that is over.
            on_shrink: What happens to a file that is requested again, if the response has less than half of its rows,
                or no value in a column that has some: "keep" keeps it in doubt, emits a `ShrunkWarning` and requests it
                again in the next run, "replace" replaces it unless `on_doubt` refuses, "error" keeps it and lets the
                task fail.
            on_doubt: What happens if the data of a task look wrong, before its file replaces another: "warn" warns and
                writes it, "error" lets the task fail and keeps the file. A function decides: it gets the `TaskReport`
                of every response, in another thread, and returns whether it may be written, as
                `lambda task: task.rows > 0` does.
            requested_at: Whether files have a column `requested_at`, the time of the request in UTC. The newest row of
                an id can then be chosen where it moved from one day to another. A folder has it in all files or none.
            tz: Time zone of the timestamp columns: an IANA name or a `ZoneInfo`. By default the client's `timezone`, if
                you gave it one. None leaves times as the service wrote them, without a zone. All files of a folder have
                the same one.
            same_service: Whether the folder may have files from another address, such as another name of the service.
                Synthetic rows of a sandbox are never mixed with others.
            private: Whether only you may read what is written; otherwise the umask decides.
            fail_fast: Whether the first task that fails ends the run.
            progress: None shows a bar in notebooks and terminals after one second, True always, False never. A function
                gets a `Progress` before the first task and after each one, in the thread of the event loop.
            storage_options: Credentials and options of the object store, as text by name (`aws_endpoint_url`); those
                of the environment (`AWS_ACCESS_KEY_ID`) otherwise.

        Returns:
            A `ScanReport` of the tasks of this scan.

        Raises:
            ValidationError: The scan has a limit, or an argument does not fit it.
            ConfigError: The URL or an option of the store cannot be used.
            ScanIncompleteError: Tasks failed, or their files are damaged; `failed` has their errors, and `report` has
                what is done.
            DoubtfulDataError: `on_doubt` is "error", and the result as a whole looks wrong.
            PermissionDeniedError: The token was refused: run it again with another one.
            FolderError: The folder belongs to a different query, has rows of another service, or cannot be used, for
                example because others may write to it.
            FolderLockedError: Another run uses the folder.
            FileError: The disk is full, a file cannot be read, or the store refuses it; also an `OSError`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(allocated_time=da.days("2024-01-01", "2024-02-01"))
            >>> report = await scan.to_folder("codes")
            >>> len(report.tasks), report.maybe_capped
            (31, False)
        """
        storage_options = hidden(storage_options)
        scan = self._in_zone_of_files(tz)
        doubt = TaskDoubt(on_doubt_argument(on_doubt), on_shrink)
        options = run_options(
            self._client,
            folder,
            storage_options,
            layout=layout,
            refresh=refresh,
            keep=keep,
            settle=settle,
            on_shrink=on_shrink,
            on_doubt=doubt,
            requested_at=requested_at,
            same_service=same_service,
            private=private,
            fail_fast=fail_fast,
        )
        with (
            RunProgress(self._client, options) as convert,
            follow_async(progress, f"run of {self._call}", lambda: convert, self._waits_for) as report,
        ):
            result = await scan.run_async(options, report or convert)
        return report_of(options, self._raw, result, doubt)

    async def read_folder(
        self,
        folder: PathArgument,
        *,
        missing: Literal["raise", "ignore"] = "raise",
        tz: ResultZone = CLIENT_ZONE,
        storage_options: StorageOptions | None = None,
    ) -> Table:
        """Reads the rows of this scan from a folder that `to_folder` wrote. Sends nothing.

        Every file is compared with its checksum. The folder may hold other days, which are not read.

        Args:
            folder: The folder.
            missing: "ignore" reads the days (or tasks) that the folder has, although others of the scan are not done.
            tz: Time zone of the timestamp columns: an IANA name or a `ZoneInfo`. By default the client's `timezone`, if
                you gave it one. None leaves times as the files have them.
            storage_options: As in `to_folder`.

        Returns:
            A `Table`, as `collect` returns it.

        Raises:
            ValidationError: `tz` is not a time zone.
            ScanIncompleteError: Tasks are not done; the message names their days.
            FolderError: The folder belongs to a different query, or a file was changed since it was written.
            ResponseError: The rows, or a file, exceed `max_result_bytes`.
            FileError: The folder does not exist, a file cannot be read, or the store refuses it; also an
                `OSError`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
            >>> report = await scan.to_folder("codes")
            >>> await scan.read_folder("codes")
            Table(73 rows, 1 column: id)
        """
        storage_options = hidden(storage_options)
        scan, arguments = self._in_zone(tz), read_options(folder, storage_options, missing)
        return checked_table(await scan.read_async(*arguments), tz, is_of_files=True)
