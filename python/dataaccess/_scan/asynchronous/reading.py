"""The forms that the rows of an asynchronous scan or task can take: as `Reading`, awaited."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

from dataaccess._core.arguments import amount
from dataaccess._scan import frames as _frames
from dataaccess._scan.asynchronous.batches import AsyncBatches
from dataaccess._scan.outcome import warn_of
from dataaccess._scan.plan import MAX_BYTES, MAX_ROWS, BaseScan, checked_table

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from dataaccess._scan.frames import DtypeBackend
    from dataaccess._scan.table import Table
    from dataaccess.types import Row

_P = ParamSpec("_P")
_T = TypeVar("_T")


class AsyncReading(BaseScan):
    """The forms that rows can take, awaited: each use asks the service anew."""

    async def head(self, n: int = 5) -> Table:
        """The first rows.

        Args:
            n: How many, at most. 0 asks for one row to know the types, and gives none.

        Returns:
            A `Table`. The rest of the answer is not transferred where that is safe.

        Raises:
            ValidationError: `n` is no whole number from 0 on.
            DataAccessError: Any failure of `collect`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> asyncio.run(client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).head(2))
            Table(2 rows, 1 column: id)
        """
        most = amount("n", n, 0)
        raw = await self._raw.collect_async(max(most, 1), views=False)
        return checked_table(raw if most else raw.without_rows())

    def batches(self, max_rows: int = MAX_ROWS, max_bytes: int = MAX_BYTES) -> AsyncBatches:
        """The rows batch by batch, in bounded memory. The first requests are sent now.

        What is not taken waits at the service: a consumer may take its time. The client's `timeout` bounds the time
        to the first row of each request; one is sent again only until its rows were given, of a scan of several until
        its second batch was.

        Args:
            max_rows: Rows of a batch, at most.
            max_bytes: Size of a batch on the wire, at which it is full.

        Returns:
            An asynchronous iterator of `Batch`, which ends the requests when it is closed, dropped or left by
            `async with`.

        Raises:
            ValidationError: `max_rows` or `max_bytes` is no whole number from 1 on.
            PermissionDeniedError: The token was refused (section 7).
            StreamInterruptedError: While iterating: the answer broke off or the batches were closed before its end;
                `rows_yielded` rows were given.
            DataAccessError: While iterating: any other failure; see `dataaccess.errors`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> scan = client.scan_codes(["id"], allocated_time=da.after("2024-01-01"))
            >>> async def main() -> int:
            ...     return max([batch.num_rows async for batch in scan.batches(max_rows=500)])
            >>> asyncio.run(main())
            500
        """
        return AsyncBatches(self._open(max_rows, max_bytes))

    async def collect(self) -> Table:
        """The whole answer in columns.

        Returns:
            A `Table`, which may be read again and again.

        Raises:
            PermissionDeniedError: The token was refused (section 7).
            DataAccessError: Any other failure; see `dataaccess.errors`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> asyncio.run(client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).collect()).column_names
            ['id']
        """
        return checked_table(await self._raw.collect_async(None, views=False))

    async def to_arrow(self) -> pa.Table:
        """The whole answer as a table of pyarrow (extra `arrow`).

        Returns:
            Columns of `string`, `int64`, `double`, `bool` and `timestamp[us]`.

        Raises:
            ImportError: pyarrow is not installed.
            DataAccessError: Any failure of `collect`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> scan = client.scan_codes(["pool_id"], allocated_time=da.on("2024-01-15"))
            >>> asyncio.run(scan.to_arrow()).schema.types
            [DataType(int64)]
        """
        _frames.optional("pyarrow", "arrow")
        return (await self.collect()).to_arrow()

    async def to_pandas(self, dtype_backend: DtypeBackend | None = None) -> pd.DataFrame:
        """The whole answer as a DataFrame of pandas (extra `pandas`).

        Args:
            dtype_backend: As pandas has it: "numpy_nullable" or "pyarrow". None is pandas' own text type, `Int64`,
                `boolean`, `float64` and `datetime64[us]`, which all have room for what is missing.

        Returns:
            A DataFrame.

        Raises:
            ImportError: pandas or pyarrow is not installed.
            DataAccessError: Any failure of `collect`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> scan = client.scan_codes(["pool_id"], allocated_time=da.on("2024-01-15"))
            >>> codes = asyncio.run(scan.to_pandas())
            >>> str(codes["pool_id"].dtype)
            'Int64'
        """
        _frames.check_pandas(dtype_backend)
        table = await self.collect()
        return await _in_thread(table.to_pandas, dtype_backend)

    async def to_polars(self) -> pl.DataFrame:
        """The whole answer as a DataFrame of polars (extra `polars`).

        Returns:
            A DataFrame, without a copy.

        Raises:
            ImportError: polars is not installed.
            DataAccessError: Any failure of `collect`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> scan = client.scan_codes(["pool_id"], allocated_time=da.on("2024-01-15"))
            >>> dict(asyncio.run(scan.to_polars()).schema)
            {'pool_id': Int64}
        """
        _frames.optional("polars", "polars")
        table = checked_table(await self._raw.collect_async(None, views=True))
        return await _in_thread(table.to_polars)

    async def to_dicts(self) -> list[Row]:
        """The whole answer as a list of dicts: exactly what the search of the same arguments returns.

        Returns:
            A list of dicts with the values as they are on the wire; `schema=` is for columns alone.

        Raises:
            DataAccessError: Any failure of `collect`.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> scan = client.scan_codes(["allocated_time"], allocated_time=da.on("2024-01-15"))
            >>> rows = asyncio.run(scan.to_dicts())
            >>> rows[0]["allocated_time"][:10]
            '2024-01-15'
        """
        rows, told = await self._raw.rows_async()
        warn_of(told)
        return rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Refused: whoever reads this does not await."""
        raise TypeError(
            "other libraries cannot await: pass them what `await scan.collect()` gives, "
            "or use `await scan.to_polars()`, `to_pandas()` or `to_arrow()`"
        )


async def _in_thread(convert: Callable[_P, _T], *arguments: _P.args, **keywords: _P.kwargs) -> _T:
    """Does what takes its time beside the loop, not in it."""
    import asyncio

    return await asyncio.to_thread(convert, *arguments, **keywords)
