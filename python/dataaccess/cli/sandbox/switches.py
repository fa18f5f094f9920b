"""Values of switches and of options of faults, as they are typed."""

from __future__ import annotations

import json
from typing import Any


def json_or_text(text: str) -> Any:
    """The JSON value; of what is no JSON the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def switch_value(text: str) -> Any:
    """The value of a switch: `none`, JSON, or a string, as `null` is."""
    if text == "none":
        return None
    found = json_or_text(text)
    return text if found is None else found
