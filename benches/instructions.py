"""A limit on instructions: fails when a row or a call of the wheel costs 5 % more than was accepted.

    python benches/instructions.py                      # prints what each job costs, beside what was accepted
    python benches/instructions.py --only stream        # one job; PYTHONPATH names another build of the package
    python benches/instructions.py --check              # fails when a job is worse
    python benches/instructions.py --accept "why"       # writes the figures, and why they changed

Callgrind counts, since its counts repeat on any machine, and it shows the program the same CPU everywhere. The
instructions outside of the interpreter are compared always, all user instructions only with the interpreter and the C
library with which they were accepted.
"""

from __future__ import annotations

import argparse
import functools
import json
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cores
from counters import CALL_JOBS, ROW_JOBS, Work, callgrind, client_work, run
from prebuilt_server import PrebuiltServer

ACCEPTED = Path(__file__).with_suffix(".json")
ALLOWED = 1.05
ROWS = 20_000
CALLS = (320, 960)
# The decoder alone, from memory: what it builds, and the shape of the response.
DECODE_JOBS = {
    f"decode_{sink}_{shape}": (sink, shape) for sink in ("columns", "rows") for shape in ("contract", "escapes")
}
DECODED_ROWS = 20_000
JOBS = (*ROW_JOBS, *CALL_JOBS, *DECODE_JOBS)
LIMITED = ("stream", "dicts", "search_codes", "post", *DECODE_JOBS)
NATIVE, USER = "native instructions", "user instructions"

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
    """The program that decodes from memory, built like the wheel."""
    command = ["cargo", "bench", "--profile=dist", "--locked", "--bench=counted", "--no-run", "--message-format=json"]
    built = subprocess.run(command, cwd=ACCEPTED.parents[1], stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    (program,) = [each["executable"] for each in messages if each.get("target", {}).get("name") == "counted"]
    return str(program)


def work(job: str, server: PrebuiltServer, *, smoke: bool) -> Work:
    """What is done of a job, twice."""
    if job in DECODE_JOBS:
        command = [decoder(), *DECODE_JOBS[job]]
        return Work([*command, "1"], [*command, "3"], 2 * DECODED_ROWS)
    if job in ROW_JOBS:
        rows = 200 if smoke else ROWS
        return client_work(job, server.url(str(rows)), 1, 3, rows)
    return client_work(job, server.url("1"), *((16, 32) if smoke else CALLS))


def count(jobs: list[str], *, smoke: bool) -> Figures:
    """What a row or a call of each job costs."""
    with PrebuiltServer() as server:
        found = {}
        for job in jobs:
            done = work(job, server, smoke=smoke)
            # The first run of all compiles the bytecode.
            run(done.less)
            figures = done.per_unit(callgrind)
            found[job] = {name: round(figures[name], 1) for name in (NATIVE, USER)}
            print(f"  {job:<24}{found[job][NATIVE]:>12,.0f} native {found[job][USER]:>12,.0f} user", flush=True)
    return found


def worse(found: Figures, accepted: Mapping[str, Any]) -> list[str]:
    """What costs more than was accepted, in words."""
    before_on, on = accepted["setting"]["machine"], setting()["machine"]
    if before_on != on:
        return [f"the figures were accepted on {before_on}, and nothing is known of {on}"]
    same = accepted["setting"] == setting()
    complaints = []
    for job, figures in found.items():
        before = accepted["figures"].get(job)
        if not before:
            complaints.append(f"{job}: no figures were accepted")
            continue
        for name in (NATIVE, USER) if same else (NATIVE,):
            if figures[name] > before[name] * ALLOWED:
                more = (figures[name] / before[name] - 1) * 100
                complaints.append(f"{job}: {figures[name]:,.0f} {name}, {more:.1f} % more than {before[name]:,.0f}")
    return complaints


def report(found: Figures, accepted: Mapping[str, Any]) -> None:
    """Prints how the figures compare with the accepted ones."""
    for job, figures in found.items():
        if before := accepted["figures"].get(job):
            change = (figures[NATIVE] / before[NATIVE] - 1) * 100
            print(f"  {job:<24}{change:+6.1f} % native against the accepted {before[NATIVE]:,.0f}")
    if accepted["setting"] != setting():
        print(f"  all user instructions are not compared: accepted with {accepted['setting']}, here {setting()}")


def main() -> None:
    """Counts, and compares or accepts."""
    parser = argparse.ArgumentParser(description="What a row and a call cost in instructions.")
    parser.add_argument(
        "--only",
        choices=(*ROW_JOBS, *CALL_JOBS, *DECODE_JOBS),
        nargs="+",
        default=list(LIMITED),
        help="the jobs to count",
    )
    parser.add_argument("--check", action="store_true", help="fail when a job costs more than was accepted")
    parser.add_argument("--accept", metavar="REASON", help="write the figures, and why they changed")
    parser.add_argument("--accepted", type=Path, default=ACCEPTED, help="the file of the accepted figures")
    parser.add_argument("--smoke", action="store_true", help="tiny counts, to see that it works")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        raise SystemExit("instructions are counted by Callgrind: install valgrind")
    cores.keep_to(cores.CLIENT)
    found = count(options.only, smoke=options.smoke)
    accepted = json.loads(options.accepted.read_text(encoding="utf-8")) if options.accepted.exists() else None
    if options.accept:
        if missing := set(LIMITED) - found.keys():
            raise SystemExit(f"all are accepted together: {', '.join(sorted(missing))} are missing")
        figures = {job: found[job] for job in LIMITED}
        text = json.dumps({"reason": options.accept, "setting": setting(), "figures": figures}, indent=2)
        options.accepted.write_text(text + "\n", encoding="utf-8")
        print(f"wrote {options.accepted}")
        return
    if accepted is None:
        raise SystemExit(f"{options.accepted} is missing: write it by --accept")
    report(found, accepted)
    complaints = worse(found, accepted)
    for complaint in complaints:
        print(complaint)
    if options.check and complaints:
        sys.exit("if it must be so: make accept-instructions REASON='why'")


if __name__ == "__main__":
    main()
