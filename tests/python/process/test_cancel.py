"""Cancellation under asyncio: at once, and the connection goes with it."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from typing import Any

import pytest
from support.cancelling import seconds_until_closed
from support.raw_server import RawServer, http, serving

import dataaccess as da


@pytest.fixture(autouse=True)
def _nothing_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> Any:
    unraisable: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    yield
    assert unraisable == []


def stall(connection: Any, _number: int) -> None:
    """Half a response, then nothing until the other side has gone."""
    connection.sendall(http()[:-10])
    assert connection.recv(1) == b""


async def gone(server: RawServer) -> bool:
    deadline = time.monotonic() + 5
    while server.open and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    return server.open == 0


def test_cancelling_ends_the_call_and_closes_its_connection() -> None:
    async def main() -> None:
        with serving(stall) as server:
            client = da.AsyncClient(server.base_url, token="tok")
            task = asyncio.create_task(client.search_codes(["id"], allocated_time=da.on("2024-01-15")))
            while not server.requests:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await gone(server)

    asyncio.run(main())


def test_a_time_out_of_asyncio_holds() -> None:
    async def main() -> None:
        with serving(stall) as server:
            client = da.AsyncClient(server.base_url, token="tok")
            started = time.monotonic()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await client.wait_for_segment(1, timeout=60)
            assert time.monotonic() - started < 5
            assert await gone(server)

    asyncio.run(main())


def test_cancelling_one_call_leaves_the_others_alone(sandbox: da.Sandbox) -> None:
    async def main() -> None:
        client = sandbox.async_client()
        for pause in range(40):
            task = asyncio.create_task(client.search_codes(allocated_time=da.after("2024-01-01")))
            other = asyncio.create_task(client.search_codes(["id"], allocated_time=da.on("2024-01-15")))
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


@pytest.mark.parametrize("pause", [0, 0.01, 0.05])
def test_a_run_that_ends_with_calls_pending_ends_quietly(
    sandbox: da.Sandbox, capfd: pytest.CaptureFixture[str], pause: float
) -> None:
    async def main() -> None:
        client = sandbox.async_client()
        calls = [client.search_codes(["id"], allocated_time=da.after("2024-01-01")) for _ in range(10)]
        tasks = [asyncio.create_task(call) for call in calls]
        await asyncio.sleep(pause)
        assert tasks

    asyncio.run(main())
    time.sleep(0.2)
    gc.collect()
    assert capfd.readouterr() == ("", "")


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
    deadline = time.monotonic() + 20
    while client.stats.in_flight and time.monotonic() < deadline:
        time.sleep(0.01)
    # What would still call the loop has the time to do so.
    time.sleep(0.2)
    pending = sum(not task.done() for task in tasks)
    assert pending
    del calls, tasks
    while len(reported) < pending and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    # By asyncio, as it does of pending tasks that nothing awaits: of an exception it has more.
    assert reported == [["message", "task"]] * pending
    assert capfd.readouterr() == ("", "")
    # The client serves the next loop.
    assert asyncio.run(client.download_segment(5637051))["code"] == 200
