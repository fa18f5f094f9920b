"""One client, many threads, then asyncio."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest
from support.many_threads import IN_FLIGHT, PADDING, crowd
from support.raw_server import serving

import dataaccess as da

DAYS = [f"2024-01-{day:02}" for day in range(1, 32)]


@pytest.mark.fault("P5")
def test_one_client_on_sixteen_threads_and_then_under_asyncio(sandbox: da.Sandbox) -> None:
    client = sandbox.client()

    def search(day: str) -> list[dict[str, Any]]:
        return client.search_codes(["id", "allocated_time"], allocated_time=da.on(day))

    expected = [search(day) for day in DAYS]
    assert all(expected)
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(search, DAYS * 4)) == expected * 4

    async def inside_a_loop() -> list[list[dict[str, Any]]]:
        # A synchronous call inside a running loop, as a notebook makes it, and asyncio's own threads.
        assert search(DAYS[0]) == expected[0]
        return await asyncio.gather(*(asyncio.to_thread(search, day) for day in DAYS))

    assert asyncio.run(inside_a_loop()) == expected


def test_closing_frees_a_thread_that_waits() -> None:
    with serving(lambda _connection, _number: time.sleep(30)) as server, ThreadPoolExecutor(1) as pool:
        client = da.Client(server.base_url, token="tok")
        waiting = pool.submit(client.download_segment, 1)
        deadline = time.monotonic() + 10
        while not server.requests and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(server.requests) == 1
        client.close()
        with pytest.raises(da.ClientClosedError):
            waiting.result(timeout=10)


@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")
def test_threads_that_begin_at_once_share_one_demo_service(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataaccess._client import functions
    from dataaccess._core import embedded

    monkeypatch.setattr(embedded, "_demo", {})
    monkeypatch.setattr(functions, "_shared", {})
    monkeypatch.setenv("DATAACCESS_BASE_URL", "sandbox:demo?until=2024-02-29")
    barrier = threading.Barrier(8)

    def begin(_number: int) -> tuple[str, int]:
        barrier.wait()
        client = da.Client("sandbox:demo?until=2024-02-29")
        return client.base_url, len(client.search_codes(["id"], allocated_time=da.on("2024-01-15")))

    def begin_with_functions(_number: int) -> int:
        barrier.wait()
        return len(da.search_codes(["id"], allocated_time=da.on("2024-01-15")))

    with ThreadPoolExecutor(8) as pool:
        ((_, rows),) = set(pool.map(begin, range(8)))
        assert rows > 0
        assert set(pool.map(begin_with_functions, range(8))) == {rows}
    assert len(functions._shared) == 1


@pytest.mark.fault("P8")
@pytest.mark.quiet
@pytest.mark.skipif(sys.platform != "linux", reason="memory and descriptors are counted where Linux reports them")
def test_a_thousand_requests_in_flight_from_sixteen_threads() -> None:
    responses, most, samples = crowd(0, least=10)
    assert most == IN_FLIGHT
    assert responses == 10 * IN_FLIGHT
    memory, opened = zip(*samples, strict=True)
    # Kept responses would add all their bytes in each round, and connections that are not reused a descriptor each.
    assert min(later - earlier for earlier, later in pairwise(memory)) < IN_FLIGHT * len(PADDING) / 2, memory
    assert max(opened) - min(opened) <= IN_FLIGHT // 10, opened
