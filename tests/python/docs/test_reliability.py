"""docs/reliability.md promises what has a test, and every test whose name carries an id is on that page."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parents[1]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
ANSWERS, CLIENTS = PAGE.split("## Bad clients of the embedded service")


def ids(part: str) -> set[str]:
    """The ids in a table, each of which has one row."""
    found = re.findall(r"^\| ([A-Z]\d+) \|", part, flags=re.MULTILINE)
    assert len(found) == len(set(found))
    return set(found)


def in_names(pattern: str) -> set[str]:
    """The ids in the names of tests and cases."""
    texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")]
    return {found.upper() for text in texts for found in re.findall(pattern, text, flags=re.MULTILINE)}


def test_each_bad_answer_is_a_case_and_each_case_is_told() -> None:
    cases = in_names(r'^    "([A-Z]\d+)-[\w-]+": \(')
    assert ids(ANSWERS) == cases
    assert len(cases) > 20


def test_each_bad_client_has_a_test_that_is_there() -> None:
    named = re.findall(r"^\| (B\d) \|.*\| `([\w/.]+)::(\w+)` \|$", CLIENTS, flags=re.MULTILINE)
    assert {name for name, _, _ in named} == ids(CLIENTS)
    for _, path, test in named:
        assert re.search(rf"^ *(def|fn) {test}\(", (ROOT / path).read_text(encoding="utf-8"), flags=re.MULTILINE), test
    assert in_names(r"^def test_(b\d)_") <= ids(CLIENTS)
