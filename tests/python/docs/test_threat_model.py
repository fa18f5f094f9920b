"""Each row of docs/threat-model.md has a test that exists, and the page is linked where readers look for it."""

from __future__ import annotations

import re

from support.pages import ROOT, named_tests, undefined_tests

PAGE = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([A-Z]{2}\d+) \| (.*) \|$", PAGE, flags=re.MULTILINE)
ACTORS = {"SV": 14, "NW": 9, "AU": 7, "US": 12, "BK": 8, "NB": 7, "SC": 6, "ME": 17}


def test_each_attacker_has_its_rows() -> None:
    """A row that is removed is removed here too."""
    assert [name for name, _ in ROWS] == [f"{name}{n}" for name, count in ACTORS.items() for n in range(1, count + 1)]


def test_each_row_ends_with_its_tests() -> None:
    without = [name for name, row in ROWS if not re.search(r"\| `[\w/.]+::\w+`(?:, `[\w/.]+::\w+`)*$", row)]
    assert without == []


def test_every_test_that_is_named_exists() -> None:
    assert len(named_tests(PAGE)) >= len(ROWS)
    assert undefined_tests(PAGE) == []


def test_the_page_is_linked_from_where_readers_look_for_it() -> None:
    assert "docs/threat-model.md" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    for name in ("index.md", "customer-data.md"):
        assert "(threat-model.md)" in (ROOT / "docs" / name).read_text(encoding="utf-8"), name
