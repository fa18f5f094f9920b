"""Each row of docs/reliability.md has a test, each test with an id has a row, and tests/README.md lists all ids."""

from __future__ import annotations

import re
from pathlib import Path

from support.pages import ROOT, undefined_tests

TESTS = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
BREAKS = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")


def rows(text: str) -> list[tuple[str, str]]:
    """The ids of a page's tables, and the cells after them."""
    return re.findall(r"^\| ([A-Z]\d+) \| (.*) \|$", text, flags=re.MULTILINE)


ROWS = rows(PAGE)
IDS = [name for name, _ in ROWS]


def in_names(pattern: str) -> set[str]:
    """The ids in the names of tests and cases."""
    texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")]
    found = [names for text in texts for names in re.findall(pattern, text, flags=re.MULTILINE)]
    return {name.upper() for names in found for name in re.findall(r"[A-Za-z]\d+", names)}


def test_each_id_has_one_row() -> None:
    assert len(IDS) == len(set(IDS)) > 40


def test_each_id_was_seen_to_fail() -> None:
    seen = [name for name, _ in rows(BREAKS)]
    assert len(seen) == len(set(seen))
    assert set(seen) == set(IDS)


def test_every_test_with_an_id_has_a_row() -> None:
    cases, tests = in_names(r'^    "([A-Z]\d+)-[\w-]+": \('), in_names(r"^def test_((?:[a-z]\d+_)+)")
    assert len(cases) > 20
    assert cases | tests <= set(IDS)


def test_every_row_has_a_test() -> None:
    cases = in_names(r'^    "([A-Z]\d+)-[\w-]+": \(') | in_names(r"^def test_((?:[a-z]\d+_)+)")
    for name, row in ROWS:
        assert re.search(r"\| `[\w/.]+::\w+`$", row) or name in cases, name


def test_every_test_that_is_named_exists() -> None:
    assert undefined_tests(PAGE) == []
    for path in re.findall(r"`(tests/[\w/.]+)`", PAGE):
        assert (ROOT / path).exists(), path
