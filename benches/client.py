"""How fast the client is beside those Python has, and what it costs: one run, whose ratios are comparable.

    python benches/client.py [--smoke] [--only NAME …] [--out FOLDER]

A server in a process of its own sends responses out of its memory; it and the contenders keep to cores of their own.
The contenders take turns, and what each of them made is compared with what it should be, value by value. `--smoke`
does the same with tiny counts: it shows that the benches work, not how fast.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

import client_calls
import client_frames
import client_growth
import client_rows
import client_start
import cores
import report
from prebuilt_server import PrebuiltServer
from scale import SMOKE, Scale

PARTS = {
    "frames": client_frames.measure,
    "rows": client_rows.measure,
    "calls": client_calls.measure,
    "growth": client_growth.measure,
    "start": client_start.measure,
}


def main() -> None:
    """Runs all parts, or some."""
    parser = argparse.ArgumentParser(description="How fast the client is, beside others.")
    parser.add_argument("--smoke", action="store_true", help="tiny counts, to see that the benches work")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS), help="the parts to run")
    parser.add_argument("--rows", type=int, help="rows of the large answer, to try things out")
    parser.add_argument("--out", type=Path, default=Path("target/bench"), help="folder of the JSON")
    options = parser.parse_args()
    scale = SMOKE if options.smoke else Scale()
    if options.rows:
        scale = dataclasses.replace(scale, rows=options.rows, fewer_rows=options.rows // 10)
    measures = []
    cores.keep_to(cores.CLIENT)
    with PrebuiltServer() as server:
        for name in options.only:
            measures += PARTS[name](server, scale)
    if options.smoke:
        measures = [dataclasses.replace(measure, reach=None) for measure in measures]
    print(f"wrote {report.write('client', measures, options.out)}")


if __name__ == "__main__":
    main()
