"""Pages, docstrings and messages claim nothing of the service that is not in the API specification."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

from support.pages import ROOT

CLAIM = re.compile(
    r"\bthe (?:service|platform) (?:has no|counts|keeps|ignores|knows)\b|\bthe API has no\b", re.IGNORECASE
)
# The time that is spent waiting for the service, which counts: no claim.
NO_CLAIM = "time spent waiting for the service counts"


def pages() -> Iterator[tuple[str, str]]:
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    for path in ROOT.glob("examples/**/*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        yield str(path.relative_to(ROOT)), "\n".join("".join(cell["source"]) for cell in cells)


def python() -> Iterator[tuple[str, str]]:
    """The strings, docstrings among them. Those that follow one another are one text."""
    for path in [*ROOT.glob("python/**/*.py"), *ROOT.glob("examples/**/*.py")]:
        strings = [
            node.value
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        yield str(path.relative_to(ROOT)), "\n\n".join(strings)


def rust() -> Iterator[tuple[str, str]]:
    """The strings, and the comments for rustdoc."""
    for path in [*ROOT.glob("src/**/*.rs"), *ROOT.glob("src/**/*.html")]:
        text = path.read_text(encoding="utf-8")
        yield str(path.relative_to(ROOT)), re.sub(r"\\\n\s*|^\s*//[/!]", " ", text, flags=re.MULTILINE)


def test_no_sentence_claims_what_the_specification_does_not_say() -> None:
    for texts in (pages, python, rust):
        for place, text in texts():
            assert not CLAIM.search(" ".join(text.split()).replace(NO_CLAIM, "")), place
