"""The limit on instructions: what a row and a call of the wheel cost, beside the accepted counts.

    python benches/instructions.py                     # prints the counts; `--only stream` counts one job
    python benches/instructions.py --check             # fails if a count is more than 2 % above the accepted one
    python benches/instructions.py --accept "reason"   # writes the counts and the reason into instructions.json

Callgrind counts, because its counts repeat within 1 % and it shows the program the same CPU on any machine. "Native"
instructions, which are outside of the interpreter, are always compared. All user instructions are compared only with
the interpreter and the C library of the accepted counts. The counts of another architecture are refused.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prebuilt_server import CLIENT_CORES, PrebuiltServer, keep_to

ACCEPTED = Path(__file__).with_suffix(".json")
COUNTED = Path(__file__).with_name("counted.py")
ALLOWED = 1.02
ROWS = 20_000
CALLS = (320, 960)
ROW_JOBS = ("stream", "dicts")
# The decoder, from memory: into what it decodes, and the shape of the response.
DECODE_JOBS = {
    f"decode_{sink}_{shape}": (sink, shape) for sink in ("columns", "rows") for shape in ("contract", "escapes")
}
JOBS = (*ROW_JOBS, "search_codes", "post", *DECODE_JOBS)
NATIVE, USER = "native instructions", "user instructions"
COST = re.compile(r"(?:[+-]?\d+|\*) (\d+)")
OBJECT = re.compile(r"(c?)ob=\((\d+)\)(?: (.*))?")

Figures = dict[str, dict[str, float]]


def setting() -> dict[str, str]:
    """What decides how many instructions the interpreter and the C library take."""
    return {
        "machine": platform.machine(),
        "python": f"{platform.python_version()} {platform.python_compiler()}",
        "libc": " ".join(platform.libc_ver()),
    }


@functools.cache
def decoder() -> str:
    command = ["cargo", "bench", "--profile=dist", "--locked", "--bench=counted", "--no-run", "--message-format=json"]
    built = subprocess.run(command, cwd=ACCEPTED.parents[1], stdout=subprocess.PIPE, text=True, check=True)
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    (program,) = [each["executable"] for each in messages if each.get("target", {}).get("name") == "counted"]
    return str(program)


def run(command: list[str]) -> None:
    """Runs a program, which must succeed. The fixed seed of hashes gives each process the same work."""
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=600)
    if done.returncode:
        raise SystemExit(f"{command} failed: {done.stderr.decode(errors='replace')[-2000:]}")


def read_callgrind(text: str) -> dict[str, float]:
    """User instructions by file of machine code. The cost of a called function is counted once, where it runs."""
    names: dict[str, str] = {}
    costs: dict[str, float] = {}
    current, is_call = "", False
    for line in text.splitlines():
        if found := OBJECT.fullmatch(line):
            called, number, name = found.groups()
            names.setdefault(number, name)
            current = current if called else names[number]
        elif line.startswith("calls="):
            is_call = True
        elif found := COST.fullmatch(line):
            if not is_call:
                costs[current] = costs.get(current, 0) + float(found[1])
            is_call = False
    return costs


def is_interpreter(path: str) -> bool:
    """Whether a file of machine code belongs to the interpreter or to its standard library."""
    return "python3" in path and "site-packages" not in path and "dataaccess" not in path


def callgrind(command: list[str]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind"
        run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command])
        costs = read_callgrind(out.read_text(encoding="utf-8", errors="replace"))
    return {USER: sum(costs.values()), NATIVE: sum(cost for path, cost in costs.items() if not is_interpreter(path))}


def count(job: str, server: PrebuiltServer, *, smoke: bool) -> dict[str, float]:
    """The cost of a row or a call: the difference of two runs, of which one has three times the work."""
    times, units, place = (1, 3), ROWS, []
    if job in DECODE_JOBS:
        command = [decoder(), *DECODE_JOBS[job]]
    else:
        command = [sys.executable, "-W", "ignore", str(COUNTED), job]
        if job in ROW_JOBS:
            units = 200 if smoke else ROWS
            place = [server.url(str(units))]
        else:
            times, units, place = (16, 48) if smoke else CALLS, 1, [server.url("1")]
    less, more = ([*command, str(number), *place] for number in times)
    # The first run of all compiles the bytecode.
    run(less)
    low, high = callgrind(less), callgrind(more)
    return {name: round((high[name] - low[name]) / units / (times[1] - times[0]), 1) for name in (NATIVE, USER)}


def worse(found: Figures, accepted: Mapping[str, Any]) -> list[str]:
    accepted_on, here = accepted["setting"], setting()
    if accepted_on["machine"] != here["machine"]:
        return [f"the counts were accepted on {accepted_on['machine']} and cannot be compared on {here['machine']}"]
    complaints = []
    for job, figures in found.items():
        before = accepted["figures"].get(job)
        if not before:
            complaints.append(f"{job}: no counts were accepted")
            continue
        for name in (NATIVE, USER) if accepted_on == here else (NATIVE,):
            if figures[name] > before[name] * ALLOWED:
                more = (figures[name] / before[name] - 1) * 100
                complaints.append(f"{job}: {figures[name]:,.0f} {name}, {more:.1f} % more than {before[name]:,.0f}")
    return complaints


def main() -> None:
    parser = argparse.ArgumentParser(description="What a row and a call cost in instructions.")
    parser.add_argument("--only", choices=JOBS, nargs="+", default=list(JOBS), help="the jobs to count")
    parser.add_argument("--check", action="store_true", help="fail if a count is more than 2 % above the accepted one")
    parser.add_argument("--accept", metavar="REASON", help="write the counts, and the reason for the change")
    parser.add_argument("--accepted", type=Path, default=ACCEPTED, help="the file of the accepted counts")
    parser.add_argument("--smoke", action="store_true", help="tiny counts, to see that the bench works")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        raise SystemExit("Callgrind counts the instructions: install valgrind")
    if options.accept and set(options.only) < set(JOBS):
        raise SystemExit("all jobs are accepted together: leave out --only")
    keep_to(CLIENT_CORES)
    accepted = json.loads(options.accepted.read_text(encoding="utf-8"))
    found: Figures = {}
    with PrebuiltServer() as server:
        for job in options.only:
            found[job] = count(job, server, smoke=options.smoke)
            before = accepted["figures"].get(job, {}).get(NATIVE, 0)
            native, user = found[job][NATIVE], found[job][USER]
            print(f"  {job:<24}{native:>12,.1f} native (accepted {before:,.1f}) {user:>12,.1f} user", flush=True)
    if options.accept:
        text = json.dumps({"reason": options.accept, "setting": setting(), "figures": found}, indent=2)
        options.accepted.write_text(text + "\n", encoding="utf-8")
        return
    complaints = worse(found, accepted)
    for complaint in complaints:
        print(complaint)
    if options.check and complaints:
        sys.exit("if the growth is necessary: python benches/instructions.py --accept 'reason'")


if __name__ == "__main__":
    main()
