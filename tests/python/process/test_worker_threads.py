"""The threads that calls start: none but those that have work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dataaccess as da

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="threads are counted by name in /proc")

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
