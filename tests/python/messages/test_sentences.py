"""No other test asserts a sentence: `match=` takes a number, a name, a path or one word."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[2]
# Three words of plain text in a row, and neither code nor a pattern.
SENTENCE = re.compile(r"(?<![\w`'\"=./:(-])[a-z]{2,} [a-z]{2,} [a-z]{2,}(?![\w(=])")


def sentences(path: Path) -> list[str]:
    """The sentences that a file gives to `match=`."""
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    given = [word.value for call in calls for word in call.keywords if word.arg == "match"]
    texts = [each for value in given for each in ast.walk(value) if isinstance(each, ast.Constant)]
    return [
        f"{path.relative_to(TESTS).as_posix()}:{text.lineno}: {text.value}"
        for text in texts
        if isinstance(text.value, str) and SENTENCE.search(text.value)
    ]


def test_no_other_test_asserts_a_sentence() -> None:
    files = [path for path in sorted(TESTS.rglob("*.py")) if path != Path(__file__)]
    assert len(files) > 100
    assert [sentence for path in files for sentence in sentences(path)] == []
