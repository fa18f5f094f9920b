"""A thousand requests in flight from sixteen threads, and what that leaves behind in the process."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
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


def resident() -> int:
    """Bytes of this process in memory."""
    with open("/proc/self/statm", encoding="ascii") as figures:  # noqa: PTH123 - no file of ours
        return int(figures.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - a count alone


class Rounds:
    """Rounds for some seconds, and at least some; memory and descriptors before each and after the last."""

    def __init__(self, seconds: float, least: int) -> None:
        """Begins now."""
        self.samples: list[tuple[int, int]] = []
        self._end = time.monotonic() + seconds
        self._least = least
        self._go_on: list[bool] = []
        self._lock = threading.Lock()

    def goes_on(self, number: int) -> bool:
        """Whether there is a round of this number; the same for all who ask."""
        with self._lock:
            if number == len(self._go_on):
                self.samples.append((resident(), descriptors()))
                self._go_on.append(number < self._least or time.monotonic() < self._end)
            return self._go_on[number]


def search_in(rounds: Rounds, address: str) -> int:
    """Searches with one client and all threads; how many responses came, each that of its request."""
    client = da.AsyncClient(address, token="tok", timeout=60, concurrency=None)
    responses = [0] * THREADS
    failures: list[BaseException] = []

    async def search(thread: int, which: int) -> None:
        number = 0
        while rounds.goes_on(number):
            name = f"{thread}-{which}-{number}"
            rows = await client.search_items("store", ["id"], da.col("n").equals(name), item_type_id=7)
            assert rows == [{"id": name + PADDING}], name
            responses[thread] += 1
            number += 1

    def work(thread: int) -> None:
        async def main() -> None:
            await asyncio.gather(*(search(thread, which) for which in range(EACH)))

        try:
            asyncio.run(main())
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise BaseExceptionGroup("threads failed", failures)
    return sum(responses)


def crowd(seconds: float, least: int = 0) -> tuple[int, int, list[tuple[int, int]]]:
    """Searches in rounds of `IN_FLIGHT` requests, for some seconds and at least some rounds.

    Returns:
        The number of responses, the most requests at once, and the memory and descriptors after each round without the
        first ones, which make connections and buffers.
    """
    with slow_service() as (address, most):
        before = descriptors()
        rounds = Rounds(seconds, least)
        responses = search_in(rounds, address)
        # The connections end with the client, although the service keeps them. The runtime has a few descriptors.
        deadline = time.monotonic() + 10
        while (left := descriptors()) > before + THREADS and time.monotonic() < deadline:
            time.sleep(0.02)
        assert left <= before + THREADS, f"{left} descriptors, and {before} before"
        return responses, most(), rounds.samples[max(3, len(rounds.samples) // 5) :]
