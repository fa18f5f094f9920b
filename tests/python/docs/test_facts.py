"""Pages, docstrings and messages claim nothing of the service that is not in the API specification."""

from __future__ import annotations

import re

from support.pages import ROOT

CLAIM = re.compile(r"\bthe (?:service|platform) (?:has no|counts|keeps|ignores|knows)\b|\bthe api has no\b")
# The time that is spent waiting for the service, which counts: no claim.
NO_CLAIM = "time spent waiting for the service counts"
SOURCES = ["*.md", "docs/**/*.md", "examples/**/*.ipynb", "examples/**/*.py", "python/**/*.py", "src/**/*.rs"]


def test_no_sentence_claims_what_the_specification_does_not_say() -> None:
    paths = [path for pattern in [*SOURCES, "src/**/*.html"] for path in ROOT.glob(pattern)]
    assert len(paths) > 200
    for path in paths:
        # Quotes, signs of comments and ends of lines interrupt no sentence.
        text = " ".join(re.findall(r"[a-z]+", path.read_text(encoding="utf-8").lower()))
        assert not CLAIM.search(text.replace(NO_CLAIM, "")), path
