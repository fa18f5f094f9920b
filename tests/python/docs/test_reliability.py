"""docs/reliability.md promises what has a test, and every test whose name carries an id is on that page."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parents[1]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
PROMISES, _, BREAKS = PAGE.partition("\n## How each test was seen to fail\n")


def rows(text: str) -> list[tuple[str, str]]:
    """The ids of a part of the page, and what stands behind them."""
    return re.findall(r"^\| ([A-Z]\d+) \| (.*) \|$", text, flags=re.MULTILINE)


ROWS = rows(PROMISES)
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


def test_what_has_a_test_is_told() -> None:
    cases, tests = in_names(r'^    "([A-Z]\d+)-[\w-]+": \('), in_names(r"^def test_((?:[a-z]\d+_)+)")
    assert len(cases) > 20
    assert cases | tests <= set(IDS)


def test_what_is_told_has_a_test() -> None:
    cases = in_names(r'^    "([A-Z]\d+)-[\w-]+": \(') | in_names(r"^def test_((?:[a-z]\d+_)+)")
    for name, told in ROWS:
        assert re.search(r"\| `[\w/.]+::\w+`$", told) or name in cases, name


def test_what_is_named_is_there() -> None:
    for path, test in re.findall(r"`([\w/.]+)(?:::(\w+))?`", PAGE):
        if test:
            source = (ROOT / path).read_text(encoding="utf-8")
            assert re.search(rf"^ *(async )?(def|fn) {test}\(", source, flags=re.MULTILINE), test
        elif path.startswith("tests/"):
            assert (ROOT / path).exists(), path
