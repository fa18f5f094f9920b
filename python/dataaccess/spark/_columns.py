"""How the batches of a scan become columns of Spark: exact casts, and columns that tell of the request.

A scan reads `int` as int64, `date` as a timestamp and `decimal` as JSON. A value that has no exact counterpart is an
error, never another value. Nothing here needs Spark.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from dataaccess._display.column_types import COLUMN_TYPES
from dataaccess.errors import ResponseError

if TYPE_CHECKING:
    import pyarrow as pa

_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
TYPES = {name: kind for kind, info in COLUMN_TYPES.items() for name in info.spark}
# Names of pyarrow, where it has no alias of Spark's name.
_ARROW = {"bigint": "int64", "int": "int32", "smallint": "int16", "tinyint": "int8", "date": "date32"}
_INSTEAD = {"date": "timestamp_ntz", "int": "bigint", "smallint": "bigint", "tinyint": "bigint"}


def scan_type(kind: str) -> str | None:
    """The type, as a scan names it, of a column that Spark has with this type of its SQL; None for other types."""
    return "json" if _DECIMAL.fullmatch(kind) else TYPES.get(kind)


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
            kind = pa.type_for_alias(_ARROW.get(self.kind, self.kind))
        return pa.field(self.name, kind, self.is_nullable)


class Columns(NamedTuple):
    """The columns of Spark, in their order, and the names of those that tell of the request."""

    columns: tuple[SparkColumn, ...]
    day: str | None = None
    requested_at: str | None = None

    @property
    def has_instants(self) -> bool:
        """Whether a column of the rows is of type `timestamp`."""
        of_request = self.day, self.requested_at
        return any(column.kind == "timestamp" and column.name not in of_request for column in self.columns)

    def batch(self, written: Any, instants: Any, of_request: dict[str | None, Any], first_row: int) -> pa.RecordBatch:
        """A batch of Spark, from a batch of the scan with times as the service wrote them, and with instants."""
        import pyarrow as pa

        arrays, schema = [], pa.schema([column.field() for column in self.columns])
        for column, kind in zip(self.columns, schema.types, strict=True):
            if column.name in of_request:
                value = of_request[column.name]
                value = str(value) if value is not None and column.kind == "string" else value
                arrays.append(pa.repeat(pa.scalar(value, kind), written.num_rows))
            else:
                # A `timestamp` is an instant; other times are as the service wrote them.
                source = instants if column.kind == "timestamp" else written
                arrays.append(_cast(source.column(column.name), column, kind, first_row))
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _cast(values: Any, column: SparkColumn, kind: Any, first_row: int) -> Any:
    """The values in a type of Spark's."""
    if _DECIMAL.fullmatch(column.kind):
        import pyarrow.compute as pc

        # A service may write decimals as strings.
        values = pc.utf8_trim(values, '"')
    if (found := _exact(values, kind)) is not None:
        return found
    row = next(index for index in range(len(values)) if _exact(values.slice(index, 1), kind) is None)
    advice = f"write {_INSTEAD[column.kind]}" if column.kind in _INSTEAD else "write more digits, or json_attrs"
    # The value is customer data.
    raise ResponseError(
        f'schema["{column.name}"]: the value of row {first_row + row} does not fit the type {column.kind}: {advice}',
        reason="record",
        row=first_row + row,
        column=column.name,
        value=str(values[row])[:200],
    )


def _exact(values: Any, kind: Any) -> Any:
    """The same values in another type; None if it cannot hold one of them."""
    import pyarrow as pa

    try:
        found = values.cast(kind)
    except pa.ArrowInvalid:
        return None
    return None if pa.types.is_date(kind) and not found.cast(values.type).equals(values) else found
