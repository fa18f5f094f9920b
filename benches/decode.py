"""Turns the output of the decoder's Rust bench into a table and JSON.

cargo bench --profile dist --bench decode | python benches/decode.py [--out FOLDER]
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
from collections.abc import Iterable
from pathlib import Path

import report
from report import Measure

BRANCH = re.compile(r"^(?P<depth>[│ ]*)[├╰]─ (?P<name>\S+)")
RATE = re.compile(r"(?P<number>[\d.]+) (?P<unit>[KMG]?B)/s")
UNITS = {"B": 1e-9, "KB": 1e-6, "MB": 1e-3, "GB": 1.0}
FASTEST_SLOWEST_MEDIAN_MEAN = 4


def rates(lines: Iterable[str]) -> dict[str, dict[str, float]]:
    """GB/s by benchmark and argument."""
    found: dict[str, dict[str, list[float]]] = {}
    bench = argument = ""
    for line in lines:
        if branch := BRANCH.match(line):
            if branch["depth"]:
                argument = branch["name"]
            else:
                bench = branch["name"]
        figures = RATE.findall(line)
        if len(figures) == FASTEST_SLOWEST_MEDIAN_MEAN:
            number, unit = figures[2]
            found.setdefault(bench, {}).setdefault(argument, []).append(float(number) * UNITS[unit])
    return {bench: {argument: statistics.median(runs) for argument, runs in of.items()} for bench, of in found.items()}


def measures(found: dict[str, dict[str, float]]) -> list[Measure]:
    """All rates, and the decoder's speed relative to serde_json for each shape."""
    every = [
        Measure(f"{bench}: {argument}", rate, "GB/s")
        for bench, rates_by_argument in found.items()
        for argument, rate in rates_by_argument.items()
    ]
    others = found["serde_visitor"]
    return every + [
        Measure(f"decoder over serde_visitor: {shape}", rate / others[shape], "x")
        for shape, rate in found["decoder"].items()
    ]


def main() -> None:
    """Reads the output from stdin and writes the JSON."""
    parser = argparse.ArgumentParser(description="Reads what `cargo bench --bench decode` prints.")
    parser.add_argument("--out", type=Path, default=Path("target/bench"), help="folder of the JSON")
    options = parser.parse_args()
    sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    found = rates(sys.stdin)
    if not found.keys() >= {"decoder", "serde_visitor"}:
        raise SystemExit("no figures of `decoder` and `serde_visitor` in the input")
    print(f"wrote {report.write('decode', measures(found), options.out)}")


if __name__ == "__main__":
    main()
