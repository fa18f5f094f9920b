"""The rows of an asynchronous scan or task in each form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._core.checks import count
from dataaccess._core.optional import optional
from dataaccess._core.progress import follow
from dataaccess._core.tracebacks import short_tracebacks
from dataaccess._public import CLIENT_ZONE
from dataaccess._scan.asynchronous.batches import AsyncBatches
from dataaccess._scan.frames import check_pandas
from dataaccess._scan.outcome import warn_of
from dataaccess._scan.plan import asked_zone, checked_table
from dataaccess._scan.variants import AsyncArrowSource, convert_async

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from dataaccess._scan.table import Table
    from dataaccess._types import DtypeBackend, ResultZone, Row
    from dataaccess.reports import ProgressArgument


@short_tracebacks
class AsyncReading(AsyncArrowSource):
    """Methods that return the rows as Arrow, pandas, polars, dicts or files. Each use sends the requests anew."""

    async def head(self, n: int = 5, *, tz: ResultZone = CLIENT_ZONE) -> Table:
        """Returns the first rows.

        Args:
            n: Number of rows, at most. 0 requests one row to infer the types, and returns none.
            tz: Time zone of the timestamp columns: an IANA name or a `ZoneInfo`. By default the client's `timezone`, if
                you gave it one. None leaves times as the service wrote them, without a zone.

        Returns:
            A `Table`. The rest of the response is not transferred once `code` and `status` have
            reported success.

        Raises:
            ValidationError: `n` is not an integer of at least 0, or `tz` is not a time zone.
            DataAccessError: Any failure of `collect`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> await client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).head(2)
            Table(2 rows, 1 column: id)
        """
        limit = count("n", n, 0)
        raw = await self._in_zone(tz).collect_async(max(limit, 1), views=False, on_progress=None)
        return checked_table(raw if limit else raw.without_rows(), tz)

    def batches(
        self,
        max_rows: int | None = None,
        max_bytes: int | None = None,
        *,
        tz: ResultZone = CLIENT_ZONE,
    ) -> AsyncBatches:
        """Returns the rows batch by batch, in bounded memory. Sends the first requests now.

        A slow consumer slows the transfer down (back-pressure). The client's `timeout` bounds the time to the first
        row of each request. A request is retried until its first batch is delivered; if the scan has several
        requests, until its second batch is.

        Args:
            max_rows: Rows of a batch, at most. By default 8,192, or 65,536 where the first batch shows the types.
            max_bytes: Size of a batch in the response, at most. By default 2 MiB, or 8 MiB in that case.
            tz: Time zone of the timestamp columns: an IANA name or a `ZoneInfo`. By default the client's `timezone`, if
                you gave it one. None leaves times as the service wrote them, without a zone.

        Returns:
            An asynchronous iterator of `Batch`. It ends the requests when it is closed, dropped or left by
            `async with`.

        Raises:
            ValidationError: `max_rows` or `max_bytes` is not an integer of at least 1, `tz` is not a time zone, or the
                scan was made with `on_suspected_cap="split"`.
            PermissionDeniedError: The token was refused.
            StreamInterruptedError: While iterating: the response was cut off, or the batches were closed before its
                end; `rows_yielded` rows were delivered.
            DataAccessError: While iterating: any other failure; see `dataaccess.errors`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["id"], allocated_time=da.after("2024-01-01"))
            >>> max([batch.num_rows async for batch in scan.batches(max_rows=500)])
            500
        """
        return AsyncBatches(self._open(max_rows, max_bytes, tz), asked_zone(tz))

    async def collect(self, *, tz: ResultZone = CLIENT_ZONE, progress: ProgressArgument = None) -> Table:
        """Returns all rows as columns in memory.

        Args:
            tz: Time zone of the timestamp columns: an IANA name or a `ZoneInfo`. By default the client's `timezone`, if
                you gave it one. None leaves times as the service wrote them, without a zone.
            progress: None shows a bar in notebooks and terminals after one second, True always, False never. A function
                gets a `Progress` at first, as rows arrive and after each response, in the thread of the event loop.

        Returns:
            A `Table`, which can be read any number of times.

        Raises:
            ValidationError: `tz` is not a time zone.
            PermissionDeniedError: The token was refused.
            DataAccessError: Any other failure; see `dataaccess.errors`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> table = await client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).collect()
            >>> table.column_names
            ['id']
        """
        scan = self._in_zone(tz)
        with follow(progress, self._call, self._progress) as report:
            raw = await scan.collect_async(None, views=False, on_progress=report)
        return checked_table(raw, tz)

    async def to_arrow(self, *, tz: ResultZone = CLIENT_ZONE, progress: ProgressArgument = None) -> pa.Table:
        """Returns all rows as a pyarrow table (extra `arrow`).

        Args:
            tz: Time zone of the timestamp columns: an IANA name or a `ZoneInfo`. By default the client's `timezone`, if
                you gave it one. None leaves times as the service wrote them, without a zone.
            progress: None shows a bar in notebooks and terminals after one second, True always, False never. A function
                gets a `Progress` at first, as rows arrive and after each response, in the thread of the event loop.

        Returns:
            Columns of `string`, `int64`, `double`, `bool` and `timestamp[us]`.

        Raises:
            ImportError: pyarrow is not installed.
            DataAccessError: Any failure of `collect`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["pool_id"], allocated_time=da.on("2024-01-15"))
            >>> codes = await scan.to_arrow()
            >>> codes.schema.types
            [DataType(int64)]
        """
        optional("pyarrow")
        table = await self.collect(tz=tz, progress=progress)
        return table.to_arrow()

    async def to_pandas(
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
            tz: Time zone of the timestamp columns: an IANA name or a `ZoneInfo`. By default the client's `timezone`, if
                you gave it one. None leaves times as the service wrote them, without a zone.
            progress: None shows a bar in notebooks and terminals after one second, True always, False never. A function
                gets a `Progress` at first, as rows arrive and after each response, in the thread of the event loop.

        Returns:
            A DataFrame.

        Raises:
            ImportError: pandas or pyarrow is not installed.
            DataAccessError: Any failure of `collect`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["pool_id"], allocated_time=da.on("2024-01-15"))
            >>> codes = await scan.to_pandas()
            >>> str(codes["pool_id"].dtype)
            'Int64'
        """
        check_pandas(dtype_backend)
        table = await self.collect(tz=tz, progress=progress)
        return await convert_async(table.to_pandas, dtype_backend)

    async def to_polars(self, *, tz: ResultZone = CLIENT_ZONE, progress: ProgressArgument = None) -> pl.DataFrame:
        """Returns all rows as a polars DataFrame (extra `polars`).

        Args:
            tz: Time zone of the timestamp columns: an IANA name or a `ZoneInfo`. By default the client's `timezone`, if
                you gave it one. None leaves times as the service wrote them, without a zone.
            progress: None shows a bar in notebooks and terminals after one second, True always, False never. A function
                gets a `Progress` at first, as rows arrive and after each response, in the thread of the event loop.

        Returns:
            A DataFrame, without a copy.

        Raises:
            ImportError: polars is not installed.
            DataAccessError: Any failure of `collect`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["pool_id"], allocated_time=da.on("2024-01-15"))
            >>> codes = await scan.to_polars()
            >>> dict(codes.schema)
            {'pool_id': Int64}
        """
        optional("polars")
        scan = self._in_zone(tz)
        with follow(progress, self._call, self._progress) as report:
            raw = await scan.collect_async(None, views=True, on_progress=report)
        table = checked_table(raw, tz)
        return await convert_async(table.to_polars)

    async def iter_rows(self, *, tz: ResultZone = CLIENT_ZONE) -> AsyncGenerator[Row, None]:
        """Yields the rows one by one as dicts, in bounded memory: the batches of `batches`, row by row.

        Args:
            tz: Time zone of the timestamps: an IANA name or a `ZoneInfo`. By default the client's `timezone`, if you
                gave it one. None leaves times as the service wrote them, without a zone.

        Yields:
            Dicts with the values of `Table.to_pylist`: a timestamp is a `datetime`.

        Raises:
            StreamInterruptedError: The response was cut off; the rows so far are not all rows.
            DataAccessError: Any other failure of `batches`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["pool_id"], allocated_time=da.on("2024-01-15"))
            >>> len([row["pool_id"] async for row in scan.iter_rows()])
            73
        """
        async with self.batches(tz=tz) as batches:
            async for batch in batches:
                for row in await convert_async(batch.to_pylist):
                    yield row

    async def to_dicts(self, *, progress: ProgressArgument = None) -> list[Row]:
        """Returns all rows as dicts: exactly what the search with the same arguments returns.

        Args:
            progress: None shows a bar in notebooks and terminals after one second, True always, False never. A function
                gets a `Progress` at first, as rows arrive and after each response, in the thread of the event loop.

        Returns:
            A list of dicts with the values as the service sends them; `schema=` applies to columns only.

        Raises:
            DataAccessError: Any failure of `collect`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["allocated_time"], allocated_time=da.on("2024-01-15"))
            >>> rows = await scan.to_dicts()
            >>> rows[0]["allocated_time"][:10]
            '2024-01-15'
        """
        with follow(progress, self._call, self._progress) as report:
            rows, outcome = await self._raw.rows_async(report)
        warn_of(outcome)
        return rows
