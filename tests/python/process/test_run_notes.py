"""What a user reads whose run ended early: where it ended, and what to do."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dataaccess as da

PROGRAM = """
import os, signal, sys, threading, time
from pathlib import Path
import dataaccess as da

# A program in the background may inherit that the signal is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupt():
    while sum(1 for _ in Path("codes").glob("day=*")) < 3:
        time.sleep(0.005)
    os.kill(os.getpid(), signal.SIGINT)

with da.Sandbox.demo(until="2024-02-29", switches={"latency": 0.05}) as sandbox:
    scan = sandbox.client(concurrency=2).scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-04-01"))
    threading.Thread(target=interrupt, daemon=True).start()
    scan.to_folder("codes", progress=False)
"""


def kept(note: str, folder: str) -> int:
    """How many of 91 tasks a note says are in a folder."""
    found = re.search(rf"\b(\d+) of 91 .* {re.escape(folder)}(?!\S*/)", note)
    assert found, note
    return int(found[1])


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent the POSIX way")
def test_ctrl_c_says_what_is_kept(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM], cwd=tmp_path, capture_output=True, check=False, text=True
    )
    *_, error, note = done.stderr.splitlines()
    assert error == "KeyboardInterrupt", done.stderr
    assert 2 <= kept(note, "codes") < 91


def test_so_does_a_run_that_asyncio_cancels(tmp_path: Path) -> None:
    async def main(address: str, token: str) -> None:
        updates: list[da.Progress] = []
        scan = da.AsyncClient(address, token=token).scan_codes(
            ["id"], allocated_time=da.days("2024-01-01", "2024-04-01")
        )
        running = asyncio.create_task(scan.to_folder(tmp_path, progress=updates.append))
        while not running.done() and not (updates and updates[-1].done):
            await asyncio.sleep(0.005)
        running.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await running
        (note,) = caught.value.__notes__
        assert 1 <= kept(note, str(tmp_path)) < 91

    with da.Sandbox.demo(until="2024-02-29", switches={"latency": 0.02}) as sandbox:
        asyncio.run(main(sandbox.base_url, sandbox.issue_token()))
