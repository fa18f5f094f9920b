"""A thousand requests in flight from sixteen threads, and what that leaves behind in the process."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from support.raw_server import ANSWER, http

import dataaccess as da

THREADS = 16
IN_FLIGHT = 1_000
# Long enough that all of them are on their way at once.
PAUSE = 2.0


def _serve(pipe: Connection) -> None:
    """Answers each request after a pause, on any number of connections."""
    most = 0
    now = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal most, now
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                await reader.readexactly(int(length.partition(b":")[2]))
                now += 1
                most = max(most, now)
                await asyncio.sleep(PAUSE)
                now -= 1
                writer.write(http())
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=2 * IN_FLIGHT)
        pipe.send(server.sockets[0].getsockname()[1])
        await asyncio.to_thread(pipe.recv)
        pipe.send(most)

    asyncio.run(main())


@contextmanager
def slow_service() -> Iterator[tuple[str, Any]]:
    """A service in a process of its own: its address, and how to ask for the most it had at once."""
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


def resident() -> int:
    """Bytes of this process in memory."""
    with open("/proc/self/statm", encoding="ascii") as figures:  # noqa: PTH123 - no file of ours
        return int(figures.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - a count alone


def crowd(seconds: float) -> tuple[int, int, list[tuple[int, int]]]:
    """Answers, the most requests at once, and samples of memory and descriptors after a fifth of the time."""
    answered = [0] * THREADS
    failures: list[BaseException] = []
    samples: list[tuple[int, int]] = []
    with slow_service() as (address, most):
        client = da.AsyncClient(address, token="tok", timeout=60)
        end = time.monotonic() + seconds

        async def ask(thread: int) -> None:
            while time.monotonic() < end:
                rows = await client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
                assert rows == ANSWER["data"]["data"]
                answered[thread] += 1

        def work(thread: int) -> None:
            async def main() -> None:
                await asyncio.gather(*(ask(thread) for _ in range(IN_FLIGHT // THREADS + 1)))

            try:
                asyncio.run(main())
            except BaseException as error:  # noqa: BLE001 - told below
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        time.sleep(seconds / 5)
        while time.monotonic() < end - seconds / 20:
            samples.append((resident(), descriptors()))
            time.sleep(seconds / 20)
        for thread in threads:
            thread.join()
        assert failures == []
        return sum(answered), most(), samples
