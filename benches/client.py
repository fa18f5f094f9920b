"""How fast the client is beside other clients: four scenarios, and each compares all clients in one run.

    python benches/client.py [SCENARIO …] [--smoke] [--out FOLDER]

- frames: a million rows to a DataFrame of pandas or polars or a table of pyarrow, plain, and with TLS and gzip
- dicts: a million rows to dicts
- calls: calls that return one record: serial, from 16 threads, and awaited
- start: a new process that imports the client, and one that gets its first record

A process sends prebuilt responses from memory. It and the clients use different cores. The clients take turns. Each
result is compared with the expected records, outside of the measured time. Each scenario writes its medians as JSON.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import clients
import pandas as pd
import polars as pl
import pyarrow as pa
from clients import RUNNER, US, Call, Rows, Service
from prebuilt_server import CLIENT_CORES, PrebuiltServer, keep_to
from records import ATTRIBUTES

import dataaccess as da

AT_ONCE = 16
INTEGERS = ("pool_id", "audience_type", "code_status")
TIMES = ("date_created", "allocated_time", "last_used_time")
TYPES = dict.fromkeys(INTEGERS, pa.int64()) | dict.fromkeys(TIMES, pa.timestamp("us"))
# In this schema all frames are compared: in most frames of other clients, times are strings.
SCHEMA = pa.schema([(name, TYPES.get(name, pa.string())) for name in ATTRIBUTES])
PACKAGES = (US, "requests", "httpx", "aiohttp", "pyreqwest.client")
FIRST_RECORD = {
    US: """
import json, dataaccess as da
client = da.Client({base_url!r}, token="t", timezone="UTC")
print(json.dumps(client.search_codes(allocated_time=da.after("2020-01-01")), sort_keys=True), end="")
""",
    "requests": """
import json, requests
answer = requests.post({base_url!r} + "/access/api/item/search", data=b"{{}}")
print(json.dumps(answer.json()["data"]["data"], sort_keys=True), end="")
""",
    "pyreqwest": """
import json
from pyreqwest.client import SyncClientBuilder
answer = SyncClientBuilder().build().post({base_url!r} + "/access/api/item/search").body_bytes(b"{{}}").build().send()
print(json.dumps(answer.json()["data"]["data"], sort_keys=True), end="")
""",
}


class Scale(NamedTuple):
    rows: int = 1_000_000
    rounds: int = 3
    calls: int = 800
    call_rounds: int = 15


SMOKE = Scale(rows=2_000, rounds=1, calls=32, call_rounds=1)
Medians = dict[str, dict[str, float]]


def race(
    contenders: Mapping[str, Callable[[], Any]], is_right: Callable[[Any], bool], rounds: int, units: float
) -> dict[str, float]:
    """The median time of each contender, in units of which a second has `units`. The first round does not count."""
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    for number in range(-1, rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            gc.collect()
            started = time.perf_counter()
            result = contenders[name]()
            seconds = time.perf_counter() - started
            if not is_right(result):
                raise SystemExit(f"{name}: a wrong result")
            del result
            if number >= 0:
                taken[name].append(seconds * units)
    return {name: statistics.median(times) for name, times in taken.items()}


def expected_rows(service: Service) -> Rows:
    """The records of a response as the json module reads them, hidden from the garbage collector."""
    rows = clients.rows_of(json.loads(clients.fetching(service)()))
    gc.collect()
    gc.freeze()
    return rows


def table_of(frame: Any) -> pa.Table:
    """A frame of pandas or polars, or a table, in the schema in which all are compared."""
    if isinstance(frame, pd.DataFrame):
        table = pa.Table.from_pandas(frame, preserve_index=False)
    elif isinstance(frame, pl.DataFrame):
        table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    else:
        table = pa.table(frame)
    return table.select(ATTRIBUTES).cast(SCHEMA)


def frames(server: PrebuiltServer, scale: Scale) -> Medians:
    """Milliseconds to each kind of frame."""
    plain = Service(server.url(str(scale.rows)))
    secured = Service(server.url(f"gzip-{scale.rows}", secured=True), server.ca_bundle)
    expected = pa.Table.from_pylist(expected_rows(plain)).cast(SCHEMA)
    return {
        kind + how: race(contenders, lambda frame: table_of(frame).equals(expected), scale.rounds, 1e3)
        for service, how in ((plain, ""), (secured, ", TLS and gzip"))
        for kind, contenders in clients.to_frames(service).items()
    }


def dicts(server: PrebuiltServer, scale: Scale) -> Medians:
    """Milliseconds to a list of dicts."""
    service = Service(server.url(str(scale.rows)))
    expected = expected_rows(service)
    contenders = {US: service.scan().to_dicts} | clients.connect(service)
    return {"dicts": race(contenders, lambda rows: rows == expected, scale.rounds, 1e3)}


def calls(server: PrebuiltServer, scale: Scale) -> Medians:
    """Microseconds of one call."""
    service = Service(server.url("1"))
    expected = [expected_rows(service)] * scale.calls
    client = service.client()
    made: dict[str, Call] = {
        US: lambda: client.search_codes(ATTRIBUTES, allocated_time=clients.SINCE),
        f"{US} post": lambda: clients.rows_of(client.post(clients.SEARCH, clients.REQUEST)),
        **clients.connect(service),
    }
    tasks = {
        US: RUNNER.run(clients.await_us(service)),
        "aiohttp": RUNNER.run(clients.await_aiohttp(service)),
        "pyreqwest": RUNNER.run(clients.await_pyreqwest(service)),
    }

    def awaiting(name: str, at_once: int) -> Callable[[], list[Rows]]:
        return lambda: RUNNER.run(clients.repeated(tasks[name], scale.calls, at_once))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        # One run of the loop for all calls of aiohttp.
        one_by_one = {name: partial(serial, call, scale.calls) for name, call in made.items()}
        races: dict[str, dict[str, Callable[[], list[Rows]]]] = {
            "serial": {**one_by_one, "aiohttp": awaiting("aiohttp", 1)},
            f"{AT_ONCE} threads": {
                name: partial(threaded, made[name], scale.calls, pool) for name in (US, f"{US} post", "pyreqwest")
            },
            "awaited": {name: awaiting(name, 1) for name in tasks},
            f"{AT_ONCE} awaited at once": {name: awaiting(name, AT_ONCE) for name in tasks},
        }
        return {
            task: race(contenders, lambda answers: answers == expected, scale.call_rounds, 1e6 / scale.calls)
            for task, contenders in races.items()
        }


def serial(call: Call, calls: int) -> list[Rows]:
    return [call() for _ in range(calls)]


def threaded(call: Call, calls: int, pool: ThreadPoolExecutor) -> list[Rows]:
    """So many calls, shared among threads."""
    shares = pool.map(serial, [call] * AT_ONCE, [calls // AT_ONCE] * AT_ONCE)
    return [rows for share in shares for rows in share]


def start(server: PrebuiltServer, scale: Scale) -> Medians:
    """Milliseconds of a new process, less the time of a process that does nothing."""
    service = Service(server.url("1"))
    record = json.dumps(expected_rows(service), sort_keys=True)
    first = {name: program.format(base_url=service.base_url) for name, program in FIRST_RECORD.items()}
    tasks = {
        "import": {name.partition(".")[0]: partial(prints, f"import {name}", "") for name in PACKAGES},
        "first record": {name: partial(prints, program, record) for name, program in first.items()},
    }
    found = {}
    for task, programs in tasks.items():
        taken = race({"nothing": partial(prints, "pass", ""), **programs}, bool, scale.call_rounds, 1e3)
        nothing = taken.pop("nothing")
        found[task] = {name: time - nothing for name, time in taken.items()}
    return found


def prints(program: str, expected: str) -> bool:
    """Whether a program in a process of its own prints the expected text."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, timeout=60)
    return done.stdout.decode() == expected


SCENARIOS = {"frames": (frames, "ms"), "dicts": (dicts, "ms"), "calls": (calls, "µs"), "start": (start, "ms")}


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast the client is, beside other clients.")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=f"{', '.join(SCENARIOS)}; all by default")
    parser.add_argument("--smoke", action="store_true", help="tiny counts, to see that the benches work")
    parser.add_argument("--out", type=Path, default=Path("target/bench"), help="folder of the JSON")
    options = parser.parse_args()
    if unknown := set(options.scenarios) - SCENARIOS.keys():
        parser.error(f"no such scenario: {', '.join(sorted(unknown))}")
    # The responses have round numbers of rows.
    warnings.simplefilter("ignore", da.IncompleteWarning)
    keep_to(CLIENT_CORES)
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.scenarios or SCENARIOS:
        scenario, unit = SCENARIOS[name]
        # A server for each scenario: it has only the responses of this one in memory.
        with PrebuiltServer() as server:
            tasks = scenario(server, SMOKE if options.smoke else Scale())
        for task, figures in tasks.items():
            print(f"{name}, {task}: " + ", ".join(f"{who} {value:,.1f} {unit}" for who, value in figures.items()))
        report = {
            "version": da.__version__,
            "day": f"{datetime.now(UTC):%Y-%m-%d}",
            "machine": f"Python {platform.python_version()}, {platform.system()}, {os.cpu_count()} processors",
            "unit": unit,
            "tasks": tasks,
        }
        (options.out / f"{name}.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
