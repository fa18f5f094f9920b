"""The types of Spark's columns, and those of a scan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataaccess._contract import VALUES
from dataaccess._core.checks import invalid, problem
from dataaccess._display.column_types import COLUMN_TYPES
from dataaccess.errors import ValidationError
from dataaccess.spark._columns import TYPES, Columns, SparkColumn, scan_type
from dataaccess.spark._options import scan_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql.types import StructType

    from dataaccess._types import Schema

# Types of Spark that no scan has, and the type to write.
_INSTEAD = {name: info.spark[0] for info in COLUMN_TYPES.values() for name in info.spark_narrow}
_REQUEST_TYPES = {"day_column": ("date", "string"), "requested_at": ("timestamp",)}


def fixed_schema(values: Mapping[str, Any]) -> str:
    """The columns of promotion codes, in Spark's SQL; the service fixes no types of other objects."""
    if "item_type_name" in values:
        message = (
            f"the API specification has no types for {values['item_type_name']!r}: name the columns with their types, "
            'as spark.read.schema("customer_id string, visits bigint")'
        )
        raise invalid("schema", message)
    scan = scan_of(values, None, None)
    columns = {name: COLUMN_TYPES[kind].spark[0] for name, kind in scan._raw.types.items()}
    for name, option in _of_request(values).items():
        if name in columns:
            raise invalid(option, f"{name!r} is an attribute of the rows: choose another name", name)
        columns[name] = _REQUEST_TYPES[option][0]
    return ", ".join(f"`{name}` {kind}" for name, kind in columns.items())


def _of_request(values: Mapping[str, Any]) -> dict[str, str]:
    """The columns that tell of the request, and the option that asks for each."""
    found = {values["day_column"]: "day_column"} if "day_column" in values else {}
    return found | ({"requested_at": "requested_at"} if values.get("requested_at") else {})


def columns_of(schema: StructType, values: Mapping[str, Any]) -> Columns:
    """The columns of Spark, which `scan_columns` has checked."""
    columns = (SparkColumn(field.name, field.dataType.simpleString(), field.nullable) for field in schema.fields)
    return Columns((*columns,), values.get("day_column"), "requested_at" if values.get("requested_at") else None)


def scan_columns(schema: StructType, values: Mapping[str, Any]) -> tuple[list[str], Schema]:
    """The attributes of the columns, and their types as a scan names them. All problems are reported together."""
    problems = []
    types: dict[str, Any] = {}
    as_json = values.get("json_attrs", [])
    of_request = _of_request(values)
    for field in schema.fields:
        name, kind = field.name, field.dataType.simpleString()
        if option := of_request.get(name):
            if kind not in _REQUEST_TYPES[option]:
                message = f"the option {option} gives it the type {' or '.join(_REQUEST_TYPES[option])}, not {kind}"
                problems.append(problem(f'schema["{name}"]', message, kind))
        elif scan_type(kind) is None:
            advice = f"write {_INSTEAD[kind]}" if kind in _INSTEAD else f"there are {', '.join(TYPES)}, decimal(p,s)"
            problems.append(problem(f'schema["{name}"]', f"the type {kind} is not read: {advice}", kind))
        elif name in as_json:
            if kind != "string":
                problems.append(problem(f'schema["{name}"]', "json_attrs are of type string", kind))
            types[name] = "json"
        elif not (values.get("decode_status") is True and name in VALUES and kind == "string"):
            types[name] = scan_type(kind)
        if not field.nullable and name not in of_request:
            # Spark drops the filter `is null` of such a column, and with it rows; that query does not come here.
            message = "the column is NOT NULL, and any attribute may have no value: leave NOT NULL out"
            problems.append(problem(f'schema["{name}"]', message, name))
    columns = [name for name in schema.names if name not in of_request]
    attrs = values.get("attrs", columns)
    if sorted(attrs) != sorted(columns):
        message = f"{', '.join(attrs)} are other attributes than the columns of the schema: {', '.join(columns)}"
        problems.append(problem("attrs", message, attrs))
    problems += [
        problem("schema", f"has no column {name!r}, as the option {option} asks: add it", name)
        for name, option in of_request.items()
        if name not in schema.names
    ]
    problems += [
        problem(f"json_attrs[{index}]", f"{name!r} is no column of the schema", name)
        for index, name in enumerate(as_json)
        if name not in columns
    ]
    if problems:
        raise ValidationError(problems=problems)
    return columns, types
