"""Writes the figures of the last run of `client.py` into docs/performance.md."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- figures: `python benches/page.py` writes them -->", "<!-- end of the figures -->"
US = "dataaccess"
TITLES = {
    "frames": "A million rows to a DataFrame or a table",
    "dicts": "A million rows to dicts",
    "calls": "One call for one record",
    "start": "A new process",
}


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def cell(figures: dict[str, float], client: str) -> str:
    if client not in figures:
        return ""
    value = number(figures[client])
    return value if client == US or figures[US] <= 0 else f"{value} ({number(figures[client] / figures[US])}x)"


def table(title: str, report: dict[str, Any]) -> str:
    tasks = report["tasks"]
    every = dict.fromkeys(client for figures in tasks.values() for client in figures)
    rows = [[f"{title}, {report['unit']}", *tasks], ["---"] * (len(tasks) + 1)]
    rows += [[client, *[cell(figures, client) for figures in tasks.values()]] for client in every]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the figures of the last run into the page.")
    parser.add_argument("--figures", type=Path, default=Path("target/bench"), help="folder of the JSON")
    parser.add_argument("--page", type=Path, default=Path("docs/performance.md"), help="the page")
    options = parser.parse_args()
    found = {name: json.loads((options.figures / f"{name}.json").read_text(encoding="utf-8")) for name in TITLES}
    days = sorted({report["day"] for report in found.values()})
    run = f"Version {found['frames']['version']}, {' and '.join(days)}, {found['frames']['machine']}."
    figures = "\n\n".join([run, *[table(TITLES[name], report) for name, report in found.items()]])
    before, begin, rest = options.page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{options.page} has no place for the figures, between `{BEGIN}` and `{END}`")
    options.page.write_text(f"{before}{begin}\n\n{figures}\n\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
