"""How the batches of a scan become columns of Spark: exact casts, and columns that tell of the request.

A scan reads `int` as int64, `date` as a timestamp and `decimal` as JSON. A value that has no exact counterpart is an
error, never another value. Nothing here needs Spark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from dataaccess._display.column_types import COLUMN_TYPES
from dataaccess.errors import ResponseError

if TYPE_CHECKING:
    from datetime import date, datetime

    import pyarrow as pa

REQUESTED_AT = "requested_at"
# Spark's types of the column of the requested day.
DAY_TYPES = ("date", "string")

_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_TYPES = {name: kind for kind, info in COLUMN_TYPES.items() for name in info.spark}
_ARROW = {
    "string": "string",
    "bigint": "int64",
    "int": "int32",
    "smallint": "int16",
    "tinyint": "int8",
    "double": "float64",
    "boolean": "bool_",
    "date": "date32",
}
_INSTEAD = {"date": "timestamp_ntz", "int": "bigint", "smallint": "bigint", "tinyint": "bigint"}


def scan_type(kind: str) -> str | None:
    """The type, as a scan names it, of a column that Spark has with this type of its SQL; None for other types."""
    return "json" if _DECIMAL.fullmatch(kind) else _TYPES.get(kind)


def type_names() -> str:
    """The types that columns may have, in Spark's SQL."""
    return ", ".join([*_TYPES, "decimal(p,s)"])


class SparkColumn(NamedTuple):
    """A column of Spark: its name, its type in Spark's SQL, and whether it may have nulls."""

    name: str
    kind: str
    is_nullable: bool = True

    def field(self) -> pa.Field[Any]:
        """The field that Spark expects of a batch."""
        import pyarrow as pa

        kind: Any
        if decimal := _DECIMAL.fullmatch(self.kind):
            kind = pa.decimal128(int(decimal[1]), int(decimal[2]))
        elif self.kind.startswith("timestamp"):
            kind = pa.timestamp("us", "UTC" if self.kind == "timestamp" else None)
        else:
            kind = getattr(pa, _ARROW[self.kind])()
        return pa.field(self.name, kind, self.is_nullable)


@dataclass(frozen=True)
class Columns:
    """The columns of Spark, in their order.

    Attributes:
        columns: All columns.
        day: The name of the column with the requested day; None if there is none.
        has_request_time: Whether the column `requested_at` has the time of the request.
    """

    columns: tuple[SparkColumn, ...]
    day: str | None = None
    has_request_time: bool = False

    @property
    def has_instants(self) -> bool:
        """Whether a column of the rows is of type `timestamp`."""
        return any(column.kind == "timestamp" and not self._is_of_request(column) for column in self.columns)

    def _is_of_request(self, column: SparkColumn) -> bool:
        return column.name == self.day or (self.has_request_time and column.name == REQUESTED_AT)

    def batch(
        self, written: Any, instants: Any, day: date | None, requested_at: datetime | None, first_row: int
    ) -> pa.RecordBatch:
        """A batch of Spark, from a batch of the scan with times as the service wrote them, and with instants.

        Raises:
            ResponseError: A value has no exact counterpart in its column. `first_row` is the row of the first one.
        """
        import pyarrow as pa

        arrays = []
        for column in self.columns:
            field = column.field()
            if column.name == self.day:
                value = str(day) if day is not None and column.kind == "string" else day
                arrays.append(pa.repeat(pa.scalar(value, field.type), written.num_rows))
            elif self.has_request_time and column.name == REQUESTED_AT:
                arrays.append(pa.repeat(pa.scalar(requested_at, field.type), written.num_rows))
            else:
                # A `timestamp` is an instant; other times are as the service wrote them.
                source = instants if column.kind == "timestamp" else written
                arrays.append(_cast(source.column(column.name), column, field.type, first_row))
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema([column.field() for column in self.columns]))


def _cast(values: Any, column: SparkColumn, kind: Any, first_row: int) -> Any:
    """The values in a type of Spark's."""
    import pyarrow as pa

    if _DECIMAL.fullmatch(column.kind):
        import pyarrow.compute as pc

        # A service may write decimals as strings.
        values = pc.utf8_trim(values, '"')
    try:
        found = values.cast(kind)
        is_exact = column.kind != "date" or found.cast(values.type).equals(values)
    except pa.ArrowInvalid:
        is_exact = False
    if is_exact:
        return found
    row = next(index for index in range(len(values)) if not _is_exact(values.slice(index, 1), kind))
    advice = f"write {_INSTEAD[column.kind]}" if column.kind in _INSTEAD else "write more digits, or json_attrs"
    # The value is customer data.
    raise ResponseError(
        f'schema["{column.name}"]: the value of row {first_row + row} does not fit the type {column.kind}: {advice}',
        reason="record",
        row=first_row + row,
        column=column.name,
        value=str(values[row])[:200],
    )


def _is_exact(value: Any, kind: Any) -> bool:
    """Whether an array of one value has the same value in another type."""
    import pyarrow as pa

    try:
        found = value.cast(kind)
    except pa.ArrowInvalid:
        return False
    return not pa.types.is_date(kind) or bool(found.cast(value.type).equals(value))
