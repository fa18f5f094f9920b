"""`dir(da)` shows every name that README and the pages use, warnings among them.

Source: a trial of notebooks
"""

from __future__ import annotations

import re
from pathlib import Path

import dataaccess as da

ROOT = Path(__file__).parents[2]


def test_tab_completion_shows_what_pages_use() -> None:
    pages = [ROOT / "README.md", *ROOT.glob("docs/*.md")]
    used = {name for page in pages for name in re.findall(r"\bda\.([A-Za-z_]+)", page.read_text(encoding="utf-8"))}
    assert used - {"__version__"} <= set(dir(da))
    assert {name for name in da.errors.__all__ if name.endswith("Warning")} - set(dir(da)) == set()
