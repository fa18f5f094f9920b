"""The interpreter's end with work in flight: quiet and quick."""

from __future__ import annotations

import subprocess
import sys

import pytest

START = """
import asyncio, threading, time, warnings
import dataaccess as da
warnings.simplefilter("ignore", da.SandboxWarning)
everything = da.after("2024-01-01")
"""
DAEMONS = """
client = da.Client("sandbox:demo")
def work():
    while True:
        client.search_codes(allocated_time=everything)
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep({pause})
"""
LOOP_CLOSED_EARLY = """
client = da.AsyncClient("sandbox:demo")
async def main():
    for _ in range(20):
        asyncio.ensure_future(client.search_codes(allocated_time=everything))
    await asyncio.sleep({pause})
asyncio.run(main())
"""
TOKEN_CALLABLE = """
def token():
    time.sleep({pause})
    return "tok"
client = da.Client(da.Client("sandbox:demo").base_url, token=token)
threading.Thread(target=client.download_segment, args=(1,), daemon=True).start()
time.sleep({pause} / 2)
"""


@pytest.mark.parametrize("work", [DAEMONS, LOOP_CLOSED_EARLY, TOKEN_CALLABLE], ids=["daemons", "loop", "token"])
@pytest.mark.parametrize("pause", [0.005, 0.05, 0.3])
def test_the_interpreter_ends_quietly_whatever_is_under_way(work: str, pause: float) -> None:
    code = START + work.format(pause=pause)
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", code], capture_output=True, check=False, text=True, timeout=20
    )
    assert (done.returncode, done.stderr) == (0, "")
