"""`schema=` in the names of this package: types of Python, polars and pyarrow by the type they become."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataaccess.types import Schema

_PYTHON: dict[object, str] = {
    str: "string",
    int: "int64",
    float: "float64",
    bool: "bool",
    datetime: "timestamp",
    date: "timestamp",
    dict: "json",
    list: "json",
}
# By the text of a type, without its parameters.
_LIBRARIES = {
    "polars": {
        "String": "string",
        "Int64": "int64",
        "Float64": "float64",
        "Boolean": "bool",
        "Datetime": "timestamp",
        "Struct": "json",
        "List": "json",
    },
    "pyarrow": {
        "string": "string",
        "large_string": "string",
        "string_view": "string",
        "int64": "int64",
        "double": "float64",
        "bool": "bool",
        "timestamp": "timestamp",
        "struct": "json",
        "list": "json",
    },
}


def type_names(schema: Schema | None) -> dict[str, object] | None:
    """The names of the types. What is none of them stays as it is: the core reports it with all other problems."""
    if schema is None:
        return None
    if not isinstance(schema, Mapping):
        # A pyarrow schema is a list of fields.
        if type(schema).__module__.partition(".")[0] != "pyarrow":
            return schema
        schema = {field.name: field.type for field in schema}
    return {name: _type_name(given) for name, given in schema.items()}


def _type_name(given: object) -> object:
    if isinstance(given, str):
        return given
    if isinstance(given, type) and given in _PYTHON:
        return _PYTHON[given]
    kind = given if isinstance(given, type) else type(given)
    names = _LIBRARIES.get(kind.__module__.partition(".")[0], {})
    text = kind.__name__ if kind.__module__.startswith("polars") else str(given)
    name = text.partition("(")[0].partition("[")[0].partition("<")[0]
    return names.get(name, given)
