"""Colors, where people read and did not ask for none."""

from __future__ import annotations

import os
import sys
from typing import Any

import click


def style(text: str, **how: Any) -> str:
    """The text in a style, if standard output is a terminal that shows it, and `NO_COLOR` is not set."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stdout.isatty()
    return text if is_plain or not any(how.values()) else click.style(text, **how)
