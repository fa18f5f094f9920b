"""Repeats one job of the client in a process of its own: `counted.py JOB TIMES BASE_URL`.

`instructions.py` counts two numbers of times. The difference is the cost of the job, without the start of the process.
The program imports only the package. It ends with an error if a result has a wrong length.
"""

from __future__ import annotations

import logging  # noqa: F401 - most programs import it, and then each call asks its loggers
import sys
from collections.abc import Callable

from records import ATTRIBUTES

import dataaccess as da

TOKEN = "t"
SINCE = da.after("2020-01-01")
SEARCH = "/access/api/item/search"


def check(found: int, expected: int) -> None:
    if found != expected:
        raise SystemExit(f"{found} found, not {expected}")


def rows_of(base_url: str) -> int:
    """How many records a response has: the last part of its address."""
    return int(base_url.rpartition("/")[2].rpartition("-")[2])


def scan_of(base_url: str) -> da.Scan:
    return da.Client(base_url, token=TOKEN).scan_codes(ATTRIBUTES, allocated_time=SINCE)


def stream(base_url: str) -> Callable[[], None]:
    scan, expected = scan_of(base_url), rows_of(base_url)
    return lambda: check(sum(batch.num_rows for batch in scan.batches()), expected)


def dicts(base_url: str) -> Callable[[], None]:
    scan, expected = scan_of(base_url), rows_of(base_url)
    return lambda: check(len(scan.to_dicts()), expected)


def search_codes(base_url: str) -> Callable[[], None]:
    client, expected = da.Client(base_url, token=TOKEN), rows_of(base_url)
    return lambda: check(len(client.search_codes(ATTRIBUTES, allocated_time=SINCE)), expected)


def post(base_url: str) -> Callable[[], None]:
    client, expected = da.Client(base_url, token=TOKEN), rows_of(base_url)
    body = da.validate_codes(ATTRIBUTES, allocated_time=SINCE)
    return lambda: check(len(client.post(SEARCH, body)["data"]["data"]), expected)


def main(job: str, times: str, base_url: str) -> None:
    once = {make.__name__: make for make in (stream, dicts, search_codes, post)}[job](base_url)
    for _ in range(int(times)):
        once()


if __name__ == "__main__":
    main(*sys.argv[1:])
