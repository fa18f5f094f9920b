"""`schema=` as names of types, which the core knows: those of this package, of Python, pandas, polars and pyarrow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dataaccess._contract import VALUES

if TYPE_CHECKING:
    from dataaccess._types import Schema

# The packages whose types have names that the core knows.
_PACKAGES = {"builtins", "datetime", "numpy", "pandas", "polars", "pyarrow"}
# What `decode_status=True` sets: a type of the core that only these columns can have.
NAME = "name"
_DECODED = dict.fromkeys(VALUES, NAME)


def type_names(schema: Schema | None, *, decoded: bool = False) -> dict[str, object] | None:
    """The names of the types. What is none of them stays as it is: the core reports it with all other problems."""
    if schema is None:
        return dict(_DECODED) if decoded else None
    if not isinstance(schema, Mapping):
        # A pyarrow schema is a list of fields.
        if type(schema).__module__.partition(".")[0] != "pyarrow":
            return schema
        schema = {field.name: field.type for field in schema}
    names = {name: _type_name(given) for name, given in schema.items()}
    return {**_DECODED, **names} if decoded else names


def with_declared(
    names: dict[str, object] | None, declared: Mapping[str, str] | None, attrs: object
) -> dict[str, object] | None:
    """The types, with those that the client's `item_types=` declares for requested attributes, where there is none."""
    if not declared or not (names is None or isinstance(names, Mapping)):
        return names
    requested = [attrs] if isinstance(attrs, str) else attrs if isinstance(attrs, list | tuple) else []
    return {**{name: declared[name] for name in requested if name in declared}, **(names or {})}


def _type_name(given: object) -> object:
    if isinstance(given, str):
        return given
    kind = given if isinstance(given, type) else type(given)
    package = kind.__module__.partition(".")[0]
    if package not in _PACKAGES or (package in {"builtins", "datetime"} and not isinstance(given, type)):
        return given
    # A polars type with parameters shows them, as `Datetime(time_unit='us', time_zone=None)`.
    return given.__name__ if isinstance(given, type) else str(given)
