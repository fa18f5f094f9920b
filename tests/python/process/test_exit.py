"""The interpreter's end with work in flight: quiet and quick."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest
from support.cycled import cycled
from support.interpreter_exit import WORKS, ended

import dataaccess as da
from dataaccess import _native

# Handlers run last in, first out: this one runs after the handler of the package.
LATE = """
import asyncio, atexit, sys

async def flush():
    async with da.AsyncClient(sys.argv[1], token="tok") as client:
        await client.search_codes(["id"], allocated_time=da.on("2024-01-15"))

def late():
    try:
        asyncio.run(flush())
    except RuntimeError as error:
        print(error)

atexit.register(late)
import dataaccess as da
da.Client(sys.argv[1], token="tok").close()
"""

# Each while it begins, and later.
CASES = [*cycled(WORKS, [0.005]), *cycled(WORKS, [0.05, 0.3])]


@pytest.mark.fault("P7")
@pytest.mark.parametrize(("work", "pause"), CASES)
def test_the_interpreter_ends_quietly_whatever_is_in_flight(work: str, pause: float) -> None:
    assert ended(work, pause) == (0, "")


def test_an_awaited_call_after_the_end_of_the_package_is_refused(sandbox: da.Sandbox) -> None:
    command = [sys.executable, "-c", LATE, sandbox.base_url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    assert (done.stdout, done.stderr) == ("the interpreter is shutting down\n", "")


@pytest.mark.fault("P12")
@pytest.mark.skipif(not hasattr(_native, "panic_for_test"), reason="the extension was built without `testing`")
@pytest.mark.parametrize("runs", ["awaited", "blocking"])
def test_a_panic_is_reported_as_a_bug_and_harms_nothing(sandbox: da.Sandbox, runs: str) -> None:
    async def awaited() -> object:
        return await _native.panic_for_test(runs)  # type: ignore[misc]

    client = sandbox.client()
    for _ in range(3):
        with pytest.raises(da.InternalError):
            asyncio.run(awaited()) if runs == "awaited" else _native.panic_for_test(runs)
        assert client.download_segment(5637051)["code"] == 200
