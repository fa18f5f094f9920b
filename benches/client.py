"""How fast the client is beside those Python has, and what it costs: in each part one run, whose ratios are comparable.

    python benches/client.py [PART …] [--smoke] [--rows N] [--out FOLDER]

A server in a process of its own sends responses out of its memory; it and the contenders keep to cores of their own.
The contenders take turns, and what each of them made is compared with what it should be, value by value. `--smoke`
does the same with tiny counts: it shows that the benches work, not how fast. Each part writes a JSON of its name.
"""

from __future__ import annotations

import argparse
import dataclasses
import warnings
from pathlib import Path

import client_asyncio
import client_calls
import client_counters
import client_frames
import client_growth
import client_rows
import client_shapes
import client_start
import client_tls
import client_wire
import cores
import report
from prebuilt_server import PrebuiltServer
from scale import SMOKE, Scale

import dataaccess as da

PARTS = {
    "frames": client_frames.measure,
    "wire": client_wire.measure,
    "rows": client_rows.measure,
    "shapes": client_shapes.measure,
    "tls": client_tls.measure,
    "calls": client_calls.measure,
    "asyncio": client_asyncio.measure,
    "growth": client_growth.measure,
    "start": client_start.measure,
    "counters": client_counters.measure,
}


def main() -> None:
    """Runs all parts, or some."""
    parser = argparse.ArgumentParser(description="How fast the client is, beside others.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"the parts to run: {', '.join(PARTS)}; all if none")
    parser.add_argument("--smoke", action="store_true", help="tiny counts, to see that the benches work")
    parser.add_argument("--rows", type=int, help="rows of the large answer, to try things out")
    parser.add_argument("--out", type=Path, default=Path("target/bench"), help="folder of the JSON")
    options = parser.parse_args()
    if unknown := set(options.parts) - PARTS.keys():
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    scale = SMOKE if options.smoke else Scale()
    if options.rows:
        scale = dataclasses.replace(scale, rows=options.rows, fewer_rows=options.rows // 10)
    # The responses have round numbers of rows indeed.
    warnings.simplefilter("ignore", da.IncompleteWarning)
    cores.keep_to(cores.CLIENT)
    for name in options.parts or PARTS:
        # A server for each part: the responses of the others are not in its memory.
        with PrebuiltServer() as server:
            measures = PARTS[name](server, scale)
        print(f"wrote {report.write(name, measures, options.out, smoke=options.smoke)}", flush=True)


if __name__ == "__main__":
    main()
