"""Scans: what a search asks for, in columns. Lazy: every use asks the service again, and keeps no rows.

Made by `Client.scan_codes`, `Client.scan_items` and their like of `AsyncClient`.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from dataaccess import _frames
from dataaccess._arguments import whole
from dataaccess._batches import AsyncBatches, Batches
from dataaccess._stats import ScanStats, stats_of, warn_of
from dataaccess._table import Batch, Table
from dataaccess.filters import kept

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from dataaccess._connection import Connection
    from dataaccess._frames import DtypeBackend
    from dataaccess._native import RawScan, RawStream, RawTable
    from dataaccess._types import Row, Schema

__all__ = ["AsyncBatches", "AsyncScan", "Batch", "Batches", "Scan", "ScanStats", "Table"]

_SEARCH = "/access/api/item/search"
_MAX_ROWS = 65_536
_MAX_BYTES = 8 * 2**20

_P = ParamSpec("_P")
_T = TypeVar("_T")


class _BaseScan:
    """What both kinds of scan share: everything that does not wait."""

    _raw: RawScan

    def __init__(self, client: Connection, call: str, arguments: dict[str, Any], schema: Schema | None) -> None:
        """Checks the arguments; sends nothing."""
        self._client = client
        self._call = call
        # As they are now: an iterator can be read only once, and a list could change.
        self._arguments = {name: kept(value) for name, value in arguments.items()}
        self._schema = copy(schema)
        make = client._raw.scan_codes if call == "scan_codes" else client._raw.scan_items  # noqa: SLF001 - its other half
        self._raw = make(self._arguments, self._schema)

    @property
    def column_names(self) -> list[str]:
        """The names of its columns."""
        return self._raw.column_names

    @property
    def stats(self) -> ScanStats | None:
        """The figures of the last use whose answer was read to its end; None before."""
        told = self._raw.stats
        return None if told is None else stats_of(told)

    def explain(self) -> list[dict[str, Any]]:
        """The exact requests it sends, as dicts. Sends nothing.

        Returns:
            A list of dicts with `method`, `url` and `body`.

        Example:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> (request,) = client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).explain()
            >>> request["body"]["attrs"]
            ['id']
        """
        return [{"method": "POST", "url": self._client.base_url + _SEARCH, "body": self._raw.body}]

    def _open(self, max_rows: int, max_bytes: int) -> RawStream:
        return self._raw.open(whole("max_rows", max_rows, 1), whole("max_bytes", max_bytes, 1))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles what was asked for and the client, which never takes its token along."""
        return type(self), (self._client, self._call, self._arguments, self._schema)

    def __repr__(self) -> str:
        if not hasattr(self, "_raw"):
            # A traceback may show a scan whose arguments were refused.
            return f"{type(self).__name__}(unfinished)"
        return f"{type(self).__name__}({self._call} of {', '.join(self.column_names)}; {self._client!r})"


class Scan(_BaseScan):
    """A scan of one client: what it asks for, and every form its answer can take.

    Nothing is sent before it is used, and each use asks anew. pyarrow, polars, pandas and DuckDB read it directly:
    `pa.table(scan)`, `pl.DataFrame(scan)`, `duckdb.sql("from scan")`. They read batch by batch, and see no warnings.

    Example:
        >>> import dataaccess as da
        >>> client = da.Client("sandbox:demo")
        >>> scan = client.scan_codes(["id", "code_status"], allocated_time=da.on("2024-01-15"))
        >>> scan.to_pandas().dtypes.astype(str).to_dict()
        {'id': 'str', 'code_status': 'Int64'}
    """

    def head(self, n: int = 5) -> Table:
        """The first rows.

        Args:
            n: How many, at most.

        Returns:
            A `Table`. The rest of the answer is not transferred where that is safe.

        Example:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).head(2)
            Table(2 rows of id)
        """
        return _checked(self._raw.collect(whole("n", n, 1), views=False))

    def batches(self, max_rows: int = _MAX_ROWS, max_bytes: int = _MAX_BYTES) -> Batches:
        """The answer batch by batch, in bounded memory. The request is sent now.

        What is not taken waits at the service: a consumer may take its time. The client's `timeout` bounds the time
        to the first batch; a request is sent again only until then.

        Args:
            max_rows: Rows of a batch, at most.
            max_bytes: Size of a batch on the wire, at which it is full.

        Returns:
            An iterator of `Batch`, which closes the request when it is closed, dropped or left by `with`.

        Raises:
            PermissionDeniedError: The token was refused (section 7).
            StreamInterruptedError: While iterating: the answer broke off, `rows_yielded` rows were given.
            DataAccessError: While iterating: any other failure; see `dataaccess.errors`.

        Example:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> scan = client.scan_codes(["id"], allocated_time=da.after("2024-01-01"))
            >>> max(batch.num_rows for batch in scan.batches(max_rows=500))
            500
        """
        return Batches(self._open(max_rows, max_bytes))

    def collect(self) -> Table:
        """The whole answer in columns.

        Returns:
            A `Table`, which may be read again and again.

        Raises:
            PermissionDeniedError: The token was refused (section 7).
            DataAccessError: Any other failure; see `dataaccess.errors`.

        Example:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).collect().column_names
            ['id']
        """
        return _checked(self._raw.collect(None, views=False))

    def to_arrow(self) -> pa.Table:
        """The whole answer as a table of pyarrow (extra `arrow`).

        Returns:
            Columns of `string`, `int64`, `double`, `bool` and `timestamp[us]`.

        Raises:
            ImportError: pyarrow is not installed.
            DataAccessError: Any failure of `collect`.

        Example:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> client.scan_codes(["pool_id"], allocated_time=da.on("2024-01-15")).to_arrow().schema.types
            [DataType(int64)]
        """
        _frames.optional("pyarrow", "arrow")
        return self.collect().to_arrow()

    def to_pandas(self, dtype_backend: DtypeBackend | None = None) -> pd.DataFrame:
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
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> codes = client.scan_codes(["pool_id"], allocated_time=da.on("2024-01-15")).to_pandas()
            >>> str(codes["pool_id"].dtype)
            'Int64'
        """
        _frames.check_pandas(dtype_backend)
        return self.collect().to_pandas(dtype_backend)

    def to_polars(self) -> pl.DataFrame:
        """The whole answer as a DataFrame of polars (extra `polars`).

        Returns:
            A DataFrame, without a copy.

        Raises:
            ImportError: polars is not installed.
            DataAccessError: Any failure of `collect`.

        Example:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> dict(client.scan_codes(["pool_id"], allocated_time=da.on("2024-01-15")).to_polars().schema)
            {'pool_id': Int64}
        """
        _frames.optional("polars", "polars")
        return _checked(self._raw.collect(None, views=True)).to_polars()

    def to_dicts(self) -> list[Row]:
        """The whole answer as a list of dicts: exactly what the search of the same arguments returns.

        Returns:
            A list of dicts with the values as they are on the wire; `schema=` is for columns alone.

        Raises:
            DataAccessError: Any failure of `collect`.

        Example:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> rows = client.scan_codes(["allocated_time"], allocated_time=da.on("2024-01-15")).to_dicts()
            >>> rows[0]["allocated_time"][:10]
            '2024-01-15'
        """
        rows, told = self._raw.rows()
        warn_of(told)
        return rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The answer as a capsule of Arrow, read batch by batch. Another schema is not made: the types are these."""
        return self._raw.stream_capsule()

    def __arrow_c_schema__(self) -> object:
        """The schema as a capsule of Arrow. Where only an answer tells it, the next stream is that answer."""
        return self._raw.schema_capsule()


class AsyncScan(_BaseScan):
    """A scan of an `AsyncClient`: as `Scan`, with everything that waits to be awaited.

    Other libraries cannot await: they read what `collect` gives.

    Example:
        >>> import asyncio
        >>> import dataaccess as da
        >>> scan = da.AsyncClient("sandbox:demo").scan_codes(["pool_id"], allocated_time=da.on("2024-01-15"))
        >>> dict(asyncio.run(scan.to_polars()).schema)
        {'pool_id': Int64}
    """

    async def head(self, n: int = 5) -> Table:
        """The first rows.

        Args:
            n: How many, at most.

        Returns:
            A `Table`. The rest of the answer is not transferred where that is safe.

        Example:
            >>> import asyncio
            >>> import dataaccess as da
            >>> client = da.AsyncClient("sandbox:demo")
            >>> asyncio.run(client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).head(2))
            Table(2 rows of id)
        """
        return _checked(await self._raw.collect_async(whole("n", n, 1), views=False))

    def batches(self, max_rows: int = _MAX_ROWS, max_bytes: int = _MAX_BYTES) -> AsyncBatches:
        """The answer batch by batch, in bounded memory. The request is sent now.

        What is not taken waits at the service: a consumer may take its time. The client's `timeout` bounds the time
        to the first batch; a request is sent again only until then.

        Args:
            max_rows: Rows of a batch, at most.
            max_bytes: Size of a batch on the wire, at which it is full.

        Returns:
            An asynchronous iterator of `Batch`, which closes the request when it is closed, dropped or left by
            `async with`.

        Raises:
            PermissionDeniedError: The token was refused (section 7).
            StreamInterruptedError: While iterating: the answer broke off, `rows_yielded` rows were given.
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
        return _checked(await self._raw.collect_async(None, views=False))

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
        table = _checked(await self._raw.collect_async(None, views=True))
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


def _checked(raw: RawTable) -> Table:
    """A table; warns of what is doubtful."""
    warn_of(raw.stats)
    return Table(raw)


async def _in_thread(convert: Callable[_P, _T], *arguments: _P.args, **keywords: _P.kwargs) -> _T:
    """Does what takes its time beside the loop, not in it."""
    import asyncio

    return await asyncio.to_thread(convert, *arguments, **keywords)
