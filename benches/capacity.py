"""Writes into docs/scale.md what a billion promotion codes would take, computed from the last `make bench`.

python benches/capacity.py [--figures FOLDER] [--page FILE]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from page import fill, load, table
from report import Measure

ROWS = 1_000_000_000
DAYS = 3 * 365 + 1
# What a service may give in one response, and how many responses are asked for at a time.
SPEEDS = (5_000, 20_000, 100_000)
AT_ONCE = (8, 32)
RATES = (0.1, 1.0)


def measured(measures: list[Measure], end: str) -> float:
    """The figure of the larger run into a folder."""
    return next(
        measure.value for measure in reversed(measures) if measure.name.endswith(f"into a folder of Parquet: {end}")
    )


def hours(seconds: float) -> str:
    """A time as people say it."""
    return f"{seconds / 3600:,.1f} h"


def sizes(measures: list[Measure]) -> str:
    """What is sent, and what is kept."""
    rows = [
        ["requests, one a day for three years", f"{DAYS:,}"],
        ["rows of one response", f"{ROWS // DAYS:,}"],
        ["responses (JSON)", f"{measured(measures, 'size of the responses') * ROWS / 1e9:,.0f} GB"],
        ["files (Parquet, zstd)", f"{measured(measures, 'size of the files') * ROWS / 1e9:,.0f} GB"],
        ["memory", f"{measured(measures, 'highest memory'):,.0f} MB with 8 requests at a time"],
        ["the least time: this client on one core", hours(ROWS / measured(measures, "rows"))],
    ]
    return table(["of a billion codes", ""], rows)


def times(measures: list[Measure]) -> str:
    """How long it takes by the service's speed and the requests at a time: the slower of service and client."""
    most = measured(measures, "rows")
    head = ["requests at a time", *[f"{speed:,} rows a second and response" for speed in SPEEDS]]
    rows = [[str(count), *[hours(ROWS / min(speed * count, most)) for speed in SPEEDS]] for count in AT_ONCE]
    return table(head, rows)


def starts() -> str:
    """How long it takes to begin all requests at a rate."""
    return table(
        ["`requests_per_second=`, requests a second", "all requests begun after"],
        [[f"{rate:g}", hours(DAYS / rate)] for rate in RATES],
    )


def main() -> None:
    """Writes the page."""
    parser = argparse.ArgumentParser(description="What a billion promotion codes would take.")
    parser.add_argument("--figures", type=Path, default=Path("target/bench"), help="folder of the JSON")
    parser.add_argument("--page", type=Path, default=Path("docs/scale.md"), help="the page to write into")
    options = parser.parse_args()
    reported, measures = load(options.figures / "scans.json")
    when = f"Computed from the figures of {reported['time'][:10]}, version {reported['version']}."
    fill(options.page, "\n\n".join([when, sizes(measures), times(measures), starts()]))


if __name__ == "__main__":
    main()
