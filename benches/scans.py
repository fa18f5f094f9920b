"""What scans of many requests take: time beside others where each request has to wait, memory, and the files they make.

    python benches/scans.py [--smoke] [--out FOLDER]

`--smoke` does the same with tiny counts: it shows that the benches work, not how fast.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import statistics
import subprocess
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import cores
import race
import report
import requests
from clients import BODY, HEADERS, SINCE, Rows, Service, records_of
from prebuilt_server import LATENCY, LATER, PrebuiltServer
from race import US
from records import ATTRIBUTES
from report import Measure

import dataaccess as da

AT_ONCE = 32
RECORDS = 10
PROBE = Path(__file__).with_name("probe.py")


@dataclass(frozen=True)
class Scale:
    """Requests that wait, rows of one request, requests of scans of three sizes, and rounds.

    The smallest is long enough for all requests that may be in flight at a time to have been.
    """

    waits: int = 500
    rows: int = 100_000
    fewer: int = 30
    many: int = 100
    most: int = 300
    rounds: int = 3
    long_rounds: int = 2


SMOKE = Scale(waits=40, rows=500, fewer=1, many=2, most=2, rounds=1, long_rounds=1)


def ours(service: Service, count: int) -> Callable[[], Rows]:
    """One scan: a request for each id."""
    client = da.Client(service.base_url, token="t", concurrency=AT_ONCE)  # noqa: S106 - any is good
    ids = [str(number) for number in range(count)]
    scan = client.scan_codes(ATTRIBUTES, allocated_time=SINCE, allocated_audience=ids, values_per_request=1)
    return scan.to_dicts


def with_threads(service: Service, count: int) -> Callable[[], Rows]:
    """The library requests in threads, each with a session of its own."""
    sessions = [requests.Session() for _ in range(AT_ONCE)]
    for session in sessions:
        session.headers.update(HEADERS)

    def share(number: int) -> Rows:
        found: Rows = []
        for _ in range(number, count, AT_ONCE):
            found += records_of(sessions[number].post(service.address, data=BODY, timeout=60).json())
        return found

    def ask() -> Rows:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return [row for rows in pool.map(share, range(AT_ONCE)) for row in rows]

    return ask


def with_aiohttp(service: Service, count: int) -> Callable[[], Rows]:
    """aiohttp, so many at a time."""

    async def ask() -> Rows:
        free = asyncio.Semaphore(AT_ONCE)
        connector = aiohttp.TCPConnector(limit=AT_ONCE)
        async with aiohttp.ClientSession(headers=HEADERS, connector=connector) as session:

            async def one() -> Rows:
                async with free, session.post(service.address, data=BODY) as response:
                    return records_of(await response.json())

            return [row for rows in await asyncio.gather(*[one() for _ in range(count)]) for row in rows]

    return lambda: asyncio.run(ask())


def waits(server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """Requests that wait: how near to the least that so many at a time can take."""
    service = Service(server.url(f"{LATER}{RECORDS}"))

    def check(rows: Rows) -> None:
        if len(rows) != scale.waits * RECORDS or len(rows[-1]) != len(ATTRIBUTES):
            raise SystemExit(f"{len(rows)} rows of {scale.waits} requests of {RECORDS}")

    makers = {US: ours, "requests in threads": with_threads, "aiohttp": with_aiohttp}
    contenders = {name: make(service, scale.waits) for name, make in makers.items()}
    task = f"{scale.waits} requests of {LATENCY * 1000:.0f} ms, {AT_ONCE} at once"
    found = race.run(task, contenders, check, rounds=scale.rounds)
    ideal = math.ceil(scale.waits / AT_ONCE) * LATENCY
    over = Measure(f"{task}: over the ideal", found.median(US) / ideal, "x")
    return [*found.times(), over, *[found.over(name) for name in contenders if name != US]]


def probed(
    job: str, server: PrebuiltServer, scale: Scale, count: int, on: list[int] = cores.CLIENT
) -> dict[str, float]:
    """What a scan of so many requests took, in a process of its own on these cores."""
    arguments = [job, server.url(str(scale.rows)), str(count), ",".join(map(str, on))]
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, str(PROBE), *arguments],
        stdout=subprocess.PIPE,
        check=True,
        timeout=600,
    )
    reported: dict[str, float] = json.loads(done.stdout)
    if reported["rows"] != scale.rows * count:
        raise SystemExit(f"{reported['rows']} rows by {job}, not {scale.rows * count}")
    return reported


def large(server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """Large scans: rows a second, the highest memory of the process, and the size of the files."""
    measures = []
    for job, name, count in (
        ("scan_stream", "streamed", scale.most),
        ("scan_run", "into a folder of Parquet", scale.many),
    ):
        found = {each: [probed(job, server, scale, each) for _ in range(scale.rounds)] for each in (scale.fewer, count)}
        middle = {
            count: {key: statistics.median(each[key] for each in reported) for key in reported[0]}
            for count, reported in found.items()
        }
        most, task = middle[count], f"{scale.rows * count:,} rows in {count} requests {name}"
        measures.append(Measure(f"{task}: rows", most["rows"] / most["seconds"], "1/s"))
        measures += [
            Measure(f"{scale.rows * each:,} rows in {each} requests {name}: highest memory", reported["memory"], "MB")
            for each, reported in middle.items()
        ]
        grown = (most["memory"] / middle[scale.fewer]["memory"] - 1) * 100
        measures.append(Measure(f"{task}: growth of the memory", grown, "%"))
        if "file_bytes" in most:
            measures.append(Measure(f"{task}: size of the responses", most["bytes"] / most["rows"], "bytes a row"))
            measures.append(Measure(f"{task}: size of the files", most["file_bytes"] / most["rows"], "bytes a row"))
    return measures


APART = {
    "scan_unordered": "streamed in any order",
    "scan_arrow": "into one table",
    "scan_parquet": "into one Parquet file",
    "scan_run": "into a folder of Parquet",
}


def on_two_cores(server: PrebuiltServer, scale: Scale) -> list[Measure]:
    """What two cores are worth. The server's bytes lie in its memory; sending them takes some of the second core."""
    measures = []
    for job, name in APART.items():
        seconds: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(scale.long_rounds):
            for count, on in ((1, cores.CLIENT), (2, cores.CORES[:1] + cores.CORES[-1:])):
                seconds[count].append(probed(job, server, scale, scale.many, on)["seconds"])
        one, two = (statistics.median(each) for each in seconds.values())
        task = f"{scale.rows * scale.many:,} rows in {scale.many} requests {name}"
        measures.append(Measure(f"{task}: on two cores", two, "s"))
        measures.append(Measure(f"{task}: two cores over one", one / two, "x"))
    return measures


def main() -> None:
    """Runs all parts."""
    parser = argparse.ArgumentParser(description="What scans of many requests take.")
    parser.add_argument("--smoke", action="store_true", help="tiny counts, to see that the benches work")
    parser.add_argument("--out", type=Path, default=Path("target/bench"), help="folder of the JSON")
    options = parser.parse_args()
    scale = SMOKE if options.smoke else Scale()
    # The responses are alike indeed.
    warnings.simplefilter("ignore", da.IncompleteWarning)
    cores.keep_to(cores.CLIENT)
    with PrebuiltServer() as server:
        measures = waits(server, scale)
        if sys.platform == "linux":
            measures += large(server, scale) + on_two_cores(server, scale)
    print(f"wrote {report.write('scans', measures, options.out, smoke=options.smoke)}")


if __name__ == "__main__":
    main()
