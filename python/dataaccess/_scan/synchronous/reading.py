"""The forms that the rows of a scan or a task can take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess._core.arguments import amount
from dataaccess._scan import frames as _frames
from dataaccess._scan.asynchronous.batches import Batches
from dataaccess._scan.outcome import warn_of
from dataaccess._scan.plan import MAX_BYTES, MAX_ROWS, BaseScan, checked_table

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from dataaccess._scan.frames import DtypeBackend
    from dataaccess._scan.table import Table
    from dataaccess.types import Row


class Reading(BaseScan):
    """The forms that rows can take: each use asks the service anew."""

    def head(self, n: int = 5) -> Table:
        """The first rows.

        Args:
            n: How many, at most. 0 asks for one row to know the types, and gives none.

        Returns:
            A `Table`. The rest of the answer is not transferred where that is safe.

        Raises:
            ValidationError: `n` is no whole number from 0 on.
            DataAccessError: Any failure of `collect`.

        Example:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo")
            >>> client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).head(2)
            Table(2 rows, 1 column: id)
        """
        most = amount("n", n, 0)
        raw = self._raw.collect(max(most, 1), views=False)
        return checked_table(raw if most else raw.without_rows())

    def batches(self, max_rows: int = MAX_ROWS, max_bytes: int = MAX_BYTES) -> Batches:
        """The rows batch by batch, in bounded memory. The first requests are sent now.

        What is not taken waits at the service: a consumer may take its time. The client's `timeout` bounds the time
        to the first row of each request; one is sent again only until its rows were given, of a scan of several until
        its second batch was.

        Args:
            max_rows: Rows of a batch, at most.
            max_bytes: Size of a batch on the wire, at which it is full.

        Returns:
            An iterator of `Batch`, which ends the requests when it is closed, dropped or left by `with`.

        Raises:
            ValidationError: `max_rows` or `max_bytes` is no whole number from 1 on.
            PermissionDeniedError: The token was refused (section 7).
            StreamInterruptedError: While iterating: the answer broke off or the batches were closed before its end;
                `rows_yielded` rows were given.
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
        return checked_table(self._raw.collect(None, views=False))

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
        return checked_table(self._raw.collect(None, views=True)).to_polars()

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
        """The answer as a capsule of Arrow, read batch by batch. Another schema is not made: the types are these.

        This waits for the first batch, and Ctrl-C ends it. Later batches are pulled by the other library, without
        Python: Ctrl-C is heard when the batch it waits for is there, or its time is over. `batches` hear it at once.
        """
        return self._raw.stream_capsule()

    def __arrow_c_schema__(self) -> object:
        """The schema as a capsule of Arrow. Where only an answer tells it, the next stream is that answer.

        What was told binds that stream and no later one: each asks again, and has the types of its own answer.
        """
        return self._raw.schema_capsule()
