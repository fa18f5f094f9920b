"""What all requests of a client wait for : the pause and the rate hold with more callers than places too."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from support.operations import WHOLE
from support.raw_server import RawServer, http

import dataaccess as da

DAY: dict[str, Any] = {"attrs": ["id"], "allocated_time": da.on("2024-01-15")}
BUSY = http(b"", "429 Too Many Requests", headers=("Retry-After: 1",))


class Timed:
    """A server that remembers when each request came. The first gets another response, and later."""

    def __init__(self, first: bytes, seconds: float) -> None:
        """Begins to listen."""
        self._lock = threading.Lock()
        self._first, self._seconds = first, seconds
        self.arrivals: list[float] = []
        self.server = RawServer(self._respond)
        self.base_url = self.server.base_url

    def _respond(self, connection: Any, _number: int) -> None:
        with self._lock:
            self.arrivals.append(time.monotonic())
            is_first = len(self.arrivals) == 1
        if is_first:
            time.sleep(self._seconds)
            connection.sendall(self._first)
        else:
            connection.sendall(WHOLE)


@contextmanager
def timed(first: bytes = WHOLE, seconds: float = 0.0) -> Iterator[Timed]:
    """Runs such a server for the time of a block."""
    timed = Timed(first, seconds)
    try:
        yield timed
    finally:
        timed.server.close()


@pytest.mark.fault("R4")
def test_no_queued_request_is_sent_within_the_pause_that_another_was_given(time_scale: Any) -> None:
    time_scale(5)

    async def main() -> None:
        async with da.AsyncClient(service.base_url, token="tok", concurrency=1) as client:
            results = await asyncio.gather(*(client.search_codes(**DAY) for _ in range(8)))
            assert all(results)

    with timed(BUSY) as service:
        asyncio.run(main())
    began, second, *others = service.arrivals
    assert len(others) == 7
    assert second - began >= 1 / 5, "within the pause of the first response"


def test_the_rate_holds_for_requests_that_waited_for_a_place() -> None:
    with timed(seconds=0.2) as service, ThreadPoolExecutor(4) as pool:
        client = da.Client(service.base_url, token="tok", concurrency=1, requests_per_second=20)
        assert all(pool.map(lambda _: client.search_codes(**DAY), range(4)))
        assert service.arrivals[3] - service.arrivals[0] >= 0.2 + 2 / 20


def test_the_rate_holds_for_requests_that_waited_for_a_token() -> None:
    fetched = threading.Event()

    def token() -> str:
        fetched.wait(10)
        return "tok"

    with timed() as service, ThreadPoolExecutor(4) as pool:
        client = da.Client(service.base_url, token=token, concurrency=None, requests_per_second=20)
        calls = [pool.submit(client.search_codes, **DAY) for _ in range(4)]
        time.sleep(0.2)
        returned = time.monotonic()
        fetched.set()
        assert all(call.result() for call in calls)
        assert service.arrivals[3] - returned >= 3 / 20
