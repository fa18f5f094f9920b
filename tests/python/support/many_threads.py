"""A thousand requests in flight from sixteen threads, and what that leaves behind in the process."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from support.raw_server import http

import dataaccess as da

THREADS = 16
EACH = 63
IN_FLIGHT = THREADS * EACH
# Of each response: large enough that responses which are kept show in the memory.
PADDING = " " * 16_000
# Seconds in which all requests of a round must arrive.
PATIENCE = 20.0


def _serve(pipe: Connection) -> None:
    """Responses once `IN_FLIGHT` requests wait, each with the value that it searches for."""
    most = now = 0
    all_wait = asyncio.Barrier(IN_FLIGHT)

    async def wait_for_all() -> None:
        nonlocal most, now
        now += 1
        most = max(most, now)
        try:
            async with asyncio.timeout(PATIENCE):
                await all_wait.wait()
        except (TimeoutError, asyncio.BrokenBarrierError):
            # From now on nothing waits: `most` reports that too few requests came.
            await all_wait.abort()
        now -= 1

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                query = json.loads(await reader.readexactly(int(length.partition(b":")[2])))
                await wait_for_all()
                (name,) = query["filters"]["OR"][0]["AND"][0]["value"]
                record = f'{{"id":"{name}{PADDING}"}}'
                writer.write(http(f'{{"code":200,"data":{{"status":true,"data":[{record}]}}}}'.encode()))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(respond, "127.0.0.1", 0, backlog=2 * IN_FLIGHT)
        pipe.send(server.sockets[0].getsockname()[1])
        await asyncio.to_thread(pipe.recv)
        pipe.send(most)

    asyncio.run(main())


@contextmanager
def slow_service() -> Iterator[tuple[str, Any]]:
    """A service in a process of its own: its address, and what returns the most requests that it had at once."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()

    def most() -> int:
        ours.send(None)
        return int(ours.recv())

    try:
        yield f"http://127.0.0.1:{ours.recv()}", most
    finally:
        process.kill()
        process.join()


def sample() -> tuple[int, int]:
    """Bytes of this process in memory, and how many descriptors it has."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), len(list(Path("/proc/self/fd").iterdir()))


def search_at_once(client: da.AsyncClient, number: int, thread: int) -> int:
    """The searches of a thread in a round; how many responses came, each for its own request."""

    async def search(which: int) -> bool:
        name = f"{thread}-{which}-{number}"
        rows = await client.search_items("store", ["id"], da.col("n").equals(name), item_type_id=7)
        assert rows == [{"id": name + PADDING}], name
        return True

    async def main() -> list[bool]:
        return await asyncio.gather(*map(search, range(EACH)))

    return sum(asyncio.run(main()))


def crowd(seconds: float, least: int = 0) -> tuple[int, int, list[tuple[int, int]]]:
    """Searches in rounds of `IN_FLIGHT` requests, for some seconds and at least some rounds.

    Returns:
        The number of responses, the most requests at once, and the memory and descriptors after each round without the
        first ones, which make connections and buffers.
    """
    with slow_service() as (address, most), ThreadPoolExecutor(THREADS) as pool:
        _, before = sample()
        client = da.AsyncClient(address, token="tok", timeout=60, concurrency=None)
        end, responses, samples = time.monotonic() + seconds, 0, list[tuple[int, int]]()
        while len(samples) < least or time.monotonic() < end:
            responses += sum(pool.map(partial(search_at_once, client, len(samples)), range(THREADS)))
            samples.append(sample())
        del client
        # The connections end with the client, although the service keeps them. The runtime has a few descriptors.
        deadline = time.monotonic() + 10
        while (left := sample()[1]) > before + THREADS and time.monotonic() < deadline:
            time.sleep(0.02)
        assert left <= before + THREADS, f"{left} descriptors, and {before} before"
        return responses, most(), samples[max(3, len(samples) // 5) :]
