"""The types of Spark's columns, and those of a scan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataaccess._contract import VALUES
from dataaccess._core.checks import invalid
from dataaccess._display.column_types import COLUMN_TYPES
from dataaccess.errors import Problem, ValidationError
from dataaccess.spark._options import scan_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql.types import StructType

    from dataaccess._types import Schema

# The types of columns, by their names in Spark's SQL.
_TYPES = {name: kind for kind, info in COLUMN_TYPES.items() for name in info.spark}
_INSTEAD = {name: info.spark[0] for info in COLUMN_TYPES.values() for name in info.spark_narrow}


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
    types = zip(scan.column_names, scan._raw.types, strict=True)  # noqa: SLF001 - its scan
    return ", ".join(f"{name} {COLUMN_TYPES[kind].spark[0]}" for name, kind in types)


def scan_columns(schema: StructType, values: Mapping[str, Any]) -> tuple[list[str], Schema]:
    """The attributes of the columns, and their types as a scan names them.

    Raises:
        ValidationError: A column has a type that no scan gives, or does not fit the option attrs.
    """
    problems = []
    types: dict[str, Any] = {}
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
    if problems:
        raise ValidationError(problems=problems)
    return columns, types
