"""Calls of asyncio that are cancelled at some moment: how long until the server has lost their connections."""

from __future__ import annotations

import asyncio
import random
import time
from typing import Any

from support.raw_server import http, serving

import dataaccess as da

WHOLE = http({"code": 200, "data": {"status": True, "data": [{"id": f"row {number}"} for number in range(2_000)]}})


def in_pieces(connection: Any, _number: int) -> None:
    """A response that takes a while, and ends before its end; then nothing until the other side has gone."""
    time.sleep(0.01)
    for start in range(0, len(WHOLE) - 100, 10_000):
        connection.sendall(WHOLE[start : min(start + 10_000, len(WHOLE) - 100)])
        time.sleep(0.002)
    while connection.recv(1024):
        pass


def seconds_until_closed(trials: int, seed: int) -> list[float]:
    """Cancels so many calls, each at its moment, and measures each until no connection is open."""
    late: list[float] = []
    chance = random.Random(seed)

    async def main() -> None:
        with serving(in_pieces) as server:
            client = da.AsyncClient(server.base_url, token="tok")
            for _ in range(trials):
                call = client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
                task = asyncio.create_task(call)
                await asyncio.sleep(chance.uniform(0, 0.06))
                task.cancel()
                cancelled = time.monotonic()
                await asyncio.wait([task])
                assert task.cancelled()
                while server.open and time.monotonic() - cancelled < 5:
                    await asyncio.sleep(0.001)
                assert server.open == 0
                late.append(time.monotonic() - cancelled)

    asyncio.run(main())
    return late
