"""The types of Spark's columns, and those of a scan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataaccess._contract import VALUES
from dataaccess._core.checks import invalid
from dataaccess.errors import Problem
from dataaccess.spark._options import raise_all, scan_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql.types import StructType

    from dataaccess._types import ColumnType, Schema

# The types of columns, by their names in Spark's SQL. `timestamp` is an instant: Spark shows it in the zone of the
# session. `timestamp_ntz` is the time as the service writes it, in UTC.
_TYPES: dict[str, ColumnType] = {
    "string": "string",
    "bigint": "int64",
    "double": "float64",
    "boolean": "bool",
    "timestamp": "timestamp",
    "timestamp_ntz": "timestamp",
}
_INSTEAD = {"tinyint": "bigint", "smallint": "bigint", "int": "bigint", "float": "double", "date": "timestamp"}
# For columns without a schema: the first of several names.
_NAMES: dict[str, str] = {kind: name for name, kind in reversed(_TYPES.items())}


def fixed_schema(values: Mapping[str, Any]) -> str:
    """The columns of promotion codes, in Spark's SQL.

    Raises:
        ValidationError: The service fixes no types for this object.
    """
    if "item_type_name" in values:
        message = (
            f"the API specification has no types for {values['item_type_name']!r}: name the columns with their types, "
            'as spark.read.schema("customer_id string, visits bigint")'
        )
        raise invalid("schema", message, None)
    scan = scan_of(values, None, None)
    return ", ".join(f"{name} {_NAMES[kind]}" for name, kind in zip(scan.column_names, scan._raw.types, strict=True))  # noqa: SLF001 - its scan


def scan_columns(schema: StructType, values: Mapping[str, Any]) -> tuple[list[str], Schema]:
    """The attributes of the columns, and their types as a scan names them.

    Raises:
        ValidationError: A column has a type that no scan gives, or does not fit the option attrs.
    """
    problems = []
    types: dict[str, ColumnType] = {}
    as_json = values.get("json_attrs", [])
    for field in schema.fields:
        name, kind = field.name, field.dataType.simpleString()
        if kind not in _TYPES:
            instead = _INSTEAD.get(kind)
            advice = f"write {instead}" if instead else f"there are {', '.join(_TYPES)}"
            problems.append(Problem(f'schema["{name}"]', "", f"the type {kind} is not read: {advice}", kind))
        elif name in as_json:
            if kind != "string":
                problems.append(Problem(f'schema["{name}"]', "", "json_attrs are of type string", kind))
            types[name] = "json"
        elif not (values.get("decode_status") is True and name in VALUES and kind == "string"):
            types[name] = _TYPES[kind]
    columns = [field.name for field in schema.fields]
    attrs = values.get("attrs", columns)
    if sorted(attrs) != sorted(columns):
        message = f"{', '.join(attrs)} are other attributes than the columns of the schema: {', '.join(columns)}"
        problems.append(Problem("attrs", "", message, attrs))
    problems += [
        Problem(f"json_attrs[{index}]", "", f"{name!r} is no column of the schema", name)
        for index, name in enumerate(as_json)
        if name not in columns
    ]
    raise_all(problems)
    return columns, types
