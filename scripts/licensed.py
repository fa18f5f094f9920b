"""The crates that `licenses/crates.txt` lists, which are those in a wheel; `make licenses` writes it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "licenses" / "crates.txt"


def crates() -> set[tuple[str, str]]:
    """Names and versions."""
    return set(re.findall(r"^  (\S+) (\d\S*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
