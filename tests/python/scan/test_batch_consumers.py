"""Threads and tasks that take the batches of one scan, and a cancelled wait."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from support.raw_server import serving
from support.streams import client_of, endless, gone, in_parts, scan_of, whole

import dataaccess as da

pytestmark = pytest.mark.usefixtures("short_pauses")


def numbers(batches: Any) -> list[int]:
    return [row["n"] for batch in batches for row in batch.to_pylist()]


def test_threads_share_batches() -> None:
    with serving(in_parts(whole(50_000))) as server:
        batches = scan_of(client_of(server)).batches(max_rows=500)
        taken: list[list[int]] = [[] for _ in range(8)]

        def take(mine: list[int]) -> None:
            for batch in batches:
                mine.extend(numbers([batch]))

        threads = [threading.Thread(target=take, args=(mine,)) for mine in taken]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    together = [number for mine in taken for number in mine]
    assert sorted(together) == list(range(50_000))
    assert all(mine == sorted(mine) for mine in taken)


def test_tasks_share_batches() -> None:
    async def main() -> list[int]:
        with serving(in_parts(whole(50_000))) as server:
            batches = scan_of(da.AsyncClient(server.base_url, token="tok")).batches(max_rows=500)

            async def take() -> list[int]:
                return [number async for batch in batches for number in numbers([batch])]

            parts = await asyncio.gather(*(take() for _ in range(8)))
            return [number for part in parts for number in part]

    assert sorted(asyncio.run(main())) == list(range(50_000))


def test_threads_and_tasks_work_at_once(sandbox: da.Sandbox) -> None:
    expected = len(sandbox.client().search_codes(["id"], allocated_time=da.after("2024-01-01")))
    counts: list[int] = []

    def work() -> None:
        scan = sandbox.client().scan_codes(["id"], allocated_time=da.after("2024-01-01"))
        counts.append(sum(batch.num_rows for batch in scan.batches(max_rows=100)))

    async def main() -> list[int]:
        scan = sandbox.async_client().scan_codes(["id"], allocated_time=da.after("2024-01-01"))

        async def count() -> int:
            return sum([batch.num_rows async for batch in scan.batches(max_rows=100)])

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        found = list(await asyncio.gather(*(count() for _ in range(4))))
        while any(thread.is_alive() for thread in threads):
            await asyncio.sleep(0.01)
        return found

    assert asyncio.run(main()) + counts == [expected] * 8


def test_a_cancelled_wait_has_taken_nothing() -> None:
    def pause(number: int) -> None:
        time.sleep(0.05 if number else 0)

    async def main() -> list[int]:
        with serving(in_parts(whole(10_000), pause)) as server:
            batches = scan_of(da.AsyncClient(server.base_url, token="tok")).batches(max_rows=100)
            taken: list[int] = []
            cancelled = 0
            while True:
                try:
                    async with asyncio.timeout(0.01):
                        taken.extend(numbers([await anext(batches)]))
                except TimeoutError:
                    cancelled += 1
                except StopAsyncIteration:
                    assert cancelled > 3
                    return taken

    assert asyncio.run(main()) == list(range(10_000))


async def own_batches(scan: Any) -> None:
    async with scan.batches(max_rows=100) as batches:
        async for _ in batches:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("work", [own_batches, lambda scan: scan.to_polars()], ids=["batches", "collection"])
def test_cancelling_a_task_closes_the_connection(work: Any) -> None:
    async def main() -> None:
        with serving(endless()) as server:
            task = asyncio.create_task(work(scan_of(da.AsyncClient(server.base_url, token="tok"))))
            while not server.requests:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await asyncio.to_thread(gone, server)

    asyncio.run(main())
