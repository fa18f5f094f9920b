"""The pages of the documentation, and what is on them: Python blocks, headings, tables."""

from __future__ import annotations

import re
from pathlib import Path

from sybil.document import Document
from sybil.example import Example
from sybil.parsers.markdown import PythonCodeBlockParser

ROOT = Path(__file__).parents[3]
README = ROOT / "README.md"
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "tests" / "README.md",
]


def document(page: Path) -> Document:
    """A page with its Python blocks. A line `--8<-- "examples/…"` in a block stands for that file, as on the site."""
    text = re.sub(
        r'^--8<-- "(.+)"\n',
        lambda line: (ROOT / line[1]).read_text(encoding="utf-8"),
        page.read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    found = Document(text, str(page))
    for region in PythonCodeBlockParser()(found):
        found.add(region)
    return found


def blocks() -> list[tuple[str, Example]]:
    """Every Python block of every page, with a name that says where it is."""
    return [
        (f"{page.relative_to(ROOT).as_posix()}:{block.line}", block)
        for page in PAGES
        for block in document(page).examples()
    ]


def output(block: Example) -> str | None:
    """The text that a page shows behind a block, after the line "It prints:"."""
    rest = block.document.text[block.region.end :]
    shown = re.match(r"\n*It prints:\n\n```text\n(.*?)^```$", rest, flags=re.MULTILINE | re.DOTALL)
    return shown and shown[1]


def without_blocks(page: Path) -> str:
    """The text of a page between its code blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors of a page: of its headings, made as GitHub makes them, and of `<a id="…">`."""
    text = without_blocks(page)
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    kept = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {heading.replace(" ", "-") for heading in kept} | {*re.findall(r'<a id="(\w+)"></a>', text)}


def table(page: Path, heading: str) -> list[list[str]]:
    """The rows of the first table under a heading, as their cells."""
    _, _, text = page.read_text(encoding="utf-8").partition(f"\n{heading}\n")
    lines = f"\n{text}".partition("\n|")[2].partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def open_points() -> dict[str, str]:
    """Each open point with the values that its switch takes."""
    rows = table(ROOT / "docs" / "service.md", "<!-- open points -->")
    return {row[0].split("`")[1]: row[4].strip("`") for row in rows}
