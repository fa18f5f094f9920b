"""One job of our client in a process of its own, done so many times, for counters of the whole process.

    python counted.py JOB TIMES BASE_URL

A counter that is read for two numbers of times gives what one time costs: start and imports cancel out. The program
imports nothing but the package; it ends with an error if a result is not as long as it should be.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from records import ATTRIBUTES

import dataaccess as da

TOKEN = "t"  # noqa: S105 - any will do
SINCE = da.after("2020-01-01")
SEARCH = "/access/api/item/search"
THREADS = 16


def check(found: int, expected: int) -> None:
    """Ends the process unless as many were found as expected."""
    if found != expected:
        raise SystemExit(f"{found} found, not {expected}")


def rows_of(base_url: str) -> int:
    """How many records a response has: the last part of its address."""
    return int(base_url.rpartition("/")[2].rpartition("-")[2])


def scan_of(base_url: str) -> da.Scan:
    """A scan of one request."""
    return da.Client(base_url, token=TOKEN).scan_codes(ATTRIBUTES, allocated_time=SINCE)


def stream(base_url: str) -> Callable[[], None]:
    """All records in batches of Arrow."""
    scan, expected = scan_of(base_url), rows_of(base_url)
    return lambda: check(sum(batch.num_rows for batch in scan.batches()), expected)


def arrow(base_url: str) -> Callable[[], None]:
    """All records as our table."""
    scan, expected = scan_of(base_url), rows_of(base_url)
    return lambda: check(len(scan.to_arrow()), expected)


def pandas(base_url: str) -> Callable[[], None]:
    """All records as a DataFrame of pandas."""
    scan, expected = scan_of(base_url), rows_of(base_url)
    return lambda: check(len(scan.to_pandas()), expected)


def dicts(base_url: str) -> Callable[[], None]:
    """All records as dicts."""
    scan, expected = scan_of(base_url), rows_of(base_url)
    return lambda: check(len(scan.to_dicts()), expected)


def search_codes(base_url: str) -> Callable[[], None]:
    """One call of `search_codes`."""
    client, expected = da.Client(base_url, token=TOKEN), rows_of(base_url)
    return lambda: check(len(client.search_codes(ATTRIBUTES, allocated_time=SINCE)), expected)


def post(base_url: str) -> Callable[[], None]:
    """One call of `post`."""
    client, expected = da.Client(base_url, token=TOKEN), rows_of(base_url)
    body = da.validate_codes(ATTRIBUTES, allocated_time=SINCE)
    return lambda: check(len(client.post(SEARCH, body)["data"]["data"]), expected)


def threads(base_url: str, times: int) -> None:
    """Calls of `search_codes` from many threads on one client."""
    call = search_codes(base_url)

    def share() -> None:
        for _ in range(times // THREADS):
            call()

    with ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(share) for _ in range(THREADS)]:
            done.result()


def awaited(base_url: str, times: int, *, at_once: int) -> None:
    """Awaited calls of `search_codes`, so many at a time."""
    expected = rows_of(base_url)

    async def share(client: da.AsyncClient) -> None:
        for _ in range(times // at_once):
            check(len(await client.search_codes(ATTRIBUTES, allocated_time=SINCE)), expected)

    async def main() -> None:
        async with da.AsyncClient(base_url, token=TOKEN) as client:
            await asyncio.gather(*[share(client) for _ in range(at_once)])

    asyncio.run(main())


def repeated(make: Callable[[str], Callable[[], None]]) -> Callable[[str, int], None]:
    """The job that does it so many times, one after the other."""

    def run(base_url: str, times: int) -> None:
        once = make(base_url)
        for _ in range(times):
            once()

    return run


JOBS: dict[str, Callable[[str, int], None]] = {
    **{make.__name__: repeated(make) for make in (stream, arrow, pandas, dicts, search_codes, post)},
    "asyncio_1": partial(awaited, at_once=1),
    "asyncio_16": partial(awaited, at_once=16),
    "threads_16": threads,
}

if __name__ == "__main__":
    job, times, base_url = sys.argv[1:]
    JOBS[job](base_url, int(times))
