"""`Batch` and `Table`: rows in columns of Arrow, ready for other libraries."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from dataaccess._scan import frames as _frames
from dataaccess._scan.outcome import ScanStats, stats_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from dataaccess._native import RawBatch, RawTable
    from dataaccess._scan.frames import DtypeBackend
    from dataaccess.types import Row

_SHOWN = 10
_NAMED = 12


class _Rows:
    """What a batch and a table share."""

    __slots__ = ("_raw",)

    _raw: Any

    @property
    def num_rows(self) -> int:
        """How many rows it has."""
        rows: int = self._raw.num_rows
        return rows

    @property
    def column_names(self) -> list[str]:
        """The names of its columns."""
        names: list[str] = self._raw.column_names
        return names

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns it has."""
        return self.num_rows, len(self.column_names)

    @property
    def schema(self) -> dict[str, str]:
        """The types of its columns by their names, as the `schema=` of a scan takes them."""
        return dict(self._raw.types)

    def to_dicts(self) -> list[Row]:
        """The rows as dicts, with the values of the columns as plain Python.

        Returns:
            A list of dicts. A time is a text `YYYY-MM-DD HH:MM:SS`, JSON is what it says.

        Example:
            >>> import dataaccess as da
            >>> scan = da.Client("sandbox:demo").scan_codes(["date_created"], allocated_time=da.on("2024-01-15"))
            >>> scan.head(1).to_dicts()
            [{'date_created': '2023-12-...'}]
        """
        rows: list[Row] = self._raw.to_dicts(None)
        return rows

    def to_pandas(self, dtype_backend: DtypeBackend | None = None) -> pd.DataFrame:
        """A DataFrame of pandas (extra `pandas`).

        Args:
            dtype_backend: As for `Scan.to_pandas`.

        Returns:
            A DataFrame with the types of `Scan.to_pandas`.

        Raises:
            ImportError: pandas or pyarrow is not installed.

        Example:
            >>> import dataaccess as da
            >>> scan = da.Client("sandbox:demo").scan_codes(["pool_id"], allocated_time=da.on("2024-01-15"))
            >>> str(scan.head().to_pandas()["pool_id"].dtype)
            'Int64'
        """
        return _frames.to_pandas(self, dtype_backend)  # type: ignore[arg-type] # each has one of the two protocols

    def to_polars(self) -> pl.DataFrame:
        """A DataFrame of polars (extra `polars`).

        Returns:
            A DataFrame.

        Raises:
            ImportError: polars is not installed.

        Example:
            >>> import dataaccess as da
            >>> scan = da.Client("sandbox:demo").scan_codes(["pool_id"], allocated_time=da.on("2024-01-15"))
            >>> dict(scan.head().to_polars().schema)
            {'pool_id': Int64}
        """
        return _frames.to_polars(self)  # type: ignore[arg-type] # likewise

    def __arrow_c_schema__(self) -> object:
        """The schema as a capsule of Arrow."""
        return self._raw.schema_capsule()

    def __len__(self) -> int:
        """How many rows it has."""
        return self.num_rows

    def __repr__(self) -> str:
        rows, columns = self.shape
        counts = f"{_count(rows, 'row')}, {_count(columns, 'column')}"
        return f"{type(self).__name__}({counts}: {in_short(self.column_names)})"


class Batch(_Rows):
    """Some rows of a scan. Any library that takes Arrow takes it as it is.

    Example:
        >>> import dataaccess as da
        >>> scan = da.Client("sandbox:demo").scan_codes(["id"], allocated_time=da.on("2024-01-15"))
        >>> next(scan.batches(max_rows=50))
        Batch(50 rows, 1 column: id)
    """

    __slots__ = ()

    def __init__(self, raw: RawBatch) -> None:
        """Made by `Scan.batches`."""
        self._raw = raw

    def to_arrow(self) -> pa.RecordBatch:
        """A record batch of pyarrow (extra `arrow`), without a copy.

        Returns:
            A record batch.

        Raises:
            ImportError: pyarrow is not installed.

        Example:
            >>> import dataaccess as da
            >>> scan = da.Client("sandbox:demo").scan_codes(["id"], allocated_time=da.on("2024-01-15"))
            >>> next(scan.batches(max_rows=50)).to_arrow().num_rows
            50
        """
        return _frames.optional("pyarrow", "arrow").record_batch(self)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """The columns as capsules of Arrow. Another schema is not made: the types are these."""
        capsules: tuple[object, object] = self._raw.array_capsules()
        return capsules


class Table(_Rows):
    """A whole answer in columns, made by `Scan.collect`. It may be read again and again.

    Example:
        >>> import dataaccess as da
        >>> scan = da.Client("sandbox:demo").scan_codes(["id", "pool_id"], allocated_time=da.on("2024-01-15"))
        >>> scan.collect()
        Table(73 rows, 2 columns: id, pool_id)
    """

    __slots__ = ()

    def __init__(self, raw: RawTable) -> None:
        """Made by `Scan.collect`."""
        self._raw = raw

    @property
    def stats(self) -> ScanStats:
        """The figures of the answer."""
        return stats_of(self._raw.stats)

    def to_arrow(self) -> pa.Table:
        """A table of pyarrow (extra `arrow`), without a copy.

        Returns:
            A table.

        Raises:
            ImportError: pyarrow is not installed.

        Example:
            >>> import dataaccess as da
            >>> scan = da.Client("sandbox:demo").scan_codes(["id"], allocated_time=da.on("2024-01-15"))
            >>> scan.collect().to_arrow().column_names
            ['id']
        """
        return _frames.to_arrow(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The columns as a capsule of Arrow. Another schema is not made: the types are these."""
        return self._raw.stream_capsule()

    def _repr_html_(self) -> str:
        """The first rows, for notebooks."""
        head = "".join(f"<th>{escape(name)}</th>" for name in self.column_names)
        rows = "".join(f"<tr>{_cells(row)}</tr>" for row in self._raw.to_dicts(_SHOWN))
        caption = f"<caption>{_count(self.num_rows, 'row')}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cells(row: Row) -> str:
    return "".join(f"<td>{'' if value is None else escape(str(value))}</td>" for value in row.values())


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def in_short(names: list[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f", and {more} more" if more > 0 else "")
