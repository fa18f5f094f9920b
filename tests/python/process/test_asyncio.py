"""Awaited calls and their loops: results, cancellation at once with the connection, other loops, and quiet ends."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support.interrupts import seconds_until_closed
from support.raw_server import http, serving
from support.scan_requests import wait_until
from support.searches import search
from support.streams import gone

import dataaccess as da

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs loops that watch sockets")

Run = Callable[[Awaitable[Any]], Any]


@pytest.fixture(autouse=True)
def _nothing_is_unraisable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    unraisable: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    yield
    gc.collect()
    assert unraisable == []


@pytest.fixture
def run() -> Iterator[Run]:
    failures: list[dict[str, Any]] = []

    def run(main: Any) -> Any:
        with asyncio.Runner() as runner:
            runner.get_loop().set_exception_handler(lambda _, context: failures.append(context))
            return runner.run(main)

    yield run
    assert failures == []


def stall(connection: Any, _number: int) -> None:
    """Half a response, then nothing until the other side has gone."""
    connection.sendall(http()[:-10])
    assert connection.recv(1) == b""


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


@pytest.mark.parametrize(
    "call", [search, lambda client: client.wait_for_segment(1, timeout=60)], ids=["search", "wait"]
)
def test_a_timeout_of_asyncio_ends_a_call_and_its_connection(run: Run, call: Callable[[Any], Any]) -> None:
    async def main() -> None:
        client = da.AsyncClient(server.base_url, token="tok")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(call(client), 0.2)
        assert await asyncio.to_thread(gone, server)

    with serving(stall) as server:
        run(main())


def test_a_call_that_ended_can_still_be_cancelled(run: Any) -> None:
    async def main() -> None:
        responded = threading.Event()

        def respond(connection: Any, _number: int) -> None:
            connection.sendall(http())
            responded.set()

        with serving(respond) as server:
            client = da.AsyncClient(server.base_url, token="tok")
            task = asyncio.ensure_future(search(client))
            await asyncio.sleep(0)
            assert responded.wait(5)
            # The loop is held, so that the outcome waits for it.
            time.sleep(0.2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    run(main())


def test_a_client_serves_the_loops_of_several_threads(run: Run, sandbox: da.Sandbox) -> None:
    client = sandbox.async_client()

    async def main() -> list[Any]:
        return await asyncio.gather(*(search(client) for _ in range(20)))

    expected = run(main())
    assert expected[0]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: asyncio.run(main()), range(8))) == [expected] * 8


@pytest.mark.skipif(sys.platform != "linux", reason="counts the files of this process")
def test_a_loop_that_ends_leaves_no_socket(sandbox: da.Sandbox) -> None:
    client = sandbox.async_client()

    async def main() -> None:
        await search(client)

    asyncio.run(main())
    gc.collect()
    before = set(Path("/proc/self/fd").iterdir())
    for _ in range(5):
        asyncio.run(main())
    gc.collect()
    assert set(Path("/proc/self/fd").iterdir()) <= before


def test_cancelling_one_call_leaves_the_others_alone(sandbox: da.Sandbox) -> None:
    async def main() -> None:
        client = sandbox.async_client()
        for pause in range(40):
            task = asyncio.create_task(client.search_codes(allocated_time=da.after("2024-01-01")))
            other = asyncio.create_task(search(client))
            await asyncio.sleep(pause / 1000)
            task.cancel()
            await asyncio.wait([task])
            assert len(await other) > 0

    asyncio.run(main())


@pytest.mark.fault("P4")
@pytest.mark.slow
def test_cancelling_at_any_moment_closes_the_connection() -> None:
    # The limit is 50 ms; this limit is larger, for busy machines.
    assert max(seconds_until_closed(30, seed=4)) < 2


def test_a_loop_that_is_closed_early_ends_its_calls_quietly(
    sandbox: da.Sandbox, capfd: pytest.CaptureFixture[str]
) -> None:
    loop = asyncio.new_event_loop()
    reported: list[Any] = []
    loop.set_exception_handler(lambda _loop, context: reported.append(sorted(context)))
    client = sandbox.async_client()
    calls = [client.search_codes(["id"], allocated_time=da.after("2024-01-01")) for _ in range(10)]
    tasks = [loop.create_task(call) for call in calls]
    loop.run_until_complete(asyncio.sleep(0.001))
    loop.close()
    # Their responses arrive after the waiters have gone.
    wait_until(lambda: not client.stats.in_flight)
    # What would still call the loop has the time to do so.
    time.sleep(0.2)
    pending = sum(not task.done() for task in tasks)
    assert pending
    del calls, tasks
    deadline = time.monotonic() + 20
    while len(reported) < pending and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    # By asyncio, as it does of pending tasks that nothing awaits: of an exception it has more.
    assert reported == [["message", "task"]] * pending
    assert capfd.readouterr() == ("", "")
    # The client serves the next loop.
    assert asyncio.run(client.download_segment(5637051))["code"] == 200
