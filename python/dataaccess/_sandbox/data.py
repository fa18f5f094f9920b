"""The business objects of a `Sandbox` and their rows, which may be those of a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from dataaccess._core.checks import boolean, integer, optional, string
from dataaccess._sandbox.control import segment
from dataaccess._sandbox.rows import json_rows
from dataaccess._scan.scan import Scan
from dataaccess._scan.table import Table
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataaccess._sandbox.control import Control

# Rows of a table that are dicts at once.
_BLOCK = 1_000
# What pandas calls the column of an index without a name.
_PANDAS_INDEX = "__index_level_"


def rows_of(rows: Any, zone: str) -> Iterable[Any]:
    """The rows of a table as dicts, read block by block; any other iterable as it is.

    `zone` is the zone of the times in records.
    """
    if isinstance(rows, Scan):
        return (row for batch in rows.batches() for row in batch.to_pylist())
    if isinstance(rows, Table):
        return rows.to_pylist()
    if not hasattr(rows, "__arrow_c_stream__"):
        if isinstance(rows, Iterable):
            return rows
        kind = type(rows).__name__
        advice = f"; collect() the {kind} first" if hasattr(rows, "collect") else ""
        expected = "rows must be an iterable of dicts, or a table with __arrow_c_stream__"
        raise TypeError(f"{expected}, not of type {kind}{advice}")
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


class Data:
    """Business objects and rows."""

    _control: Control

    def declare(
        self,
        name: str,
        item_type_id: int,
        attributes: Mapping[
            str, Literal["string", "int64", "float64", "timestamp", "bool", "list", "number", "datetime"]
        ],
    ) -> None:
        """Adds a business object that can be loaded and searched.

        Declaring the same object twice has no effect. An object without rows, such as `customer` at the start, can be
        declared again with other attributes. The attributes of promotion codes are fixed.

        Args:
            name: Its `itemTypeName`.
            item_type_id: Its `itemTypeId`.
            attributes: Types of its attributes by name: "string", "int64", "float64", "timestamp", "bool" or "list" (of
                strings and numbers), or as the service says "number" or "datetime". Both types of numbers hold any
                number. The first attribute identifies a record. The service documents no conditions on bools and lists,
                so a request with one is refused.

        Raises:
            SandboxError: The name or id is taken, or an attribute is invalid.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox() as sandbox:
            ...     sandbox.declare("store", 7, {"store_id": "string", "area": "float64", "opened": "timestamp"})
            ...     count = sandbox.load("store", [{"store_id": "s-1", "area": 250}, {"store_id": "s-2"}])
            ...     sandbox.client().search_items("store", ["store_id"], da.col("area").equals(250), item_type_id=7)
            [{'store_id': 's-1'}]
        """
        if not isinstance(attributes, Mapping):
            raise ConfigError(f"attributes must be a dict of names and types, not of type {type(attributes).__name__}")
        number = integer("item_type_id", item_type_id, -(2**63))
        declared = {"name": string("name", name), "item_type_id": number, "attributes": attributes}
        self._control.call("POST", "/objects", declared)

    def load(self, name: str, rows: Iterable[Mapping[str, Any]] | Any, *, replace: bool = False) -> int:
        """Adds rows to an object, all or none, and returns their number. Searches find them once all are loaded.

        Args:
            name: Name of the object: `promotion_code`, `customer` or a declared one.
            rows: An iterable of dicts, or a table: of polars, pandas or pyarrow, a scan, or any other with
                `__arrow_c_stream__` (all but polars and scans need pyarrow). A missing value or None is null; an
                attribute that is not declared is refused. Times are datetimes in whole seconds (in the zone of the
                switch `source_timezone` unless they have one), dates, or strings `YYYY-MM-DD HH:MM:SS`. An unknown
                `code_status` or `audience_type` of a promotion code is refused.
            replace: Whether a row replaces an earlier one with the same identifier, which otherwise is an error.

        Raises:
            SandboxError: A value does not fit its attribute or an identifier is taken, with the index of the row.
            TypeError: `rows` is neither an iterable nor a table.
            ImportError: `rows` is a table that needs pyarrow, which is not installed.

        Examples:
            >>> import dataaccess as da
            >>> import pandas as pd
            >>> with da.Sandbox() as sandbox:
            ...     count = sandbox.load("customer", pd.DataFrame({"customer_id": ["17", "42"]}))
            ...     count += sandbox.load("customer", [{"customer_id": "17", "name": "Ada"}], replace=True)
            >>> count
            3
        """
        name, replace = string("name", name), boolean("replace", replace)
        zone = self._control.call("GET", "/state")["record_zone"]
        body = json_rows(name, self._kinds(name), zone, rows_of(rows, zone), self._control.raw)
        target = f"/objects/{segment(name)}/rows?replace={json.dumps(replace)}"
        return int(self._control.call("POST", target, body)["rows"])

    def _kinds(self, name: str) -> dict[str, str]:
        """The attributes of an object with their kinds; none of one that is not declared, which a load refuses."""
        for declared in self._control.call("GET", "/objects"):
            if declared["name"] == name:
                return dict(declared["attributes"])
        self._control.call("GET", f"/objects/{segment(name)}/rows?limit=0")
        return {}

    def clear(self, name: str) -> int:
        """Removes all rows of an object, which stays declared, and returns their number.

        Args:
            name: Name of the object.

        Raises:
            SandboxError: There is no such object.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo(until="2024-02-29") as sandbox:
            ...     count = sandbox.clear("promotion_code")
            ...     sandbox.client().search_codes(allocated_time=da.after("2024-01-01"))
            []
        """
        return int(self._control.call("DELETE", f"/objects/{segment(string('name', name))}/rows")["rows"])
