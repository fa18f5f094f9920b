"""`Batch` and `Table`: rows in columns of Arrow, ready for other libraries."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from dataaccess import _frames
from dataaccess._stats import ScanStats, stats_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from dataaccess._frames import DtypeBackend
    from dataaccess._native import RawBatch, RawTable
    from dataaccess._types import Row

_SHOWN = 10


class Batch:
    """Some rows of a scan. Any library that takes Arrow takes it as it is.

    Example:
        >>> import dataaccess as da
        >>> scan = da.Client("sandbox:demo").scan_codes(["id"], allocated_time=da.on("2024-01-15"))
        >>> batch = next(scan.batches())
        >>> batch.column_names
        ['id']
    """

    __slots__ = ("_raw",)

    def __init__(self, raw: RawBatch) -> None:
        """Made by `Scan.batches`."""
        self._raw = raw

    @property
    def num_rows(self) -> int:
        """How many rows it has."""
        return self._raw.num_rows

    @property
    def column_names(self) -> list[str]:
        """The names of its columns."""
        return self._raw.column_names

    def to_dicts(self) -> list[Row]:
        """The rows as dicts: the values of the columns, a time as `YYYY-MM-DD HH:MM:SS`."""
        return self._raw.to_dicts()

    def to_arrow(self) -> pa.RecordBatch:
        """A record batch of pyarrow, without a copy."""
        return _frames.optional("pyarrow", "arrow").record_batch(self)

    def to_pandas(self, dtype_backend: DtypeBackend | None = None) -> pd.DataFrame:
        """A DataFrame of pandas, as `Scan.to_pandas`."""
        return _frames.to_pandas(self, dtype_backend)

    def to_polars(self) -> pl.DataFrame:
        """A DataFrame of polars."""
        return _frames.to_polars(self)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """The columns as capsules of Arrow. Another schema is not made: the types are these."""
        return self._raw.array_capsules()

    def __arrow_c_schema__(self) -> object:
        """The schema as a capsule of Arrow."""
        return self._raw.schema_capsule()

    def __len__(self) -> int:
        """How many rows it has."""
        return self._raw.num_rows

    def __repr__(self) -> str:
        return f"Batch({_shape(self.num_rows, self.column_names)})"


class Table:
    """A whole answer in columns, made by `Scan.collect`. It may be read again and again.

    Example:
        >>> import dataaccess as da
        >>> scan = da.Client("sandbox:demo").scan_codes(["id", "pool_id"], allocated_time=da.on("2024-01-15"))
        >>> table = scan.collect()
        >>> table
        Table(53 rows of id, pool_id)
        >>> len(table.to_pandas()) == len(table.to_dicts()) == table.num_rows
        True
    """

    __slots__ = ("_raw",)

    def __init__(self, raw: RawTable) -> None:
        """Made by `Scan.collect`."""
        self._raw = raw

    @property
    def num_rows(self) -> int:
        """How many rows it has."""
        return self._raw.num_rows

    @property
    def column_names(self) -> list[str]:
        """The names of its columns."""
        return self._raw.column_names

    @property
    def stats(self) -> ScanStats:
        """The figures of the answer."""
        stats = stats_of(self._raw.stats)
        assert stats is not None  # noqa: S101 - a table has ended well
        return stats

    def to_dicts(self) -> list[Row]:
        """The rows as dicts: the values of the columns, a time as `YYYY-MM-DD HH:MM:SS`."""
        return self._raw.to_dicts(None)

    def to_arrow(self) -> pa.Table:
        """A table of pyarrow, without a copy."""
        return _frames.to_arrow(self)

    def to_pandas(self, dtype_backend: DtypeBackend | None = None) -> pd.DataFrame:
        """A DataFrame of pandas, as `Scan.to_pandas`."""
        return _frames.to_pandas(self, dtype_backend)

    def to_polars(self) -> pl.DataFrame:
        """A DataFrame of polars."""
        return _frames.to_polars(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The columns as a capsule of Arrow. Another schema is not made: the types are these."""
        return self._raw.stream_capsule()

    def __arrow_c_schema__(self) -> object:
        """The schema as a capsule of Arrow."""
        return self._raw.schema_capsule()

    def __len__(self) -> int:
        """How many rows it has."""
        return self._raw.num_rows

    def __repr__(self) -> str:
        return f"Table({_shape(self.num_rows, self.column_names)})"

    def _repr_html_(self) -> str:
        """The first rows, for notebooks."""
        head = "".join(f"<th>{escape(name)}</th>" for name in self.column_names)
        rows = "".join(f"<tr>{_cells(row)}</tr>" for row in self._raw.to_dicts(_SHOWN))
        caption = _shape(self.num_rows, self.column_names).partition(" of ")[0]
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cells(row: Row) -> str:
    return "".join(f"<td>{'' if value is None else escape(str(value))}</td>" for value in row.values())


def _shape(rows: int, names: list[str]) -> str:
    return f"{rows:,} row{'' if rows == 1 else 's'} of {', '.join(names)}"
