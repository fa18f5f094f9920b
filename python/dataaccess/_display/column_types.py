"""The column types of the core, and their types in Python, polars and Spark."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class ColumnTypeInfo(NamedTuple):
    """A column type.

    Attributes:
        python: The type of values in `to_pylist`.
        polars: The type in polars, given the module.
        spark: Names in Spark's SQL. Columns without a schema have the first.
        spark_narrow: Types of Spark that are too narrow.
        is_number: Whether a grid aligns values to the right.
    """

    python: type
    polars: Callable[[Any], Any]
    spark: tuple[str, ...]
    spark_narrow: tuple[str, ...] = ()
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
