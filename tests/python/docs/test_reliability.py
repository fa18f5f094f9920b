"""docs/reliability.md promises what has a test, and every test whose name carries an id is on that page."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parents[1]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
# A row names its test at its end, or it is a case of a table of cases.
ROW = r"^\| ([A-Z]\d+) \|[^|]+\|[^|]+\|"
LINKED = re.findall(ROW + r" `([\w/.]+)::(\w+)` \|$", PAGE, flags=re.MULTILINE)
CASES = re.findall(ROW + r"$", PAGE, flags=re.MULTILINE)


def in_names(pattern: str) -> set[str]:
    """The ids in the names of tests and cases."""
    texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")]
    return {found.upper() for text in texts for found in re.findall(pattern, text, flags=re.MULTILINE)}


def test_each_row_is_read() -> None:
    rows = re.findall(r"^\| [A-Z]\d+ \|", PAGE, flags=re.MULTILINE)
    assert len(rows) == len(LINKED) + len(CASES) > 40
    for ids in ([found for found, _, _ in LINKED], CASES):
        assert len(ids) == len(set(ids))


def test_each_bad_answer_is_a_case_and_each_case_is_told() -> None:
    cases = in_names(r'^    "([A-Z]\d+)-[\w-]+": \(')
    linked = {found for found, _, _ in LINKED}
    assert set(CASES) - linked <= cases <= set(CASES) | linked


def test_each_row_with_a_test_has_one_that_is_there() -> None:
    for _, path, test in LINKED:
        assert re.search(rf"^ *(async )?(def|fn) {test}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), (
            test
        )
    assert in_names(r"^def test_([a-z]\d+)_") <= {found for found, _, _ in LINKED}
