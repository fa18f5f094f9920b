"""Searches of a service that fails by chance, and what must become of each.

Chance is drawn from the key that a search asks for and from the number of its attempt, both of which its request
carries. So the oracle knows beforehand which searches end well, after how many requests, and how the others fail,
whatever threads do.
"""

from __future__ import annotations

import asyncio
import gzip
import random
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from support import kinds
from support.raw_server import RawServer, Responder, always, closing, http, reset, serving, silent

import dataaccess as da

SHARE = 0.2
# At once; a client with `concurrency=` so large has the tokens for it.
THREADS, CONCURRENCY = 16, 64


def envelope(key: str) -> dict[str, Any]:
    """The response to a key: rows that no other key has, and sometimes enough for several batches."""
    draw = random.Random(f"rows of {key}")
    count = draw.choice([16_000, *[60] * 11])
    rows = [{"n": n, "text": f"{key} {n * 7919 % 1_000}"} for n in range(draw.randint(count * 3 // 4, count))]
    return {"code": 200, "message": "ok", "data": {"status": True, "data": rows}}


def rows_of(key: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = envelope(key)["data"]["data"]
    return rows


def part(body: bytes, attempt: int) -> bytes:
    """Some of the beginning: of each attempt another length, as two of the same would be final (H9)."""
    draw = random.Random(f"{len(body)}, attempt {attempt}")
    return body[: draw.randrange(len(body) // 16 - 1) * 16 + attempt % 16 + 1]


Fault = tuple[Callable[[bytes, int], Responder], type[da.DataAccessError]]
"""A responder that fails, of the body and the number of the attempt; and the class that it raises."""
PACKED = ("Content-Encoding: gzip",)
BROKEN = http(b"<html>bad gateway", "502 Bad Gateway", content_type="text/html")
# Equally frequent.
FAULTS: list[Fault] = [
    (lambda _body, _attempt: lambda connection, _number: reset(connection), kinds.Lost),
    (lambda _body, _attempt: closing(b""), kinds.Lost),
    (lambda body, attempt: closing(http(part(body, attempt), length=len(body))), kinds.Truncated),
    # Complete, according to HTTP; and so of a compressed body.
    (lambda body, attempt: always(http(part(body, attempt))), kinds.Truncated),
    (lambda body, attempt: always(http(part(gzip.compress(body), attempt), headers=PACKED)), kinds.Truncated),
    # Without a word on when to come again, which would slow down all searches.
    (lambda _body, _attempt: always(http(b"", "503 Busy")), da.ThrottledError),
    (lambda _body, _attempt: always(BROKEN), da.ServerError),
    (lambda body, attempt: silent(http(part(body, attempt), length=len(body))), da.RequestTimeoutError),
]


def fault_of(key: str, attempt: int) -> Fault | None:
    """What goes wrong with this attempt, if anything does."""
    draw = random.Random(f"{key}, attempt {attempt}")
    return draw.choice(FAULTS) if draw.random() < SHARE else None


@contextmanager
def chaotic() -> Iterator[RawServer]:
    """Gives the rows of the key that a search asks for, or fails as its attempt must."""

    def respond(connection: Any, number: int) -> None:
        request = server.requests[number]
        found = re.search(rb"key-[\w-]+", request.body)
        assert found is not None
        key, attempt = found[0].decode(), int(request.headers["x-request-id"].rpartition("-")[2])
        whole, fault = http(envelope(key)), fault_of(key, attempt)
        respond_with = always(whole) if fault is None else fault[0](whole.partition(b"\r\n\r\n")[2], attempt)
        respond_with(connection, number)

    with serving(respond) as server:
        yield server


Outcome = tuple[int, type[da.DataAccessError] | None]
"""After how many requests a search ended, and the class of its failure."""


def outcome(key: str, retries: int, free: int) -> Outcome:
    """How a search ends of whose requests so many are not counted that are lost without a byte."""
    attempt = counted = 0
    while True:
        attempt += 1
        fault = fault_of(key, attempt)
        if fault is None:
            return attempt, None
        _, kind = fault
        if free and kind is kinds.Lost:
            free -= 1
        elif counted == retries:
            return attempt, kind
        else:
            counted += 1


def outcomes(key: str, retries: int) -> set[Outcome]:
    """One such request is not counted if its connection was an old one, which is a matter of threads."""
    return {outcome(key, retries, free) for free in (0, 1)}


@dataclass
class SearchOutcome:
    key: str
    attempts: int
    error: da.DataAccessError | None
    rows: list[dict[str, Any]] | None

    def check(self, retries: int) -> bool:
        """Right, or an error of its class: anything else is a lie. Whether a retry was left: chance made an outage."""
        assert self.rows is None or self.rows == rows_of(self.key), self.key
        kind = None if self.error is None else kinds.kind_of(self.error)
        if (self.attempts, kind) in outcomes(self.key, retries):
            return False
        fault, most = fault_of(self.key, self.attempts), max(attempts for attempts, _ in outcomes(self.key, retries))
        assert fault is not None, (self, outcomes(self.key, retries))
        assert (kind, self.attempts < most) == (fault[1], True), (self, outcomes(self.key, retries))
        return True


def scan(client: Any, key: str) -> Any:
    return client.scan_items("store", ["n", "text"], da.col("text").equals(key), item_type_id=7)


def is_for_columns(key: str) -> bool:
    """Half of all are asked for rows, half for columns."""
    return key[-1] in "02468"


def failed(key: str, error: da.DataAccessError) -> SearchOutcome:
    return SearchOutcome(key, error.attempts, error, None)


def by_threads(address: str, keys: Iterable[str], **options: Any) -> tuple[list[SearchOutcome], Any]:
    """Asks for each key with one `Client`; and its figures."""
    client = da.Client(address, token="tok", concurrency=CONCURRENCY, **options)

    def ask(key: str) -> SearchOutcome:
        asked = scan(client, key)
        try:
            rows = asked.to_arrow().to_pylist() if is_for_columns(key) else asked.to_dicts()
            return SearchOutcome(key, asked.last_stats.attempts, None, rows)
        except da.DataAccessError as error:
            return failed(key, error)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(ask, keys)), client.stats


def by_tasks(address: str, keys: Iterable[str], **options: Any) -> tuple[list[SearchOutcome], Any]:
    async def main() -> tuple[list[SearchOutcome], Any]:
        client = da.AsyncClient(address, token="tok", concurrency=CONCURRENCY, **options)
        places = asyncio.Semaphore(THREADS)

        async def ask(key: str) -> SearchOutcome:
            async with places:
                asked = scan(client, key)
                try:
                    rows = (await asked.to_arrow()).to_pylist() if is_for_columns(key) else await asked.to_dicts()
                    return SearchOutcome(key, asked.last_stats.attempts, None, rows)
                except da.DataAccessError as error:
                    return failed(key, error)

        return list(await asyncio.gather(*map(ask, keys))), client.stats

    return asyncio.run(main())


BY = {"sync": by_threads, "async": by_tasks}
