"""The expected rows of a response, compared value by value in every output format.

Times may be timestamps or strings: all results are brought to one schema and compared there.
"""

from __future__ import annotations

import functools
import gc
import json
from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
from clients import Rows, Service, body_with_urllib3, records_of
from records import ATTRIBUTES

TYPES = {
    "pool_id": pa.int64(),
    "audience_type": pa.int64(),
    "code_status": pa.int64(),
    "date_created": pa.timestamp("us"),
    "allocated_time": pa.timestamp("us"),
    "last_used_time": pa.timestamp("us"),
}
SCHEMA = pa.schema([(name, TYPES.get(name, pa.string())) for name in ATTRIBUTES])


def table_of(result: Any) -> pa.Table:
    """A frame of pandas or polars, or a table of pyarrow, in the schema in which all are compared."""
    if isinstance(result, pd.DataFrame):
        table = pa.Table.from_pandas(result, preserve_index=False)
    elif isinstance(result, pl.DataFrame):
        table = result.to_arrow(compat_level=pl.CompatLevel.oldest())
    else:
        table = pa.table(result)
    return table.select(ATTRIBUTES).cast(SCHEMA)


def requested(rows: Rows) -> Rows:
    """The rows with the requested attributes and no others; a key that is left out is null."""
    return [{name: row.get(name) for name in ATTRIBUTES} for row in rows]


class Expected:
    """The records of one response, as Python's own json module reads them."""

    def __init__(self, service: Service) -> None:
        """Asks for them once, and keeps them out of sight of the garbage collector, which would slow the contenders."""
        self.rows: Rows = requested(records_of(json.loads(body_with_urllib3(service)())))
        gc.collect()
        gc.freeze()

    @functools.cached_property
    def table(self) -> pa.Table:
        """The records as columns."""
        return pa.Table.from_pylist(self.rows).cast(SCHEMA)

    def check_rows(self, rows: Rows) -> None:
        """Ends the bench unless these are the records."""
        if rows != self.rows:
            raise SystemExit(f"wrong rows: {len(rows)} of {len(self.rows)}, the first is {rows[:1]}")

    def check_requested(self, rows: Rows) -> None:
        """Ends the bench unless these are the records, whatever other keys there are or are left out."""
        self.check_rows(requested(rows))

    def check_answers(self, count: int) -> Callable[[list[Rows]], None]:
        """A check of the answers to so many calls, each of which has all records."""

        def check(answers: list[Rows]) -> None:
            if len(answers) != count:
                raise SystemExit(f"{len(answers)} answers to {count} calls")
            for rows in answers:
                self.check_rows(rows)

        return check

    def check_frame(self, frame: Any) -> None:
        """Ends the bench unless these are the records."""
        table = table_of(frame)
        if not table.equals(self.table):
            wrong = [name for name in ATTRIBUTES if not table[name].equals(self.table[name])]
            raise SystemExit(f"a wrong frame: {table.num_rows} of {self.table.num_rows} rows, wrong are {wrong}")
