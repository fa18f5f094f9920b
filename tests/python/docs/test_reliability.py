"""docs/reliability.md promises what has a test, and every test whose name carries an id is on that page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parents[1] / "docs" / "reliability.md"


def promised(heading: str) -> list[str]:
    """The ids in the table below a heading."""
    section = PAGE.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| ([A-Z]\d+) \|", section, flags=re.MULTILINE)


def named(pattern: str) -> Iterator[str]:
    """The ids in the names of tests and cases."""
    for path in TESTS.rglob("*.py"):
        yield from re.findall(pattern, path.read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("heading", "pattern"),
    [
        ("Answers that are no result", r'^    "([A-Z]\d+)-[\w-]+": \('),
        ("Bad clients of the embedded service", r"^def test_(b\d+)_"),
    ],
)
def test_the_page_and_the_names_of_the_tests_are_equal(heading: str, pattern: str) -> None:
    ids = promised(heading)
    assert ids
    assert sorted(ids) == sorted({name.upper() for name in named(pattern)})
