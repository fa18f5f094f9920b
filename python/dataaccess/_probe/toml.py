"""Writes pairs and comments of TOML, which the standard library only reads."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

# TOML forbids most of them, and a terminal would obey the rest.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def pair(name: str, value: object) -> str:
    """A line with a bare key."""
    return f"{name} = {_value(value)}"


def key(name: str) -> str:
    """A key of any characters."""
    return _value(name)


def _value(value: object) -> str:
    """A value. JSON and TOML have the same numbers and, but for control characters, the same strings."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key(str(name))} = {_value(one)}' for name, one in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return _escaped(json.dumps(value, ensure_ascii=False))


def comment(text: str) -> str:
    """A line, or the end of one, that is not read."""
    return f"# {_escaped(text)}"


def _escaped(text: str) -> str:
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04X}", text)
