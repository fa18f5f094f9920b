"""docs/reliability.md promises what has a test, and every test whose name carries an id is on that page."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parents[1]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([A-Z]\d+) \| (.*) \|$", PAGE, flags=re.MULTILINE)
IDS = [name for name, _ in ROWS]


def in_names(pattern: str) -> set[str]:
    """The ids in the names of tests and cases."""
    texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")]
    found = [names for text in texts for names in re.findall(pattern, text, flags=re.MULTILINE)]
    return {name.upper() for names in found for name in re.findall(r"[A-Za-z]\d+", names)}


def test_each_id_has_one_row() -> None:
    assert len(IDS) == len(set(IDS)) > 40


def test_what_has_a_test_is_told() -> None:
    cases, tests = in_names(r'^    "([A-Z]\d+)-[\w-]+": \('), in_names(r"^def test_((?:[a-z]\d+_)+)")
    assert len(cases) > 20
    assert cases | tests <= set(IDS)


def test_what_is_told_has_a_test() -> None:
    cases = in_names(r'^    "([A-Z]\d+)-[\w-]+": \(') | in_names(r"^def test_((?:[a-z]\d+_)+)")
    for name, told in ROWS:
        named = re.search(r"\| `([\w/.]+)::(\w+)`$", told)
        if named is None:
            assert name in cases, name
            continue
        path, test = named.groups()
        assert re.search(
            rf"^ *(async )?(def|fn) {test}\(", (ROOT / path).read_text(encoding="utf-8"), flags=re.MULTILINE
        ), test
