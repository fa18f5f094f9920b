"""Awaited calls and their loop: results, cancellation and other loops."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.raw_server import http, serving

import dataaccess as da

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs loops that watch sockets")

DAY = da.on("2024-01-15")


@pytest.fixture(autouse=True)
def _nothing_is_unraisable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    unraisable: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    yield
    gc.collect()
    assert unraisable == []


@pytest.fixture
def run() -> Iterator[Callable[[Any], Any]]:
    failures: list[dict[str, Any]] = []

    def run(main: Any) -> Any:
        with asyncio.Runner() as runner:
            runner.get_loop().set_exception_handler(lambda _, context: failures.append(context))
            return runner.run(main)

    yield run
    assert failures == []


def codes(client: da.AsyncClient) -> Any:
    return client.search_codes(["id"], allocated_time=DAY)


def test_results_and_errors_arrive_in_any_loop(run: Any, sandbox: da.Sandbox) -> None:
    async def main() -> None:
        async with da.AsyncClient(sandbox.base_url, token="wrong") as refused:
            with pytest.raises(da.PermissionDeniedError):
                await codes(refused)
        async with sandbox.async_client() as client:
            first, *others = await asyncio.gather(*(codes(client) for _ in range(20)))
            assert first
            assert all(other == first for other in others)

    run(main())


def test_a_callback_that_raises_stop_iteration_ends_its_call_and_no_other(run: Any, sandbox: da.Sandbox) -> None:
    nothing: Iterator[None] = iter(())

    async def main() -> None:
        async with da.AsyncClient(sandbox.base_url, token=sandbox.issue_token(["download"])) as client:
            calls = [client.wait_for_segment(5637051, timeout=20, on_update=lambda _: next(nothing)) for _ in range(8)]
            failed = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 10)
            for error in failed:
                assert isinstance(error, RuntimeError)
                assert isinstance(error.__cause__, StopIteration)
            assert await asyncio.wait_for(client.download_segment(5637051), 10)

    run(main())


def test_a_call_is_cancelled_in_any_loop(run: Any) -> None:
    def stall(connection: Any, _number: int) -> None:
        connection.sendall(http()[:-10])
        assert connection.recv(1) == b""

    async def main() -> None:
        with serving(stall) as server:
            client = da.AsyncClient(server.base_url, token="tok")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(codes(client), 0.1)
            deadline = time.monotonic() + 5
            while server.open and time.monotonic() < deadline:
                await asyncio.sleep(0.01)
            assert server.open == 0

    run(main())


def test_a_call_that_ended_can_still_be_cancelled(run: Any) -> None:
    async def main() -> None:
        responded = threading.Event()

        def respond(connection: Any, _number: int) -> None:
            connection.sendall(http())
            responded.set()

        with serving(respond) as server:
            client = da.AsyncClient(server.base_url, token="tok")
            task = asyncio.ensure_future(codes(client))
            await asyncio.sleep(0)
            assert responded.wait(5)
            # The loop is held, so that the outcome waits for it.
            time.sleep(0.2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    run(main())


def test_a_large_response_comes_whole_in_any_loop(run: Any) -> None:
    text = "x" * 400_000

    async def main() -> None:
        with serving(lambda connection, _: connection.sendall(http({"code": 200, "data": [text]}))) as server:
            client = da.AsyncClient(server.base_url, token="tok")
            response = await client.post("/any", {}, idempotent=True)
            assert response["data"] == [text]

    run(main())


def test_a_client_serves_the_loops_of_several_threads(sandbox: da.Sandbox) -> None:
    client, found = sandbox.async_client(), []

    async def main() -> None:
        for _ in range(5):
            found.extend(await asyncio.gather(*(codes(client) for _ in range(4))))

    threads = [threading.Thread(target=lambda: asyncio.run(main())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(found) == 80
    assert all(rows == found[0] for rows in found)


@contextmanager
def no_more_files() -> Iterator[None]:
    gc.collect()
    before = set(Path("/proc/self/fd").iterdir())
    yield
    gc.collect()
    assert set(Path("/proc/self/fd").iterdir()) <= before


@pytest.mark.skipif(sys.platform != "linux", reason="counts the files of this process")
def test_a_loop_that_ends_leaves_no_socket(sandbox: da.Sandbox) -> None:
    client = sandbox.async_client()

    async def main() -> None:
        await codes(client)

    asyncio.run(main())
    with no_more_files():
        for _ in range(5):
            asyncio.run(main())
