"""`item_types=`: the ids of business objects, and the attributes that the user declared, which the API cannot list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dataaccess._contract import ITEM_TYPES
from dataaccess._core.checks import MAX_INTEGER, integer, string
from dataaccess._public import did_you_mean
from dataaccess._scan.schema import type_names
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from typing import Any

_KEYS = ("id", "attributes")


def checked_item_types(given: object) -> dict[str, Any]:
    """Names of business objects, each with its id, or with its id and its attributes."""
    if not isinstance(given, Mapping):
        raise ConfigError(f"item_types must be a dict of names and ids, not of type {type(given).__name__}")
    types = {string("item_types", name): _checked(name, value) for name, value in given.items()}
    for name, fixed in ITEM_TYPES.items():
        if name in types and (found := id_of(types[name])) != fixed:
            raise ConfigError(f"item_types[{name!r}] must be {fixed}, as the service fixes it, not {found}")
    return types


def id_of(item_type: int | Mapping[str, Any]) -> int:
    """The id of a checked object."""
    found: int = item_type if isinstance(item_type, int) else item_type["id"]
    return found


def declared_attributes(name: str, item_types: Mapping[str, Any]) -> dict[str, str]:
    """The attributes of an object, with their types.

    Raises:
        ConfigError: They are not declared.
    """
    if name == "promotion_code":
        from dataaccess._types import PROMOTION_CODE_ATTRIBUTES

        return {attribute: info.type for attribute, info in PROMOTION_CODE_ATTRIBUTES.items()}
    found = item_types.get(name)
    if isinstance(found, Mapping):
        return dict(found["attributes"])
    known = [*(each for each, value in item_types.items() if isinstance(value, Mapping)), "promotion_code"]
    advice = "" if name in item_types or name in ITEM_TYPES else did_you_mean(name, known)
    raise ConfigError(
        f"the attributes of {name!r} are not known{advice}: the API cannot list them; ask the "
        f'administrator of the platform, and declare them: item_types{{{name!r}: {{"id": …, '
        f'"attributes": {{"customer_id": "string"}}}}}}'
    )


def _checked(name: str, value: object) -> int | dict[str, Any]:
    where = f"item_types[{name!r}]"
    if not isinstance(value, Mapping):
        return integer(where, value, -MAX_INTEGER - 1)
    for key in value:
        if key not in _KEYS:
            raise ConfigError(f"{where} has the key {key!r}: write id and attributes{did_you_mean(str(key), _KEYS)}")
    if "id" not in value and name not in ITEM_TYPES:
        raise ConfigError(f'{where} has no id: write {{"id": …, "attributes": {{…}}}}')
    found = integer(f"{where}['id']", value.get("id", ITEM_TYPES.get(name)), -MAX_INTEGER - 1)
    return found if value.get("attributes") is None else {"id": found, "attributes": _attributes(name, where, value)}


def _attributes(name: str, where: str, value: Mapping[str, Any]) -> dict[str, str]:
    from dataaccess._display.column_types import COLUMN_TYPES
    from dataaccess._native import column_type

    where = f"{where}['attributes']"
    if name == "promotion_code":
        raise ConfigError(f"{where}: the API specification has the attributes of promotion codes")
    given = value["attributes"]
    if not isinstance(given, Mapping) or not given:
        raise ConfigError(f'{where} must be a dict of attributes and types, such as {{"opened": "timestamp"}}')
    named = type_names(given) or {}
    types = {}
    for attribute, kind in named.items():
        found = column_type(kind) if isinstance(kind, str) else None
        if found is None:
            advice = did_you_mean(str(kind), COLUMN_TYPES)
            raise ConfigError(f"{where}[{attribute!r}] must be one of {', '.join(COLUMN_TYPES)}, not {kind!r}{advice}")
        types[string("item_types", attribute)] = found
    return types
