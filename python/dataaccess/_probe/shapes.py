"""Reads responses of which nothing is certain: what is not as expected leaves a point open, and is named."""

from __future__ import annotations

from typing import Any

# `type` distinguishes a boolean from an integer.
_TYPES = {
    dict: "an object",
    list: "an array",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "a boolean",
    type(None): "null",
}


class NotSettledError(Exception):
    """A point stays open. The message says what was seen, and what would help."""


class NotPermittedError(NotSettledError):
    """A point stays open because the token lacks a scope."""


def json_type(value: object) -> str:
    """The JSON type of a value, with its article."""
    return _TYPES[type(value)]


def member(value: object, name: str, of: str) -> Any:
    """A member of what should be an object; `of` names that.

    Raises:
        NotSettledError: It is none, or has no such member.
    """
    if not isinstance(value, dict):
        raise NotSettledError(f"{of} is {json_type(value)}, not an object")
    if name not in value:
        raise NotSettledError(f"{of} has no {name}")
    return value[name]


def records(envelope: dict[str, Any]) -> list[Any]:
    """The records of a search, whichever shape an empty result has.

    Raises:
        NotSettledError: It is not a result.
    """
    data = envelope.get("data")
    if not data and data in ([], {}, None):
        return []
    if isinstance(data, dict) and data.get("status") is False:
        raise NotSettledError("data.status is false in a response with code 200")
    found = data.get("data") if isinstance(data, dict) else member(data, "data", "data")
    if not found and found in ([], {}, None):
        return []
    if not isinstance(found, list):
        raise NotSettledError(f"data.data is {json_type(found)}, not an array")
    return found
