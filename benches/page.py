"""Writes the figures of the last `make bench` into benches/RESULTS.md, ratios and a picture into docs/performance.md.

    python benches/page.py [--figures FOLDER] [--page FILE] [--results FILE]

The text around the figures is written by hand, and stays.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import bars
from goals import GOALS
from report import Measure

BEGIN, END = "<!-- figures: `make figures` writes what follows -->", "<!-- end of the figures -->"
MEMORY = "1,000,000 rows to pandas"
PICTURE_TEXT = "How long each client takes from the request to a million rows"
BENCHES = {
    "frames": "From a request to a DataFrame or table",
    "wire": "Over the wire",
    "rows": "From a request to dicts",
    "shapes": "Other shapes of JSON",
    "tls": "TLS",
    "calls": "Calls of one record",
    "asyncio": "Awaited calls of one record",
    "counters": "Instructions and context switches",
    "growth": "More rows",
    "start": "Start of a process",
    "scans": "Scans of many requests",
    "decode": "Decoding in memory",
    "sandbox": "The sandbox",
}
Reported = tuple[dict[str, Any], list[Measure]]
# The rows of the page: the task, our measure of it, and the measure of another client; None is the quickest.
RATIOS = (
    ("1,000,000 rows to pandas", "dataaccess", "requests"),
    ("1,000,000 rows to pandas", "dataaccess", None),
    ("1,000,000 rows to polars", "dataaccess", None),
    ("1,000,000 rows to pyarrow", "dataaccess", None),
    ("1,000,000 rows to pandas by TLS and gzip", "dataaccess", "requests"),
    ("highest memory", MEMORY, f"{MEMORY} by requests"),
    ("1,000,000 rows to dicts on one core", "dataaccess", "requests"),
    ("1,000,000 rows to dicts on one core", "dataaccess", None),
    ("one record", "search_codes", "requests"),
    ("one record", "search_codes", None),
    ("one record, 16 threads", "dataaccess", "pyreqwest"),
    ("one record, asyncio, 16 at a time", "dataaccess", "aiohttp"),
)
# Names of measures that are no other clients.
OWN = ("dataaccess", "search_codes", "post")


def load(path: Path) -> Reported:
    """The results of a bench."""
    try:
        reported = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SystemExit(f"{path} is missing: `make bench` writes it") from None
    return reported, [Measure(each["name"], each["value"], each["unit"]) for each in reported["measures"]]


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table of Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def shown(measure: Measure) -> str:
    """A figure and its unit."""
    return f"{measure.value:,.2f} {measure.unit}".rstrip()


def goals(found: dict[str, Reported]) -> str:
    """What is to be reached, and what was; a goal without a figure is said to be not measured."""
    measured = {measure.name: measure for _, measures in found.values() for measure in measures}
    rows = [
        [name, shown(measured[name]), str(goal), measured[name].verdict]
        if name in measured
        else [name, "not measured", str(goal), ""]
        for name, goal in GOALS.items()
    ]
    return "\n\n".join(["## What is to be reached", table(["measure", "value", "to reach", ""], rows)])


def ratios(found: dict[str, Reported]) -> str:
    """How many times as long, or as much memory, another client takes."""
    tasks: dict[str, dict[str, Measure]] = {}
    for _, measures in found.values():
        for measure in measures:
            task, _, contender = measure.name.partition(": ")
            tasks.setdefault(task, {})[contender] = measure
    rows = [ratio(task, tasks.get(task, {}), ours, other) for task, ours, other in RATIOS]
    return table(["what", "other client", "dataaccess", "the other", "ratio"], rows)


def ratio(task: str, contenders: dict[str, Measure], ours: str, other: str | None) -> list[str]:
    """A row of the ratios."""
    title = task if ours in OWN else f"{task}: {ours}"
    if other is None:
        others = {name: each.value for name, each in contenders.items() if each.unit != "x" and name not in OWN}
        other = min(others, key=others.__getitem__, default=None)
    if other is None or not {ours, other} <= contenders.keys():
        return [title, other or "", "not measured", "", ""]
    mine, theirs = contenders[ours], contenders[other]
    times = theirs.value / mine.value
    name = other.rpartition(" by ")[2]
    return [title, name, rounded(mine), rounded(theirs), f"{times:.0f} x" if times >= 10 else f"{times:.1f} x"]


def rounded(measure: Measure) -> str:
    """A figure as the page shows it."""
    return f"{measure.value:,.0f} {measure.unit}"


def section(title: str, reported: dict[str, Any], measures: list[Measure]) -> str:
    """All figures of one bench."""
    machine = reported["machine"]
    when, where = reported["time"][:10], f"{machine['processors']} processors, {machine['system']}"
    parts = [
        f"<details><summary>{title}</summary>",
        f"{when}, version {reported['version']}, Python {machine['python']}, {where}.",
        table(["measure", "value"], [[each.name, shown(each)] for each in measures]),
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


def fill(page: Path, figures: str) -> None:
    """Replaces the figures of a page."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page} has no place for the figures, between `{BEGIN}` and `{END}`")
    page.write_text(f"{before}{begin}\n\n{figures}\n\n{end}{after}", encoding="utf-8")
    print(f"wrote {page}")


def main() -> None:
    """Writes both pages and the picture."""
    parser = argparse.ArgumentParser(description="Writes the figures of the last run into the pages.")
    parser.add_argument("--figures", type=Path, default=Path("target/bench"), help="folder of the JSON")
    parser.add_argument("--page", type=Path, default=Path("docs/performance.md"), help="the page of the ratios")
    parser.add_argument("--results", type=Path, default=Path("benches/RESULTS.md"), help="the page of all figures")
    options = parser.parse_args()
    found = {name: load(path) for name in BENCHES if (path := options.figures / f"{name}.json").exists()}
    if missing := BENCHES.keys() - found.keys():
        print(f"not measured: {', '.join(sorted(missing))}")
    drawn = picture([measure for _, measures in found.values() for measure in measures])
    options.page.with_suffix(".svg").write_text(drawn, encoding="utf-8")
    fill(options.page, "\n\n".join([f"![{PICTURE_TEXT}]({options.page.stem}.svg)", ratios(found)]))
    sections = [section(BENCHES[name], reported, measures) for name, (reported, measures) in found.items()]
    fill(options.results, "\n\n".join([goals(found), "## All that was measured", *sections]))


if __name__ == "__main__":
    main()
