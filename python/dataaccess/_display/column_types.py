"""The column types of the core, and their types in Python, polars and Spark."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class ColumnTypeInfo(NamedTuple):
    """A column type: the type of values in `to_pylist`, and the types of polars and Spark."""

    python: type
    # Given the module.
    polars: Callable[[Any], Any]
    # Names in SQL. Columns without a schema have the first.
    spark: tuple[str, ...]
    # Types that are too narrow.
    spark_narrow: tuple[str, ...] = ()
    # Whether a grid aligns values to the right.
    is_number: bool = False


# In Spark, `timestamp` is an instant, which Spark shows in the zone of the session. `timestamp_ntz` is the time as the
# service writes it.
COLUMN_TYPES = {
    "string": ColumnTypeInfo(str, lambda polars: polars.String, ("string",)),
    "int64": ColumnTypeInfo(int, lambda polars: polars.Int64, ("bigint", "int", "smallint", "tinyint"), is_number=True),
    "float64": ColumnTypeInfo(float, lambda polars: polars.Float64, ("double",), ("float",), is_number=True),
    "bool": ColumnTypeInfo(bool, lambda polars: polars.Boolean, ("boolean",)),
    "timestamp": ColumnTypeInfo(datetime, lambda polars: polars.Datetime("us"), ("timestamp", "timestamp_ntz", "date")),
    # In Spark these are the strings of the option `json_attrs`, and decimals.
    "json": ColumnTypeInfo(object, lambda polars: polars.String, ()),
}
