"""Rows to be loaded into a `Sandbox`: the rows of a table as dicts, and the number of rows taken."""

from __future__ import annotations

from collections.abc import Sized
from decimal import Decimal
from time import monotonic
from typing import TYPE_CHECKING, Any

from dataaccess._core.checks import optional
from dataaccess._scan.scan import Scan
from dataaccess._scan.table import Table
from dataaccess.reports import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# Rows between two reports, and rows of a table that are dicts at once.
_BLOCK = 1_000
# What pandas calls the column of an index without a name.
_PANDAS_INDEX = "__index_level_"


def load_progress(rows: object) -> Callable[[int], Progress]:
    """Makes the progress of a load of a number of rows."""
    total, began = len(rows) if isinstance(rows, Sized) else None, monotonic()
    return lambda done: Progress(unit="rows", total=total, done=done, rows=done, seconds=monotonic() - began)


def counted(rows: Iterable[Any], report: Callable[[int], object]) -> Iterator[Any]:
    """The same rows, counted as they are taken."""
    report(0)
    for number, row in enumerate(rows, 1):
        yield row
        if number % _BLOCK == 0:
            report(number)


def rows_of(rows: Any, zone: str) -> Iterable[Any]:
    """The rows of a table as dicts, read block by block; any other iterable as it is.

    `zone` is the zone of the times in records.
    """
    if isinstance(rows, Scan):
        return (row for batch in rows.batches() for row in batch.to_pylist())
    if isinstance(rows, Table):
        return rows.to_pylist()
    if not hasattr(rows, "__arrow_c_stream__"):
        return rows  # type: ignore[no-any-return]  # its rows are checked one by one
    found = _of_polars(rows, zone) if hasattr(rows, "iter_slices") else _of_arrow(rows)
    return ({name: _number(value) for name, value in row.items()} for row in found)


def _of_polars(frame: Any, zone: str) -> Iterator[dict[str, Any]]:
    # As strings: a datetime of Python has no nanoseconds and ends with the year 9999.
    times = optional("polars.selectors")
    frame = frame.with_columns(times.datetime(time_zone="*").dt.convert_time_zone(zone))
    frame = frame.with_columns(times.datetime().dt.to_string("%F %T%.f"))
    rows: Iterator[dict[str, Any]] = frame.iter_rows(named=True)
    return rows


def _of_arrow(table: Any) -> Iterator[dict[str, Any]]:
    reader = optional("pyarrow").RecordBatchReader.from_stream(table)
    names = [name for name in reader.schema.names if not name.startswith(_PANDAS_INDEX)]
    for batch in reader:
        for start in range(0, batch.num_rows, _BLOCK):
            yield from batch.select(names).slice(start, _BLOCK).to_pylist()


def _number(value: Any) -> Any:
    """The value of a cell; of a decimal the integer or float that is written with the same digits, if there is one."""
    if not isinstance(value, Decimal):
        return value
    return next((number for number in (int(value), float(value)) if Decimal(str(number)) == value), value)
