"""`Scan` and `Task`: a lazy search, and each form its rows can take."""

from __future__ import annotations

from threading import _DummyThread, current_thread
from typing import TYPE_CHECKING, NoReturn

from dataaccess._core.checks import SETTLE, boolean_argument, count, optional
from dataaccess._core.progress import follow
from dataaccess._core.secret import checked, hidden
from dataaccess._public import CLIENT_ZONE, public
from dataaccess._scan.base import BaseScan, BaseTask, asked_zone
from dataaccess._scan.batches import Batches
from dataaccess._scan.doubts import TaskDoubt, decide, on_doubt_argument
from dataaccess._scan.files import copy_into, output_path, parquet_format, text_format
from dataaccess._scan.folder import RunProgress, read_options, report_of, run_options
from dataaccess._scan.frames import check_pandas
from dataaccess._scan.interrupt import ends_at_interrupt
from dataaccess._scan.outcome import warn_of
from dataaccess._scan.table import Table, checked_table

if TYPE_CHECKING:
    from collections.abc import Generator
    from datetime import timedelta
    from typing import Literal

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from dataaccess._core.secret import StorageOptions as Hidden
    from dataaccess._scan.files import Format
    from dataaccess._types import (
        Compression,
        DtypeBackend,
        FileTarget,
        OnDoubt,
        PathArgument,
        Refresh,
        ResultZone,
        Row,
        StorageOptions,
    )
    from dataaccess.reports import FolderReport, ProgressArgument


@public
class Scan(BaseScan):
    """A lazy search: the requests, and each form its rows can take. Made by `Client.scan_codes` and `scan_items`.

    Nothing is sent before it is used, and each use sends the requests again. Up to `concurrency` requests are in flight
    at a time, and rows arrive in the order of the plan. It is not a snapshot: a row that changes between two requests
    may occur in both, or in none.

    pyarrow, polars, pandas and DuckDB read it directly, batch by batch: `pa.table(scan)`, `pl.DataFrame(scan)`,
    `duckdb.sql("from scan")`. They raise no warnings; `last_stats` has the statistics.

    Common arguments:
        tz: Time zone of timestamp columns: an IANA name or a `ZoneInfo`. By default the client's `timezone`, if it was
            set. None leaves times as the service wrote them, without a zone.
        progress: None shows a bar in notebooks and terminals after one second, True always, False never. A function
            gets a `Progress` at first, as rows arrive and after each response, in the calling thread.
        target: A path, or a `file://`, `s3://`, `gs://` or `az://` URL. The file appears only when it is complete, and
            replaces an older one then. Or a file opened in binary mode, which gets the rows once all have arrived.
        on_doubt: What happens if the data look wrong, before a file is replaced: "warn" warns and writes it, "error"
            raises `DoubtfulDataError` and keeps the older file. A function gets the `ScanStats` of every result and
            returns whether to write it, such as `lambda stats: stats.rows > 0`.
        storage_options: Credentials and options of the object store, as strings by name (`aws_endpoint_url`). By
            default those of the environment (`AWS_ACCESS_KEY_ID`).

    Common errors:
        PermissionDeniedError: The token was refused.
        ValidationError: An argument is invalid. Nothing was sent.
        FileError: The file cannot be written; also an `OSError`.
        ConfigError: The URL or an option of the store cannot be used.
        DataAccessError: Any other failure; see `dataaccess.errors`.

    Examples:
        >>> import dataaccess as da
        >>> client = da.Client("sandbox:demo?until=2024-02-29")
        >>> scan = client.scan_codes(["id", "code_status"], allocated_time=da.on("2024-01-15"))
        >>> codes = scan.to_pandas()
        >>> codes.dtypes.astype(str).to_dict()
        {'id': 'str', 'code_status': 'Int64'}
    """

    # Of the query that read the schema last.
    _ends_at_interrupt = False

    def tasks(self) -> list[Task]:
        """Returns the requests one by one, in the order of their rows. Sends nothing.

        Returns:
            A list of `Task`, which can be pickled.

        Raises:
            ValidationError: The scan has a limit, which a task on its own cannot keep.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-04-01"))
            >>> len(scan.tasks())
            91
        """
        planned = (self._raw.task(index) for index in range(self._raw.requests))
        return [Task(self._client, self._call, raw, self._schema, name, self._splits) for raw, name in planned]

    def collect(self, *, tz: ResultZone = CLIENT_ZONE, progress: ProgressArgument = None) -> Table:
        """Returns all rows as columns in memory.

        Returns:
            A `Table`, which can be read any number of times.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> table = client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).collect()
            >>> table.column_names
            ['id']
        """
        return self._collected(tz, progress, views=False)

    def head(self, n: int = 5, *, tz: ResultZone = CLIENT_ZONE) -> Table:
        """Returns the first rows. The rest of the response is not transferred once it has reported success.

        Args:
            n: Number of rows, at most. 0 requests one row to infer the types, and returns none.
            tz: See `Scan`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).head(2)
            Table(2 rows, 1 column: id)
        """
        limit = count("n", n, 0)
        raw = self._in_zone(tz).collect(max(limit, 1), views=False, on_progress=None, wait=True)
        return checked_table(raw if limit else raw.without_rows(), asked_zone(tz))

    def to_pandas(
        self,
        dtype_backend: DtypeBackend | None = None,
        *,
        tz: ResultZone = CLIENT_ZONE,
        progress: ProgressArgument = None,
    ) -> pd.DataFrame:
        """Returns all rows as a pandas DataFrame (extra `pandas`).

        Args:
            dtype_backend: As in pandas: "numpy_nullable" or "pyarrow". None is pandas' own string type, `Int64`,
                `boolean`, `float64` and `datetime64[us]`, which are all nullable.
            tz: See `Scan`.
            progress: See `Scan`.

        Raises:
            ImportError: pandas or pyarrow is not installed.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> codes = client.scan_codes(["pool_id"], allocated_time=da.on("2024-01-15")).to_pandas()
            >>> str(codes["pool_id"].dtype)
            'Int64'
        """
        check_pandas(dtype_backend)
        return self.collect(tz=tz, progress=progress).to_pandas(dtype_backend)

    def to_polars(self, *, tz: ResultZone = CLIENT_ZONE, progress: ProgressArgument = None) -> pl.DataFrame:
        """Returns all rows as a polars DataFrame (extra `polars`), without a copy.

        Raises:
            ImportError: polars is not installed.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> codes = client.scan_codes(["pool_id"], allocated_time=da.on("2024-01-15")).to_polars()
            >>> dict(codes.schema)
            {'pool_id': Int64}
        """
        optional("polars")
        return self._collected(tz, progress, views=True).to_polars()

    def to_arrow(self, *, tz: ResultZone = CLIENT_ZONE, progress: ProgressArgument = None) -> pa.Table:
        """Returns all rows as a pyarrow table (extra `arrow`).

        Returns:
            Columns of `string`, `int64`, `double`, `bool` and `timestamp[us]`.

        Raises:
            ImportError: pyarrow is not installed.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> codes = client.scan_codes(["pool_id"], allocated_time=da.on("2024-01-15")).to_arrow()
            >>> codes.schema.types
            [DataType(int64)]
        """
        optional("pyarrow")
        return self.collect(tz=tz, progress=progress).to_arrow()

    def to_dicts(self, *, progress: ProgressArgument = None) -> list[Row]:
        """Returns all rows as dicts: exactly what the search with the same arguments returns.

        Returns:
            A list of dicts with the values as the service sends them. `schema` applies to columns only.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["allocated_time"], allocated_time=da.on("2024-01-15"))
            >>> scan.to_dicts()[0]["allocated_time"][:10]
            '2024-01-15'
        """
        with follow(progress, self._call, self._progress) as report:
            rows: list[Row]
            rows, outcome = self._raw.rows(report, wait=True)
        warn_of(outcome)
        return rows

    def count(self) -> int:
        """Returns the number of rows. Sends the requests, for one attribute, and keeps no rows.

        Returns:
            The number of rows that `collect` would return now.

        Raises:
            StreamInterruptedError: The response was cut off.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> client.scan_codes(allocated_time=da.on("2024-01-15")).count()
            73
        """
        if self._splits:
            # The parts of a request replace its rows, so they are in memory.
            return len(self.collect())
        with self._counted().batches() as batches:
            return sum(len(batch) for batch in batches)

    def batches(
        self, max_rows: int | None = None, max_bytes: int | None = None, *, tz: ResultZone = CLIENT_ZONE
    ) -> Batches:
        """Returns the rows batch by batch, in bounded memory. Sends the first requests now.

        A slow consumer slows the transfer down. `timeout` bounds the time to the first row of each request. A request
        is retried until its first batch is delivered; if the scan has several requests, until its second batch is.

        Args:
            max_rows: Rows of a batch, at most. By default 8,192, or 65,536 where the first batch shows the types.
            max_bytes: Size of a batch in the response, at most. By default 2 MiB, or 8 MiB in that case.
            tz: See `Scan`.

        Returns:
            An iterator of `Batch`. Closing or dropping it, or leaving its `with` block, ends the requests.

        Raises:
            StreamInterruptedError: While iterating: the response was cut off, or the batches were closed before their
                end; `rows_yielded` rows were delivered.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["id"], allocated_time=da.after("2024-01-01"))
            >>> max([batch.num_rows for batch in scan.batches(max_rows=500)])
            500
        """
        return Batches(self._open(max_rows, max_bytes, tz), asked_zone(tz))

    def iter_rows(self, *, tz: ResultZone = CLIENT_ZONE) -> Generator[Row, None, None]:
        """Yields the rows one by one as dicts, in bounded memory.

        Yields:
            Dicts with the values of `Table.to_pylist`: a timestamp is a `datetime`.

        Raises:
            StreamInterruptedError: The response was cut off; the rows so far are not all rows.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["pool_id"], allocated_time=da.on("2024-01-15"))
            >>> len([row["pool_id"] for row in scan.iter_rows()])
            73
        """
        with self.batches(tz=tz) as batches:
            for batch in batches:
                yield from batch.to_pylist()

    def to_lazyframe(self, *, tz: ResultZone = CLIENT_ZONE) -> pl.LazyFrame:
        """Returns the rows as a polars LazyFrame (extra `polars`), whose queries request only what they read.

        Each query sends its own requests, and reads them batch by batch: `collect(engine="streaming")` and
        `sink_parquet` take more rows than fit into memory. Requested are only the columns that the query names, only
        the first rows for `head(n)` before any filter, and only the days that a filter of `allocated_time` selects by
        `==`, `<`, `>=`, `is_between` and the like, joined by `&`. polars applies all filters to the rows that come
        back, so a query returns what it would for `to_polars()`.

        Args:
            tz: See `Scan`. With a zone, `pl.col("allocated_time").dt.date() == day` selects a day of the client, in one
                request.

        Returns:
            A LazyFrame. Where types are inferred, they are those of the first batch, for which a request is sent before
            the first query; `schema` avoids it.

        Raises:
            ImportError: polars is not installed, or older than 2.0.
            ValidationError: The scan was made with `on_suspected_cap="split"`.

        Examples:
            >>> import dataaccess as da
            >>> import polars as pl
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> codes = client.scan_codes(allocated_time=da.days("2024-01-01", "2024-04-01")).to_lazyframe()
            >>> used = codes.filter(pl.col("code_status") == da.CodeStatus.USED).group_by("pool_id").len()
            >>> used.sort("pool_id").collect().rows()
            [(901, 590), (902, 608), (903, 586)]
        """
        from dataaccess._scan.lazy import Source  # for polars only

        self._check_streamed()
        return Source(self, self._in_zone_of_files(tz)).lazyframe()

    def to_parquet(
        self,
        target: FileTarget,
        *,
        tz: ResultZone = CLIENT_ZONE,
        on_doubt: OnDoubt = "warn",
        progress: ProgressArgument = None,
        storage_options: StorageOptions | None = None,
    ) -> None:
        """Writes the rows into a Parquet file (zstd), in bounded memory.

        In a scan of several requests, a response longer than a batch cannot be retried once it was cut off.
        `to_folder` can retry each request, and keeps what is done.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> client.scan_codes(allocated_time=da.on("2024-01-15")).to_parquet("codes.parquet")
        """
        storage_options = hidden(storage_options)
        self._write(target, "to_parquet", parquet_format(), tz, on_doubt, progress, storage_options)

    def to_csv(
        self,
        target: FileTarget,
        *,
        escape_formulas: bool = False,
        compression: Compression | None = "infer",
        tz: ResultZone = CLIENT_ZONE,
        on_doubt: OnDoubt = "warn",
        progress: ProgressArgument = None,
        storage_options: StorageOptions | None = None,
    ) -> None:
        """Writes the rows into a CSV file: a line of names, then a line for each row. `.tsv` files have tabs.

        CSV does not distinguish a missing value from an empty string; Parquet and JSON lines do.

        Args:
            target: See `Scan`.
            escape_formulas: Whether names and strings that a spreadsheet may run as a formula, because they begin with
                `=`, `+`, `-` or `@`, get a `'` before them. A program then reads another value.
            compression: "infer" follows the suffix of the path, `.gz` or `.zst`. "gzip", "zstd" or None are for names
                without a suffix, and for open files.
            tz: See `Scan`. A time in a zone has its offset, as in `2024-01-31 09:30:00+01:00`.
            on_doubt: See `Scan`.
            progress: See `Scan`.
            storage_options: See `Scan`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_csv("codes.csv")
        """
        storage_options = hidden(storage_options)
        escapes = boolean_argument("escape_formulas", escape_formulas)
        file_format = text_format("csv", target, compression, escapes=escapes)
        self._write(target, "to_csv", file_format, tz, on_doubt, progress, storage_options)

    def to_jsonl(
        self,
        target: FileTarget,
        *,
        compression: Compression | None = "infer",
        tz: ResultZone = CLIENT_ZONE,
        on_doubt: OnDoubt = "warn",
        progress: ProgressArgument = None,
        storage_options: StorageOptions | None = None,
    ) -> None:
        """Writes the rows into a file of JSON lines: an object for each row, with the values of `to_dicts`.

        Args:
            target: See `Scan`.
            compression: As in `to_csv`.
            tz: As in `to_csv`.
            on_doubt: See `Scan`.
            progress: See `Scan`.
            storage_options: See `Scan`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_jsonl("codes.jsonl")
        """
        storage_options = hidden(storage_options)
        file_format = text_format("jsonl", target, compression)
        self._write(target, "to_jsonl", file_format, tz, on_doubt, progress, storage_options)

    def to_folder(
        self,
        folder: PathArgument,
        *,
        settle: float | timedelta = SETTLE,
        refresh: Refresh | None = None,
        accept: Refresh | None = None,
        on_doubt: OnDoubt = "warn",
        requested_at: bool = False,
        tz: ResultZone = CLIENT_ZONE,
        same_service: bool = False,
        progress: ProgressArgument = None,
        storage_options: StorageOptions | None = None,
    ) -> FolderReport:
        """Writes each request into a Parquet file of its own. A second run requests only what has no final file.

        A scan by days makes `day=2024-01-15/part-0.parquet`: pandas, polars, DuckDB, pyarrow and Spark read the folder
        as one dataset with a column `day`. The same call with more days adds them; with fewer it reports on those.
        However a run ends, its files are kept: only the requests that were in flight are sent again. Requests that fail
        do not end the others.

        A file is final if its request was sent after its day was over, in the client's time zone, plus `settle`. Until
        then each run requests the day again: a job that was down for some nights catches up. Days of codes that have
        not begun are not requested. A scan without days is a snapshot: each run requests it anew and replaces its
        files, unless the last run was broken off, which it then completes.

        A response whose data look wrong is written with a warning, but a file of which it has less than half stays. A
        file that stayed, or for which `on_doubt` refused a response, remembers it: it is in `doubtful_days`, and each
        run requests it again, until a response is written or `accept` takes it. A refused day without a file is in
        `missing_days`.

        Args:
            folder: The folder of the files: a path, or a `file://`, `s3://`, `gs://` or `az://` URL; made if it does
                not exist. It belongs to one query: object, attributes, filters but the days, time zones, types. One
                run at a time may use it.
            settle: How long after its end the service may still change the rows of a day: a timedelta, or a number of
                days. With `settle=3` each run requests the last three days again.
            refresh: What to request again although it is final: "all", a day as "2024-01-15", `da.days(start, stop)`,
                `da.month(text)`, `da.last_days(count)`, `da.yesterday()`, or the same as text, or a list of these. A
                file is replaced when the new one is complete.
            accept: Days whose data are right although they look wrong, in the same forms: what is doubtful of them is
                requested again and written as it is. As long as the number of rows stays the same, they are no news.
            on_doubt: What happens if the data of a response look wrong, before a file replaces another: "warn" warns
                and writes it, unless it has less than half of the rows of the file, or no value in a column that has
                some; "error" lets the request fail and keeps the file. A function decides: it gets the `FileReport` of
                every response, in another thread, and returns whether it may be written, as
                `lambda file: file.rows > 0` does.
            requested_at: Whether files have a column `requested_at`, the time of the request in UTC. The newest row of
                an id can then be chosen where it moved from one day to another. A folder has it in all files or none.
            tz: See `Scan`. All files of a folder have the same one.
            same_service: Whether the folder may have files from another address, such as another name of the service.
                Synthetic rows of a sandbox are never mixed with others.
            progress: See `Scan`. A function gets a `Progress` before the first task and after each one.
            storage_options: See `Scan`.

        Returns:
            A `FolderReport` of the files of this scan.

        Raises:
            ValidationError: The scan has a limit, or an argument does not fit it.
            ConfigError: The URL or an option of the store cannot be used.
            ScanIncompleteError: Tasks failed, or their files are damaged; `failed` has their errors, and `report` has
                what is done.
            DoubtfulDataError: `on_doubt` is "error", and the result as a whole looks wrong.
            PermissionDeniedError: The token was refused: run it again with another one.
            FolderError: The folder belongs to a different query, or has rows of another service.
            FolderLockedError: Another run uses the folder.
            FileError: The disk is full, a file cannot be read, or the store refuses it; also an `OSError`.
            FolderError: The folder cannot be used, for example because others may write to it.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(allocated_time=da.days("2024-01-01", "2024-02-01"))
            >>> report = scan.to_folder("codes")
            >>> len(report.files), report.maybe_capped
            (31, False)
        """
        storage_options = hidden(storage_options)
        scan, doubt = self._in_zone_of_files(tz), TaskDoubt(on_doubt_argument(on_doubt))
        options = run_options(
            self._client,
            folder,
            storage_options,
            settle=settle,
            refresh=refresh,
            accept=accept,
            on_doubt=doubt,
            requested_at=requested_at,
            same_service=same_service,
        )
        with (
            RunProgress(self._client, options) as convert,
            follow(progress, f"run of {self._call}", lambda: convert) as report,
        ):
            result = scan.run(options, report or convert, wait=True)
        return report_of(options, result, doubt)

    def read_folder(
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
            tz: See `Scan`. None leaves times as the files have them.
            storage_options: See `Scan`.

        Returns:
            A `Table`, as `collect` returns it.

        Raises:
            ValidationError: `tz` is not a time zone.
            ScanIncompleteError: Tasks are not done; the message names their days.
            FolderError: The folder belongs to a different query.
            FolderError: A file was changed since it was written.
            ResponseError: The rows, or a file, exceed `max_result_bytes=`.
            FileError: The folder does not exist, a file cannot be read, or the store refuses it; also an
                `OSError`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
            >>> report = scan.to_folder("codes")
            >>> scan.read_folder("codes")
            Table(73 rows, 1 column: id)
        """
        storage_options = hidden(storage_options)
        raw = self._in_zone(tz).read(*read_options(folder, storage_options, missing), wait=True)
        return checked_table(raw, asked_zone(tz), is_of_files=True)

    def __iter__(self) -> NoReturn:
        """Raises a `TypeError`: `pandas.DataFrame(scan)` would lose the types."""
        raise TypeError("a scan is not iterable: write scan.to_pandas() for a DataFrame, or scan.iter_rows() for rows")

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows as an Arrow PyCapsule, read batch by batch. `requested_schema` is ignored.

        This call waits for the first batch. The other library pulls later batches without Python. Ctrl-C ends the
        requests there too, if the main thread made the stream and the program has no signal handler of its own.
        """
        self._check_streamed()
        # DuckDB asks for the schema in the thread of the query, and for the stream in any of its own.
        ends = ends_at_interrupt() or (self._ends_at_interrupt and isinstance(current_thread(), _DummyThread))
        return self._raw.stream_capsule(ends)

    def __arrow_c_schema__(self) -> object:
        """The schema as an Arrow PyCapsule. If types are inferred, this sends the request that the next stream reads.

        The schema is that of this one stream: each later one infers the types of its own responses.
        """
        self._check_streamed()
        self._ends_at_interrupt = ends_at_interrupt()
        return self._raw.schema_capsule()

    def _collected(self, tz: ResultZone, progress: ProgressArgument, *, views: bool) -> Table:
        scan = self._in_zone(tz)
        with follow(progress, self._call, self._progress) as report:
            raw = scan.collect(None, views, report, wait=True)
        return checked_table(raw, asked_zone(tz))

    def _write(
        self,
        target: FileTarget,
        method: str,
        file_format: Format,
        tz: ResultZone,
        on_doubt: object,
        progress: ProgressArgument,
        storage_options: Hidden | None,
    ) -> int:
        """Writes the rows into a file. Returns its size."""
        scan, accepted = self._in_zone_of_files(tz), on_doubt_argument(on_doubt)
        with output_path(target, method, storage_options) as (path, file):
            options = checked(storage_options)
            with follow(progress, self._call, self._progress) as report:
                outcome, unpublished = scan.write(path, file_format, options, report, wait=True)
            decide(accepted, outcome, unpublished)
            size: int = unpublished.publish(wait=True)
            if file is not None:
                copy_into(file, path)
            return size


@public
class Task(BaseTask, Scan):
    """One request of a scan, which can be pickled: for workers of Dask, Ray or multiprocessing. Made by `Scan.tasks`.

    The token is not pickled: the worker reads it where the client did, from the environment, a file or a callable.

    Attributes:
        id: Identifies the request: the same for the same request at the same position of its scan.

    Examples:
        >>> import dataaccess as da
        >>> client = da.Client("sandbox:demo?until=2024-02-29")
        >>> tasks = client.scan_codes(["id"], allocated_time=da.days("2024-01-14", "2024-01-17")).tasks()
        >>> sum([len(task.to_dicts()) for task in tasks])
        215
    """
