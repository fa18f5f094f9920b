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
    """The value of a switch: JSON, `none`, or a string."""
    return None if text == "none" else json_or_text(text)
