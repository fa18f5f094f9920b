"""What more rows cost: the time each row takes, and the memory of a process that streams them."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import race
from clients import Service, drain
from prebuilt_server import PrebuiltServer
from report import Measure
from scale import Scale

PROBE = Path(__file__).with_name("probe.py")


def repeated(service: Service, rows: int, times: int) -> Callable[[], None]:
    """Streams a response several times."""
    scan = service.scan()

    def stream() -> None:
        for _ in range(times):
            drain(scan, rows)

    return stream


def time_a_row(server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """How long a row takes, streamed. Small responses are requested repeatedly, for as long as a larger one takes."""
    times = {rows: max(1, scale.rows // rows) for rows in scale.growth}
    contenders = {f"{rows:,}": repeated(Service(server.url(str(rows))), rows, times[rows]) for rows in scale.growth}
    found = race.run("time of a row when streamed", contenders, rounds=scale.rounds)
    each = {rows: found.median(f"{rows:,}") / rows / times[rows] * 1e9 for rows in scale.growth}
    measures = [Measure(f"{found.task}: of {rows:,}", nanoseconds, "ns") for rows, nanoseconds in each.items()]
    spread = max(each.values()) / min(each.values())
    return [*measures, Measure(f"{found.task}: slowest over quickest", spread, "x")]


def highest_memory(job: str, server: PrebuiltServer, rows: int) -> float:
    """The most memory in MB of a process that does a job; it must have met all rows."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, str(PROBE), job, server.url(str(rows))], stdout=subprocess.PIPE, check=True, timeout=300
    )
    reported = json.loads(done.stdout)
    if reported["rows"] != rows:
        raise SystemExit(f"{reported['rows']} rows by {job}, not {rows}")
    return float(reported["memory"])


def memory(server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """The memory of whole processes, with the interpreter and all that they import."""
    fewer, most = scale.growth[-2:]
    streamed: dict[int, list[float]] = {fewer: [], most: []}
    for _ in range(scale.rounds):
        for rows, found in streamed.items():
            found.append(highest_memory("stream", server, rows))
    medians = {rows: statistics.median(found) for rows, found in streamed.items()}
    grown = (medians[most] / medians[fewer] - 1) * 100
    measures = [Measure(f"highest memory: {rows:,} rows streamed", median, "MB") for rows, median in medians.items()]
    measures.append(Measure(f"highest memory: growth from {fewer:,} to {most:,} rows", grown, "%"))
    for job, name in (("to_pandas", "to pandas"), ("requests_to_pandas", "to pandas by requests")):
        taken = highest_memory(job, server, scale.rows)
        measures.append(Measure(f"highest memory: {scale.rows:,} rows {name}", taken, "MB"))
    return measures


def measure(server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """Time, and memory where the system reports it."""
    return time_a_row(server, scale) + (memory(server, scale) if sys.platform == "linux" else [])
