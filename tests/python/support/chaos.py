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
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from support import kinds
from support.raw_server import Close, RawServer, http, reset

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


Way = Callable[[Any, bytes, int], None]
"""Fails on a connection with the response's body and the number of the attempt."""


def part(body: bytes, attempt: int) -> bytes:
    """Some of the beginning: of each attempt another length, as two of the same would be final (H9)."""
    draw = random.Random(f"{len(body)}, attempt {attempt}")
    return body[: draw.randrange(len(body) // 16 - 1) * 16 + attempt % 16 + 1]


def lost(connection: Any, _body: bytes, _attempt: int) -> None:
    """Reset without a byte."""
    reset(connection)


def closed(_connection: Any, _body: bytes, _attempt: int) -> None:
    """Closed without a byte."""
    raise Close


def cut(connection: Any, body: bytes, attempt: int) -> None:
    """Closed within the body."""
    connection.sendall(http(part(body, attempt), length=len(body)))
    raise Close


def cut_unnoticed(connection: Any, body: bytes, attempt: int) -> None:
    """Complete, according to HTTP."""
    connection.sendall(http(part(body, attempt)))


def cut_packed(connection: Any, body: bytes, attempt: int) -> None:
    """The same, of a compressed body."""
    connection.sendall(http(part(gzip.compress(body), attempt), headers=("Content-Encoding: gzip",)))


def busy(connection: Any, _body: bytes, _attempt: int) -> None:
    """Without a word on when to come again, which would slow down all searches."""
    connection.sendall(http(b"", "503 Busy"))


def broken(connection: Any, _body: bytes, _attempt: int) -> None:
    """An error of a gateway."""
    connection.sendall(http(b"<html>bad gateway", "502 Bad Gateway", content_type="text/html"))


def stalled(connection: Any, body: bytes, attempt: int) -> None:
    """Silent within the body until the client gives up."""
    connection.sendall(http(part(body, attempt), length=len(body)))
    connection.recv(1)
    raise Close


# The failures, equally frequent, with the class that each raises.
FAULTS: list[tuple[Way, type[da.DataAccessError]]] = [
    (lost, kinds.Lost),
    (closed, kinds.Lost),
    (cut, kinds.Truncated),
    (cut_unnoticed, kinds.Truncated),
    (cut_packed, kinds.Truncated),
    (busy, da.ThrottledError),
    (broken, da.ServerError),
    (stalled, da.RequestTimeoutError),
]


def fault_of(key: str, attempt: int) -> tuple[Way, type[da.DataAccessError]] | None:
    """What goes wrong with this attempt, if anything does."""
    draw = random.Random(f"{key}, attempt {attempt}")
    return draw.choice(FAULTS) if draw.random() < SHARE else None


@dataclass
class Chaotic:
    """Responses searches, most of them."""

    server: RawServer = field(init=False)

    def __call__(self, connection: Any, number: int) -> None:
        """Gives the rows of the key, or fails as its attempt must."""
        request = self.server.requests[number]
        found = re.search(rb"key-[\w-]+", request.body)
        assert found is not None
        key, attempt = found[0].decode(), int(request.headers["x-request-id"].rpartition("-")[2])
        whole = http(envelope(key))
        fault = fault_of(key, attempt)
        if fault is None:
            connection.sendall(whole)
        else:
            fault[0](connection, whole.partition(b"\r\n\r\n")[2], attempt)


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
        way, kind = fault
        if free and way in {lost, closed}:
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
    """What became of a search."""

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
    """Asks for each key with one `AsyncClient`; and its figures."""

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
