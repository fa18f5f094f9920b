"""Writes the figures of the last `make bench` into docs/performance.md, and draws its picture beside it.

    python benches/page.py [--figures FOLDER] [--page FILE]

The text around the figures is written by hand, and stays.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import bars
from report import Measure

BEGIN, END = "<!-- figures: `make figures` writes what follows -->", "<!-- end of the figures -->"
PICTURE_TEXT = "How long each client takes from the request to a million rows"
BENCHES = {
    "client": "The client",
    "scans": "Scans of many requests",
    "decode": "Decoding in memory",
    "sandbox": "The sandbox",
}


def load(path: Path) -> tuple[dict[str, Any], list[Measure]]:
    """The results of a bench."""
    try:
        reported = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SystemExit(f"{path} is missing: `make bench` writes it") from None
    names = ("name", "value", "unit", "reach", "less_is_better")
    return reported, [Measure(**{name: measure[name] for name in names}) for measure in reported["measures"]]


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table of Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def section(title: str, reported: dict[str, Any], measures: list[Measure]) -> str:
    """The figures of one bench: those of which something is hoped, then the others."""
    machine = reported["machine"]
    when, where = reported["time"][:10], f"{machine['processors']} processors, {machine['system']}"
    shown = [(measure, f"{measure.value:,.2f} {measure.unit}".rstrip()) for measure in measures]
    hoped = [[each.name, value, each.hope, each.verdict] for each, value in shown if each.hope]
    others = [[each.name, value] for each, value in shown if not each.hope]
    parts = [
        f"## {title}",
        f"{when}, version {reported['version']}, Python {machine['python']}, {where}.",
        table(["measure", "value", "to reach", ""], hoped),
        "<details><summary>All else that was measured</summary>",
        table(["measure", "value"], others),
        "</details>",
    ]
    return "\n\n".join(parts)


def picture(measures: list[Measure]) -> str:
    """How long each contender takes from the request to a million rows in each form."""
    groups: dict[str, dict[str, float]] = {}
    for measure in measures:
        task, _, contender = measure.name.partition(": ")
        form = task.removeprefix("1,000,000 rows ")
        if measure.unit == "ms" and form in {"to pandas", "to polars", "to pyarrow", "to dicts on one core"}:
            groups.setdefault(form, {})[contender] = measure.value
    if not groups:
        raise SystemExit("the figures are of another size than the picture shows: run the whole `make bench`")
    return bars.svg("From the request to 1,000,000 rows (257 MB of JSON)", groups, "ms")


def main() -> None:
    """Writes page and picture."""
    parser = argparse.ArgumentParser(description="Writes the figures of the last run into the page.")
    parser.add_argument("--figures", type=Path, default=Path("target/bench"), help="folder of the JSON")
    parser.add_argument("--page", type=Path, default=Path("docs/performance.md"), help="the page to write into")
    options = parser.parse_args()
    found = {name: load(options.figures / f"{name}.json") for name in BENCHES}
    before, begin, rest = options.page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{options.page} has no place for the figures, between `{BEGIN}` and `{END}`")
    sections = [section(BENCHES[name], reported, measures) for name, (reported, measures) in found.items()]
    figures = "\n\n".join([f"![{PICTURE_TEXT}]({options.page.stem}.svg)", *sections])
    options.page.write_text(f"{before}{begin}\n\n{figures}\n\n{end}{after}", encoding="utf-8")
    options.page.with_suffix(".svg").write_text(picture(found["client"][1]), encoding="utf-8")
    print(f"wrote {options.page} and its picture")


if __name__ == "__main__":
    main()
