"""`Table`: all rows of a scan as Arrow columns in memory, ready for other libraries."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, overload

from dataaccess._core.checks import count
from dataaccess._display.text import counted, duration, size
from dataaccess._public import public
from dataaccess._scan import frames
from dataaccess._scan.outcome import stats_of, warn_of, warn_without_times
from dataaccess._scan.rows import Rows

if TYPE_CHECKING:
    from typing import NoReturn

    import pyarrow as pa

    from dataaccess._native import RawTable
    from dataaccess._types import Row
    from dataaccess.reports import ScanStats


@public
class Table(Rows):
    """The rows of a scan as columns in memory: what `Scan.collect` returns. It can be read any number of times.

    Examples:
        >>> import dataaccess as da
        >>> client = da.Client("sandbox:demo?until=2024-02-29")
        >>> scan = client.scan_codes(["id", "pool_id"], allocated_time=da.on("2024-01-15"))
        >>> scan.collect()
        Table(73 rows, 2 columns: id, pool_id)
    """

    __slots__ = ("_is_of_files",)

    def __init__(self, raw: RawTable, *, is_of_files: bool = False) -> None:
        """Use `Scan.collect`."""
        self._raw, self._is_of_files = raw, is_of_files

    @property
    def stats(self) -> ScanStats:
        """Statistics of the scan."""
        return stats_of(self._raw.stats)

    def missing_ids(self) -> list[str] | None:
        """Returns the ids that the scan asked for and no row has.

        Returns:
            A list; None unless the scan selects by a list of ids whose column is among `attrs`.

        Examples:
            >>> import dataaccess as da
            >>> client = da.Client("sandbox:demo?until=2024-02-29")
            >>> ids = ["demo-customer-0001", "demo-customer-0002"]
            >>> scan = client.scan_items("customer", ["customer_id"], da.col("customer_id").matches(ids))
            >>> scan.collect().missing_ids()
            []
        """
        return self._raw.missing_ids()  # type: ignore[no-any-return] # of either kind of rows

    def to_arrow(self) -> pa.Table:
        """Returns a pyarrow table (extra `arrow`), without a copy.

        Returns:
            A table.

        Raises:
            ImportError: pyarrow is not installed.

        Examples:
            >>> import dataaccess as da
            >>> scan = da.Client("sandbox:demo?until=2024-02-29").scan_codes(["id"], allocated_time=da.on("2024-01-15"))
            >>> scan.collect().to_arrow().column_names
            ['id']
        """
        return frames.to_arrow(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The columns as an Arrow PyCapsule. `requested_schema` is ignored."""
        return self._raw.stream_capsule()

    def head(self, n: int = 5) -> Table:
        """Returns the first rows, without a copy.

        Args:
            n: Number of rows, at most.

        Returns:
            A table of these rows.

        Raises:
            ValidationError: `n` is not an integer of at least 0.

        Examples:
            >>> import dataaccess as da
            >>> scan = da.Client("sandbox:demo?until=2024-02-29").scan_codes(["id"], allocated_time=da.on("2024-01-15"))
            >>> scan.collect().head(2)
            Table(2 rows, 1 column: id)
        """
        return self._part(self._raw.slice(0, count("n", n, 0)))

    @overload
    def __getitem__(self, key: str) -> list[Any]: ...
    @overload
    def __getitem__(self, key: int) -> Row: ...
    @overload
    def __getitem__(self, key: slice | list[str]) -> Table: ...

    def __getitem__(self, key: str | int | slice | list[str]) -> list[Any] | Row | Table:
        """The values of a column by its name, a row by its number, or a table of some rows or columns.

        Values are those of `to_pylist`, but a column of names has names. A slice has no step.
        """
        if isinstance(key, str):
            raw = self._raw.select([self._position(key)])
            return [row[key] for row in self._part(raw)._with_datetimes(raw.to_dicts(self.num_rows))]
        if isinstance(key, list):
            return self._part(self._raw.select([self._position(name) for name in key]))
        if isinstance(key, slice):
            start, stop, step = key.indices(self.num_rows)
            if step != 1:
                raise ValueError("a slice of a table has no step")
            return self._part(self._raw.slice(start, max(stop - start, 0)))
        number = range(self.num_rows)[operator.index(key)]
        (row,) = self[number : number + 1].to_pylist()
        return row

    def _part(self, raw: RawTable) -> Table:
        return Table(raw, is_of_files=self._is_of_files)

    def _position(self, name: str) -> int:
        names = self.column_names
        if name not in names:
            raise KeyError(f"no column {name!r}; there are {', '.join(names)}")
        return names.index(name)

    def __iter__(self) -> NoReturn:
        """Raises a `TypeError` that says what to write: `pandas.DataFrame(table)` would lose the types."""
        raise TypeError(
            "a table is not iterable: write table.to_pandas() for a DataFrame, or table.to_pylist() for rows"
        )

    def _figures(self) -> str:
        stats = self.stats
        if not stats.bytes or stats.rows != self.num_rows:
            return ""
        if self._is_of_files:
            return f"from {counted(stats.requests, 'file')}"
        retries = f", {counted(stats.retries, 'retry', 'retries')}" if stats.retries else ""
        return f"{size(stats.bytes)} in {duration(stats.seconds)}, {counted(stats.requests, 'request')}{retries}"


def checked_table(raw: RawTable, tz: str | None, *, is_of_files: bool = False) -> Table:
    """The table. Warns of what is doubtful in the data, and of a `tz` that changes nothing."""
    warn_of(raw.stats)
    warn_without_times(tz, raw.types)
    return Table(raw, is_of_files=is_of_files)
