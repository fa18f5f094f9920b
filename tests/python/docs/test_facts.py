"""What pages, docstrings and messages claim of the service is in the API specification, or in a row of the open points.

A sentence on what the service has no, counts, keeps, ignores or knows, or on what the API has no, is listed with its
ground.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

import pytest
from support.pages import ROOT

CLAIM = re.compile(
    r"\bthe (?:service|platform) (?:has no|counts|keeps|ignores|knows)\b|\bthe API has no\b", re.IGNORECASE
)
# By a part of the sentence: a section of the API specification, or the anchor of a row of the open points.
ALLOWED = {
    # The time that is spent waiting for the service, which counts: no claim.
    "time spent waiting for the service counts": "no claim",
}
SECTION = re.compile(r"\d(?:\.\d)?")


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


def claims() -> list[tuple[str, str]]:
    """Each place, and the text around its claim in one line."""
    found = []
    for texts in (pages, python, rust):
        for place, text in texts():
            line = " ".join(text.split())
            found += [(place, line[max(match.start() - 80, 0) : match.end() + 60]) for match in CLAIM.finditer(line)]
    return found


CLAIMS = claims()


@pytest.mark.parametrize(("place", "claim"), CLAIMS, ids=[place for place, _ in CLAIMS])
def test_a_claim_about_the_service_has_a_ground(place: str, claim: str) -> None:
    assert any(part in claim for part in ALLOWED), f"{place}: {claim}"


def test_each_ground_is_there() -> None:
    service = (ROOT / "docs/service.md").read_text(encoding="utf-8")
    for ground in ALLOWED.values():
        is_section = SECTION.fullmatch(ground) and f"# {ground} " in service
        assert ground == "no claim" or is_section or f'<a id="{ground}">' in service, ground


@pytest.mark.parametrize(
    "guess",
    [
        r"codes that were ever sent",
        r"responseCode`? says whether",
        r"members go from the platform",
        r"download: yes",
    ],
)
def test_a_guess_is_not_told_as_a_fact(guess: str) -> None:
    said = re.compile(guess, re.IGNORECASE)
    for texts in (pages, python, rust):
        for place, text in texts():
            assert not said.search(" ".join(text.split())), place


def test_a_claim_is_found() -> None:
    assert CLAIM.search("as the service has no NOT")
    assert CLAIM.search("The API has no request")
