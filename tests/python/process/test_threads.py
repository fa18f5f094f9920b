"""One client, many threads, then asyncio."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.many_threads import IN_FLIGHT, PADDING, crowd
from support.raw_server import serving
from support.scan_requests import wait_until

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
        wait_until(lambda: server.requests)
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


QUOTA = Path("/sys/fs/cgroup/cpu.max")
SHOW = """
from pathlib import Path
names = sorted(task.read_text().strip() for task in Path("/proc/self/task").glob("*/comm"))
print(*[name for name in names if name.startswith("dataaccess")])
"""
PIN = """
import asyncio, os, sys
import dataaccess as da
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(sys.argv[3])])
"""
SCAN = """
scan = da.Client(sys.argv[1], token=sys.argv[2]).scan_codes(["id"], allocated_time=da.after("2024-01-01"))
assert sum(batch.num_rows for batch in scan.batches()) > 0
"""
CALLS = """
client = da.Client(sys.argv[1], token=sys.argv[2])
assert client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
assert client.post("/access/api/segment/download", {"scope": "download", "exportId": 5637051})
"""
AWAITED = """
async def main():
    async with da.AsyncClient(sys.argv[1], token=sys.argv[2]) as client:
        searches = [client.search_codes(["id"], allocated_time=da.on("2024-01-15")) for _ in range(16)]
        assert all(await asyncio.gather(*searches))

asyncio.run(main())
"""


def processors_of_quota() -> float:
    """How many processors a container may use, in the long run."""
    quota, _, period = QUOTA.read_text().partition(" ") if QUOTA.exists() else ("max", "", "")
    return float("inf") if quota == "max" else int(quota) / int(period)


def threads(code: str, *arguments: str) -> list[str]:
    command = [sys.executable, "-c", PIN + code + SHOW, *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, timeout=30)
    return done.stdout.split()


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted by name in /proc")
@pytest.mark.parametrize("code", [SCAN, CALLS, CALLS + SCAN, CALLS + AWAITED])
@pytest.mark.parametrize("processors", [1, 2])
def test_there_are_as_many_workers_as_processors_and_few_that_make_results(
    sandbox: da.Sandbox, processors: int, code: str
) -> None:
    if min(len(os.sched_getaffinity(0)), processors_of_quota()) < processors:
        pytest.skip("the tests may use one processor")
    found = len(threads(code, sandbox.base_url, sandbox.issue_token(), str(processors)))
    # Those that make the results of awaited calls share their work: 16 calls at once need no 16 threads.
    assert processors <= found <= processors + (4 if AWAITED in code else 0)
