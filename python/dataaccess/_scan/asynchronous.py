"""`AsyncScan`, `AsyncTask` and `AsyncBatches`: the methods of `Scan`, `Task` and `Batches`, awaited."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NoReturn, Self

from dataaccess._core.checks import SETTLE, boolean_argument, count, optional
from dataaccess._core.progress import follow
from dataaccess._core.secret import checked, hidden
from dataaccess._core.updates import awaited
from dataaccess._public import CLIENT_ZONE, public
from dataaccess._scan.base import BaseScan, BaseTask, asked_zone
from dataaccess._scan.batches import BaseBatches
from dataaccess._scan.doubts import TaskDoubt, decide, on_doubt_argument
from dataaccess._scan.files import copy_into, output_path, parquet_format, text_format
from dataaccess._scan.folder import RunProgress, read_options, report_of, run_options
from dataaccess._scan.frames import check_pandas
from dataaccess._scan.outcome import warn_of
from dataaccess._scan.table import checked_table

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from datetime import timedelta
    from typing import Any, Literal, TypeVar

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from dataaccess._core.secret import StorageOptions as Hidden
    from dataaccess._scan.batches import Batch
    from dataaccess._scan.files import Format
    from dataaccess._scan.table import Table
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

    T = TypeVar("T")


@public
class AsyncBatches(BaseBatches):
    """The batches of an `AsyncScan`: an asynchronous iterator, and a context manager that closes it.

    Tasks of asyncio may share it: each batch goes to one of them.
    """

    async def close(self) -> None:
        """As `Batches.close`, awaited."""
        self._raw.close()

    aclose = close  # for `contextlib.aclosing`

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Batch:
        """As `Batches.__next__`, awaited. A task that is cancelled here has taken no batch."""
        while (raw := self._raw.next(0.0)) is None and not self._raw.ended:
            await self._raw.ready()
        batch = self._taken(raw)
        if batch is None:
            raise StopAsyncIteration
        return batch


@public
class AsyncScan(BaseScan):
    """As `Scan`, awaited. Made by `AsyncClient.scan_codes` and `scan_items`.

    Other libraries cannot await: pass them the result of `collect`.

    Examples:
        >>> import dataaccess as da
        >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
        >>> scan = client.scan_codes(["id", "code_status"], allocated_time=da.on("2024-01-15"))
        >>> codes = await scan.to_pandas()
        >>> len(codes)
        73
    """

    def tasks(self) -> list[AsyncTask]:
        """As `Scan.tasks`."""
        planned = (self._raw.task(index) for index in range(self._raw.requests))
        return [AsyncTask(self._client, self._call, raw, self._schema, name, self._splits) for raw, name in planned]

    async def collect(self, *, tz: ResultZone = CLIENT_ZONE, progress: ProgressArgument = None) -> Table:
        """As `Scan.collect`, awaited."""
        return await self._collected(tz, progress, views=False)

    async def head(self, n: int = 5, *, tz: ResultZone = CLIENT_ZONE) -> Table:
        """As `Scan.head`, awaited."""
        limit = count("n", n, 0)
        raw = await self._in_zone(tz).collect(max(limit, 1), views=False, on_progress=None, wait=False)
        return checked_table(raw if limit else raw.without_rows(), asked_zone(tz))

    async def to_pandas(
        self,
        dtype_backend: DtypeBackend | None = None,
        *,
        tz: ResultZone = CLIENT_ZONE,
        progress: ProgressArgument = None,
    ) -> pd.DataFrame:
        """As `Scan.to_pandas`, awaited."""
        check_pandas(dtype_backend)
        table = await self.collect(tz=tz, progress=progress)
        return await _in_thread(table.to_pandas, dtype_backend)

    async def to_polars(self, *, tz: ResultZone = CLIENT_ZONE, progress: ProgressArgument = None) -> pl.DataFrame:
        """As `Scan.to_polars`, awaited."""
        optional("polars")
        table = await self._collected(tz, progress, views=True)
        return await _in_thread(table.to_polars)

    async def to_arrow(self, *, tz: ResultZone = CLIENT_ZONE, progress: ProgressArgument = None) -> pa.Table:
        """As `Scan.to_arrow`, awaited."""
        optional("pyarrow")
        return (await self.collect(tz=tz, progress=progress)).to_arrow()

    async def to_dicts(self, *, progress: ProgressArgument = None) -> list[Row]:
        """As `Scan.to_dicts`, awaited."""
        with follow(progress, self._call, self._progress) as report:
            rows: list[Row]
            rows, outcome = await awaited(partial(self._raw.rows, wait=False), report)
        warn_of(outcome)
        return rows

    async def count(self) -> int:
        """As `Scan.count`, awaited."""
        if self._splits:
            return len(await self.collect())
        async with self._counted().batches() as batches:
            return sum([len(batch) async for batch in batches])

    def batches(
        self, max_rows: int | None = None, max_bytes: int | None = None, *, tz: ResultZone = CLIENT_ZONE
    ) -> AsyncBatches:
        """As `Scan.batches`: write `async for` and `async with`."""
        return AsyncBatches(self._open(max_rows, max_bytes, tz), asked_zone(tz))

    async def iter_rows(self, *, tz: ResultZone = CLIENT_ZONE) -> AsyncGenerator[Row, None]:
        """As `Scan.iter_rows`: write `async for`."""
        async with self.batches(tz=tz) as batches:
            async for batch in batches:
                for row in await _in_thread(batch.to_pylist):
                    yield row

    async def to_parquet(
        self,
        target: FileTarget,
        *,
        tz: ResultZone = CLIENT_ZONE,
        on_doubt: OnDoubt = "warn",
        progress: ProgressArgument = None,
        storage_options: StorageOptions | None = None,
    ) -> None:
        """As `Scan.to_parquet`, awaited."""
        storage_options = hidden(storage_options)
        await self._write(target, "to_parquet", parquet_format(), tz, on_doubt, progress, storage_options)

    async def to_csv(
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
        """As `Scan.to_csv`, awaited."""
        storage_options = hidden(storage_options)
        escapes = boolean_argument("escape_formulas", escape_formulas)
        file_format = text_format("csv", target, compression, escapes=escapes)
        await self._write(target, "to_csv", file_format, tz, on_doubt, progress, storage_options)

    async def to_jsonl(
        self,
        target: FileTarget,
        *,
        compression: Compression | None = "infer",
        tz: ResultZone = CLIENT_ZONE,
        on_doubt: OnDoubt = "warn",
        progress: ProgressArgument = None,
        storage_options: StorageOptions | None = None,
    ) -> None:
        """As `Scan.to_jsonl`, awaited."""
        storage_options = hidden(storage_options)
        file_format = text_format("jsonl", target, compression)
        await self._write(target, "to_jsonl", file_format, tz, on_doubt, progress, storage_options)

    async def to_folder(
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
        """As `Scan.to_folder`, awaited."""
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
            result = await awaited(partial(scan.run, options, wait=False), report or convert)
        return report_of(options, result, doubt)

    async def read_folder(
        self,
        folder: PathArgument,
        *,
        missing: Literal["raise", "ignore"] = "raise",
        tz: ResultZone = CLIENT_ZONE,
        storage_options: StorageOptions | None = None,
    ) -> Table:
        """As `Scan.read_folder`, awaited."""
        storage_options = hidden(storage_options)
        raw = await self._in_zone(tz).read(*read_options(folder, storage_options, missing), wait=False)
        return checked_table(raw, asked_zone(tz), is_of_files=True)

    def __iter__(self) -> NoReturn:
        """Raises a `TypeError`: `pandas.DataFrame(scan)` would lose the types."""
        raise TypeError("an AsyncScan is not iterable: write `await scan.to_pandas()`, or `async for` of iter_rows()")

    def __arrow_c_stream__(self, requested_schema: object = None) -> NoReturn:
        """Raises a `TypeError`."""
        raise TypeError("other libraries cannot await: pass them the result of `await scan.collect()`")

    async def _collected(self, tz: ResultZone, progress: ProgressArgument, *, views: bool) -> Table:
        scan = self._in_zone(tz)
        with follow(progress, self._call, self._progress) as report:
            raw = await awaited(partial(scan.collect, None, views, wait=False), report)
        return checked_table(raw, asked_zone(tz))

    async def _write(
        self,
        target: FileTarget,
        method: str,
        file_format: Format,
        tz: ResultZone,
        on_doubt: object,
        progress: ProgressArgument,
        storage_options: Hidden | None,
    ) -> int:
        scan, accepted = self._in_zone_of_files(tz), on_doubt_argument(on_doubt)
        with output_path(target, method, storage_options) as (path, file):
            options = checked(storage_options)
            with follow(progress, self._call, self._progress) as report:
                call = partial(scan.write, path, file_format, options, wait=False)
                outcome, unpublished = await awaited(call, report)
            decide(accepted, outcome, unpublished)
            size: int = await unpublished.publish(wait=False)
            if file is not None:
                await _in_thread(copy_into, file, path)
            return size


@public
class AsyncTask(BaseTask, AsyncScan):
    """As `Task`, awaited. Made by `AsyncScan.tasks`."""


async def _in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """Converts columns in another thread, so that the event loop stays free."""
    from asyncio import to_thread  # not loaded with the names of the package

    return await to_thread(function, *arguments)
