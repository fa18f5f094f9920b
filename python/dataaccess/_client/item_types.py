"""`item_types`: the ids of business objects, and the attributes that the user declared, which the API cannot list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dataaccess._contract import ITEM_TYPES
from dataaccess._core.checks import MAX_INTEGER, integer, string
from dataaccess._display.column_types import COLUMN_TYPES
from dataaccess._native import column_type
from dataaccess._public import did_you_mean
from dataaccess._scan.schema import type_names
from dataaccess.errors import ConfigError

_KEYS = ("id", "attributes")


def checked_item_types(given: object) -> dict[str, Any]:
    """Names of business objects, each with its id, or with its id and its attributes."""
    if not isinstance(given, Mapping):
        raise ConfigError(f"item_types must be a dict of names and ids, not of type {type(given).__name__}")
    return {string("item_types", name): _checked(name, value) for name, value in given.items()}


def declared_attributes(name: str, item_types: Mapping[str, Any]) -> dict[str, str]:
    """The attributes of an object, with their types."""
    if name == "promotion_code":
        # Its annotations take a millisecond.
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


def _checked(name: str, given: object) -> int | dict[str, Any]:
    where, fixed = f"item_types[{name!r}]", ITEM_TYPES.get(name)
    value = given if isinstance(given, Mapping) else {"id": given}
    for key in value:
        if key not in _KEYS:
            raise ConfigError(f"{where} has the key {key!r}: write id and attributes{did_you_mean(str(key), _KEYS)}")
    if "id" not in value and fixed is None:
        raise ConfigError(f'{where} has no id: write {{"id": …, "attributes": {{…}}}}')
    found = integer(where if value is not given else f"{where}['id']", value.get("id", fixed), -MAX_INTEGER - 1)
    if fixed not in (None, found):
        raise ConfigError(f"{where} must be {fixed}, as the service fixes it, not {found}")
    attributes, where = value.get("attributes"), f"{where}['attributes']"
    if attributes is None:
        return found
    if name == "promotion_code":
        raise ConfigError(f"{where}: the API specification has the attributes of promotion codes")
    if not isinstance(attributes, Mapping) or not attributes:
        raise ConfigError(f'{where} must be a dict of attributes and types, such as {{"opened": "timestamp"}}')
    types = {}
    for attribute, kind in (type_names(attributes) or {}).items():
        known = column_type(kind) if isinstance(kind, str) else None
        if known is None:
            advice = did_you_mean(str(kind), COLUMN_TYPES)
            raise ConfigError(f"{where}[{attribute!r}] must be one of {', '.join(COLUMN_TYPES)}, not {kind!r}{advice}")
        types[string("item_types", attribute)] = known
    return {"id": found, "attributes": types}
