"""The common part of `Batch` and `Table`: rows as Arrow columns, and their forms in Python, pandas and polars."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from dataaccess._display.column_types import COLUMN_TYPES
from dataaccess._display.text import counted, shorten
from dataaccess._scan import frames

if TYPE_CHECKING:
    from datetime import tzinfo
    from typing import Any

    import pandas as pd
    import polars as pl

    from dataaccess._types import DtypeBackend, Row


class Rows:
    """The columns of a batch or a table."""

    __slots__ = ("_raw",)

    _raw: Any

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        rows: int = self._raw.num_rows
        return rows

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return [name for name, _ in self._raw.types]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of columns."""
        return self.num_rows, len(self.column_names)

    @property
    def schema(self) -> dict[str, str]:
        """Types of the columns by name, as `schema=` of a scan takes them."""
        return dict(self._raw.types)

    def to_pylist(self) -> list[Row]:
        """Returns the rows as dicts, with the values of the columns as Python objects.

        These are the values of the columns: a timestamp is a `datetime` (aware if `tz=` was given), an integer in a
        "float64" column is a float. `to_dicts` returns times as strings. A status is a number, also with
        `decode_status=True`.

        Returns:
            A list of dicts. JSON is decoded.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["date_created"], allocated_time=da.on("2024-01-15"))
            >>> scan.head(1).to_pylist()
            [{'date_created': datetime.datetime(2023, 12, ...)}]
        """
        return self._with_datetimes(self.to_dicts())

    def _with_datetimes(self, rows: list[Row]) -> list[Row]:
        zone = None if self._raw.time_zone is None else _zone(self._raw.time_zone)
        for name in [name for name, kind in self._raw.types if COLUMN_TYPES[kind].python is datetime]:
            for row in rows:
                if row[name] is not None:
                    time = datetime.fromisoformat(row[name])
                    row[name] = time if zone is None else _shown(time, zone)
        return rows

    def to_dicts(self) -> list[Row]:
        """Returns the rows as dicts with plain values: strings, numbers, booleans and None, as `json.dumps` takes them.

        A time is a string as the service writes it, with an offset if `tz=` was given. `to_pylist` returns `datetime`
        objects. A status is a number, also with `decode_status=True`.

        Returns:
            A list of dicts. JSON is decoded.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["allocated_time"], allocated_time=da.on("2024-01-15"))
            >>> scan.head(1).to_dicts()[0]["allocated_time"][:10]
            '2024-01-15'
        """
        rows: list[Row] = self._raw.to_dicts(None)
        return rows

    def to_pandas(self, dtype_backend: DtypeBackend | None = None) -> pd.DataFrame:
        """Returns a pandas DataFrame (extra `pandas`).

        Args:
            dtype_backend: As in pandas: "numpy_nullable" or "pyarrow". None is pandas' own string type, `Int64`,
                `boolean`, `float64` and `datetime64[us]`, which are all nullable.

        Returns:
            A DataFrame with the types of `Scan.to_pandas`.

        Raises:
            ImportError: pandas or pyarrow is not installed.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["pool_id"], allocated_time=da.on("2024-01-15"))
            >>> str(scan.head().to_pandas()["pool_id"].dtype)
            'Int64'
        """
        return frames.to_pandas(self, dtype_backend)

    def to_polars(self) -> pl.DataFrame:
        """Returns a polars DataFrame (extra `polars`).

        Returns:
            A DataFrame.

        Raises:
            ImportError: polars is not installed.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> scan = client.scan_codes(["pool_id"], allocated_time=da.on("2024-01-15"))
            >>> dict(scan.head().to_polars().schema)
            {'pool_id': Int64}
        """
        return frames.to_polars(self)

    def __arrow_c_schema__(self) -> object:
        """The schema as an Arrow PyCapsule."""
        return self._raw.schema_capsule()

    def __len__(self) -> int:
        """Number of rows."""
        return self.num_rows

    def _figures(self) -> str:
        """Where the rows come from, if they are all of a scan."""
        return ""

    def __str__(self) -> str:
        """The first rows as a grid with the types of the columns: what `print(table)` shows."""
        from dataaccess._display.listing import HEAD, rows_text  # loads HTML

        return rows_text(self.schema, self._raw.to_dicts(HEAD), self.num_rows, self._figures())

    def _repr_html_(self) -> str:
        """The first rows for notebooks."""
        from dataaccess._display.listing import HEAD, rows_html  # as in `__str__`

        return rows_html(self.schema, self._raw.to_dicts(HEAD), self.num_rows, self._figures())

    def __repr__(self) -> str:
        rows, columns = self.shape
        counts = f"{counted(rows, 'row')}, {counted(columns, 'column')}"
        return f"{type(self).__name__}({counts}: {shorten(self.column_names)})"


def _shown(time: datetime, zone: tzinfo) -> datetime:
    """The time in a zone; in UTC if that would be after the year 9999, the last one of Python."""
    try:
        return time.astimezone(zone)
    except OverflowError:
        return time


def _zone(name: str) -> tzinfo:
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)
