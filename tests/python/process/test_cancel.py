"""Cancellation under asyncio: at once, and the connection goes with it."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

import pytest
from support.raw_server import RawServer, http, serving

import dataaccess as da


@pytest.fixture(autouse=True)
def _nothing_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> Any:
    unraisable: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    yield
    assert unraisable == []


def stall(connection: Any, _number: int) -> None:
    """Half an answer, then nothing until the other side has gone."""
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
