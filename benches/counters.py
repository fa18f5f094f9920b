"""What a job costs in instructions, cycles and context switches, per row or call: the difference of two runs.

Hardware counters come from `perf stat` (Debian's linux-perf), where the machine has them. Without them Callgrind
(Debian's valgrind) counts user instructions, 50 times slower. Context switches are the kernel's own and always there.
Nothing but the client's process is counted.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

COUNTED = Path(__file__).with_name("counted.py")
# The jobs of that program, by what one unit of them is.
ROW_JOBS = ("stream", "arrow", "dicts", "pandas")
CALL_JOBS = ("search_codes", "post", "asyncio_1", "asyncio_16", "threads_16")
HARDWARE = {"instructions:u": "user instructions", "instructions:k": "kernel instructions", "cycles:u": "user cycles"}
# The same hashes, and so the same work, in each process.
FIXED = {"PYTHONHASHSEED": "0"}
COST = re.compile(r"(?:[+-]?\d+|\*) (\d+)")
OBJECT = re.compile(r"(c?)ob=\((\d+)\)(?: (.*))?")


@dataclass(frozen=True)
class Work:
    """Two programs, of which one does so many units (rows, calls) more than the other."""

    less: list[str]
    more: list[str]
    units: int

    def per_unit(self, counter: Callable[[list[str]], Mapping[str, float]]) -> dict[str, float]:
        """What one unit costs by a counter of whole programs."""
        less, more = counter(self.less), counter(self.more)
        return {name: (more[name] - less[name]) / self.units for name in less.keys() & more}


def client_work(job: str, base_url: str, less: int, more: int, units: int = 1) -> Work:
    """A job of our client done less often and more often, each time with so many units."""
    command = [sys.executable, "-W", "ignore", str(COUNTED), job]
    return Work([*command, str(less), base_url], [*command, str(more), base_url], (more - less) * units)


def run(command: list[str]) -> None:
    """Runs a program, which must succeed."""
    done = subprocess.run(command, env={**os.environ, **FIXED}, capture_output=True, check=False, timeout=600)  # noqa: S603
    if done.returncode:
        raise SystemExit(f"{command} failed: {done.stderr.decode(errors='replace')[-2000:]}")


def read_perf(text: str) -> dict[str, float]:
    """The counters in the output of `perf stat -x,`; those that the machine does not have are left out."""
    found = {}
    for line in text.splitlines():
        fields = line.split(",")
        if len(fields) > 2 and fields[2] in HARDWARE and fields[0].replace(".", "").isdigit():
            found[HARDWARE[fields[2]]] = float(fields[0])
    return found


def perf(command: list[str]) -> dict[str, float]:
    """The hardware counters of a program; empty without perf, or where the machine has none."""
    if not shutil.which("perf"):
        return {}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "perf"
        run(["perf", "stat", "-x,", "-o", str(out), "-e", ",".join(HARDWARE), "--", *command])
        return read_perf(out.read_text(encoding="utf-8"))


@functools.cache
def has_perf() -> bool:
    """Whether user instructions can be counted by perf here."""
    return "user instructions" in perf([sys.executable, "-c", "pass"])


def read_callgrind(text: str) -> dict[str, float]:
    """User instructions by file of machine code, from a file of Callgrind: what functions called cost is not added."""
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
    """Whether a file of machine code is the interpreter or of its standard library."""
    return "python3" in path and "site-packages" not in path and "dataaccess" not in path


def callgrind(command: list[str]) -> dict[str, float]:
    """The user instructions of a program by Callgrind: all, and those outside of the interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind"
        run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command])
        costs = read_callgrind(out.read_text(encoding="utf-8", errors="replace"))
    native = sum(cost for path, cost in costs.items() if not is_interpreter(path))
    return {"user instructions": sum(costs.values()), "native instructions": native}


def switches(command: list[str]) -> dict[str, float]:
    """The context switches of a program, of all its threads: those by which it waits, not those that load forces."""
    process = subprocess.Popen(command, env={**os.environ, **FIXED})  # noqa: S603 - our own program
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command} ended with the status {status}")
    return {"context switches": used.ru_nvcsw}


def count(work: Work, *, slowly: bool) -> dict[str, float]:
    """All that can be counted of a job on this machine, per unit: by Callgrind only if it may take a minute."""
    found = [switches]
    if has_perf():
        found.append(perf)
    elif slowly and shutil.which("valgrind"):
        found.append(callgrind)
    costs: dict[str, float] = {}
    for counter in found:
        costs |= work.per_unit(counter)
    return costs
