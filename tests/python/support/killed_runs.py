"""A run that is killed at any moment and begun again until it is done, at a service that fails now and then (S1).

The child runs; this process serves it, kills it, and looks after each kill at the parts and at what was asked for.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from support.forking import working
from support.runs import rows_in, tasks_done

import dataaccess as da
from dataaccess._sandbox.faults import Fault, FaultKind

CONCURRENCY = 3
ROWS_OF_TASK = 7
FIRST = date(2020, 1, 1)
# How long a response takes, so that a kill finds requests in flight.
LATENCY = 0.15
# So many responses pass at most before one fails: about one of five does.
MOST_BETWEEN = 5
REFUSED = 3

CHILD = """
import sys, warnings
import dataaccess as da

warnings.simplefilter("ignore")
base_url, folder, start, stop, concurrency = sys.argv[1:]
client = da.Client(base_url, concurrency=int(concurrency))
scan = client.scan_codes(allocated_time=da.days(start, stop))
try:
    report = scan.to_folder(folder, progress=lambda progress: print(progress.done, flush=True))
except da.PermissionDeniedError:
    sys.exit(3)
print("report", len(report.files), report.rows, flush=True)
"""


@dataclass
class Killed:
    kills: int = 0
    refusals: int = 0
    failures: int = 0
    requests: int = 0
    again: list[int] = field(default_factory=list)
    """For each run that ended early, how many tasks were in flight."""


def codes(tasks: int) -> list[dict[str, Any]]:
    days = [FIRST + timedelta(number) for number in range(tasks)]
    return [
        {
            "id": f"code-{day}-{number}",
            "name": "a code",
            "pool_id": number,
            "allocated_time": f"{day} 10:00:0{number}",
            "code_status": 3,
        }
        for day in days
        for number in range(ROWS_OF_TASK)
    ]


@contextmanager
def failing(service: da.Sandbox, chance: random.Random, results: Killed) -> Iterator[None]:
    """Makes about one response of five fail in some way, within a block."""

    def failure() -> Fault:
        kind: FaultKind = chance.choice(["status", "cut", "reset"])
        after = chance.randrange(MOST_BETWEEN)
        if kind == "status":
            return service.fault(kind, times=1, after=after, status=chance.choice([500, 503]))
        return service.fault(kind, times=1, after=after, after_bytes=chance.choice([None, chance.randrange(300)]))

    def fail() -> None:
        with failure() as fault:
            # The request that it met may be one of a process that is dead.
            until = time.monotonic() + 1
            while not fault.hits and time.monotonic() < until:
                time.sleep(0.005)
            results.failures += fault.hits

    with working(fail):
        yield


@contextmanager
def child(service: da.Sandbox, token: str, folder: Path, tasks: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", CHILD, service.base_url, str(folder), str(FIRST), str(FIRST + timedelta(tasks))]
    environment = {**os.environ, "DATAACCESS_TOKEN": token}
    with subprocess.Popen([*command, str(CONCURRENCY)], env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def ended_early(
    service: da.Sandbox, token: str, folder: Path, tasks: int, chance: random.Random, *, revoke: bool
) -> int:
    """Runs until the process is killed or refused; its return code."""
    with child(service, token, folder, tasks) as process:
        assert process.stdout is not None
        if revoke or chance.random() < 0.5:
            # Otherwise at a moment that may be before there is anything.
            process.stdout.readline()
        time.sleep(chance.uniform(0, 2 * LATENCY))
        if revoke:
            service.revoke(token)
            return process.wait(timeout=30)
        process.kill()
        return process.wait()


def tasks_asked(service: da.Sandbox) -> set[int]:
    """The places of the tasks whose requests came."""
    times = [request.body["filters"]["OR"][0]["AND"][-1]["value"] for request in service.requests if request.content]
    return {(datetime.fromtimestamp(time / 1000, UTC).date() - FIRST).days for time in times}


def place_of(task: str) -> int:
    return (date.fromisoformat(task[:10]) - FIRST).days


def killed(folder: Path, *, tasks: int, kills: int, seed: int) -> Killed:
    """Kills a run so many times, or until it is done; each row of the store is then in its files once."""
    chance, results = random.Random(seed), Killed()
    expected = codes(tasks)
    with da.Sandbox(switches={"latency": LATENCY}) as service, failing(service, chance, results):
        service.load("promotion_code", expected)
        token = service.issue_token()
        code = None
        while results.kills < kills and code != 0:
            done_before = tasks_done(folder)
            service.clear_requests()
            # Once the token expires during a run: the run ends by itself, and continues with another one.
            revoke = results.kills == kills // 2 and not results.refusals
            code = ended_early(service, token, folder, tasks, chance, revoke=revoke)
            done, asked = tasks_done(folder), tasks_asked(service)
            assert set(done) >= set(done_before), "what was done is forgotten"
            assert asked.isdisjoint(map(place_of, done_before)), "what was done is asked for again"
            under_way = asked - set(map(place_of, done))
            assert len(under_way) <= CONCURRENCY, under_way
            results.requests += len(service.requests)
            results.again.append(len(under_way))
            if revoke:
                assert code == REFUSED, code
                results.refusals += 1
                token = service.issue_token()
            else:
                results.kills += code == -signal.SIGKILL
        with child(service, token, folder, tasks) as process:
            output, _ = process.communicate(timeout=600)
            assert (process.returncode, output.splitlines()[-1]) == (0, f"report {tasks} {len(expected)}")
        results.requests += len(service.requests)
    found = [(row["id"], row["pool_id"]) for row in rows_in(folder)]
    assert sorted(found) == sorted((row["id"], row["pool_id"]) for row in expected)
    assert len(tasks_done(folder)) == tasks
    return results
