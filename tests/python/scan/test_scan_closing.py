"""Scans of several requests: closing, cancelling or a failure ends all requests in flight."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from support.scan_requests import (
    OUTPUTS,
    SILENCE,
    Parts,
    ScanRequest,
    ok_response,
    rows_of_all,
    scan_of_parts,
    scan_server,
)
from support.scan_waits import REFUSED, wait_until
from support.streams import gone

import dataaccess as da

pytestmark = pytest.mark.usefixtures("short_pauses")


def all_silent(_asked: ScanRequest) -> bytes:
    return SILENCE


ENDS: dict[str, Callable[[Any, Any], object]] = {
    "close the batches": lambda _client, batches: batches.close(),
    "close the client": lambda client, _batches: client.close(),
}


@pytest.mark.both_clients
@pytest.mark.parametrize("end", ENDS)
def test_closing_ends_all_that_are_in_flight(connect: Any, end: str) -> None:
    with scan_server(lambda asked: ok_response(asked) if asked.part == 0 else SILENCE) as parts:
        client = connect(parts.base_url, concurrency=4)
        batches = scan_of_parts(client, 9).batches()
        assert next(iter(batches)).num_rows == 2
        wait_until(lambda: len(parts.asked) >= 4)
        ENDS[end](client, batches)
        # That of the first response may be kept for another call.
        wait_until(lambda: parts.server.open <= 1)
        with pytest.raises(da.StreamInterruptedError):
            next(iter(batches))


@pytest.mark.both_clients
def test_dropping_the_batches_ends_all_that_are_in_flight(connect: Any) -> None:
    with scan_server(all_silent) as parts:
        batches = scan_of_parts(connect(parts.base_url, concurrency=4), 9).batches()
        wait_until(lambda: len(parts.asked) == 4)
        del batches
        assert gone(parts.server)


def test_closing_the_client_ends_what_is_collected() -> None:
    with scan_server(all_silent) as parts:
        client = da.Client(parts.base_url, token="tok-test")

        def close() -> None:
            wait_until(lambda: len(parts.asked) == 8)
            client.close()

        thread = threading.Thread(target=close)
        thread.start()
        with pytest.raises(da.ClientClosedError):
            scan_of_parts(client, 20).to_dicts()
        thread.join()
        assert gone(parts.server)
        assert len(parts.asked) == 8


def test_a_cancelled_wait_has_taken_nothing_of_several_responses() -> None:
    def slowly(asked: ScanRequest) -> bytes:
        time.sleep(0.03)
        return ok_response(asked)

    async def main() -> None:
        with scan_server(slowly) as parts:
            client = da.AsyncClient(parts.base_url, token="tok-test", concurrency=2)
            batches = scan_of_parts(client, 30).batches()
            rows: list[dict[str, Any]] = []
            cancelled = 0
            while True:
                try:
                    async with asyncio.timeout(0.004):
                        rows.extend((await anext(batches)).to_pylist())
                except TimeoutError:
                    cancelled += 1
                except StopAsyncIteration:
                    break
            assert rows == rows_of_all(30)
            assert cancelled > 3

    asyncio.run(main())


@pytest.mark.parametrize("output", OUTPUTS)
def test_cancelling_ends_all_that_are_in_flight(output: str) -> None:
    async def taken(scan: da.AsyncScan) -> None:
        if output == "batches":
            async for _ in scan.batches():
                pass
        else:
            await getattr(scan, output if output == "collect" else f"to_{output}")()

    async def main() -> None:
        with scan_server(all_silent) as parts:
            task = asyncio.create_task(taken(scan_of_parts(da.AsyncClient(parts.base_url, token="t"), 9)))
            while len(parts.asked) < 8:
                await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await asyncio.to_thread(gone, parts.server)

    asyncio.run(main())


@contextmanager
def first_refused() -> Iterator[Parts]:
    """A service that refuses the first of four requests, once all are in flight; the others get no response."""

    def respond(asked: ScanRequest) -> bytes:
        if asked.part:
            return SILENCE
        wait_until(lambda: len(parts.asked) == 4)
        return REFUSED

    with scan_server(respond) as parts:
        yield parts


@pytest.mark.parametrize("output", [name for name in OUTPUTS if name != "batches"])
def test_a_failure_ends_all_that_are_in_flight(connect: Any, output: str) -> None:
    with first_refused() as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=4), 4)
        with pytest.raises(da.RequestRejectedError):
            OUTPUTS[output](scan)
        assert gone(parts.server)


@pytest.mark.both_clients
@pytest.mark.parametrize("requests", [4, 40])
def test_a_failure_ends_all_though_the_batches_are_still_held(connect: Any, requests: int) -> None:
    with first_refused() as parts:
        batches = scan_of_parts(connect(parts.base_url, concurrency=4), requests).batches()
        with pytest.raises(da.RequestRejectedError):
            next(iter(batches))
        assert gone(parts.server)
        assert len(parts.asked) == 4
        assert not batches.stats
