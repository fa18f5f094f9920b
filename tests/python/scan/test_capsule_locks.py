"""Capsules of Arrow read while the interpreter lock is held, and tokens that need it."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import threading
import time
from typing import Any

import pyarrow as pa
import pytest
from support.raw_server import always, http, serving
from support.streams import client_of, in_parts, response_of, scan_of, whole

import dataaccess as da

# A foreign reader pulls through the C interface while this thread holds the interpreter lock: PyDLL keeps it.
PULL = """
import ctypes, sys, time
import dataaccess as da

def pull_from(capsule):
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = get_pointer(capsule, b"arrow_array_stream")
    functions = ctypes.cast(stream, ctypes.POINTER(ctypes.c_void_p))
    get_next = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(functions[1])
    last_error = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)(functions[2])
    rows = 0
    while True:
        array = (ctypes.c_int64 * 10)()
        started = time.monotonic()
        if get_next(stream, ctypes.addressof(array)):
            return f"{time.monotonic() - started} {last_error(stream).decode()}"
        if array[8] == 0:  # released: the end
            return rows
        rows += array[0]
"""
HELD = (
    PULL
    + """
client = da.Client(sys.argv[1], token=lambda: "tok")
scan = client.scan_items("store", ["n", "text"], da.col("n").equals("x"), item_type_id=7)
print(pull_from(scan.__arrow_c_stream__()))
"""
)
EXPIRED = (
    PULL
    + """
sys.setswitchinterval(1000)  # nor is it let go between two pulls
client = da.Client(sys.argv[1], token=lambda: ("tok", time.time() + 0.5), concurrency=1)
scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-31"))
print(pull_from(scan.__arrow_c_stream__()))
"""
)


def printed(program: str, server: Any) -> str:
    """What a child prints that runs this against a server."""
    done = subprocess.run(
        [sys.executable, "-c", program, server.base_url], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.mark.slow
def test_a_pull_with_the_lock_held_does_not_deadlock() -> None:
    def slowly(number: int) -> None:
        time.sleep(0.01 if number % 20 == 0 else 0)

    with serving(in_parts(whole(200_000), slowly)) as server:
        assert printed(HELD, server) == "200000"


@pytest.mark.slow
def test_a_token_that_needs_the_lock_is_waited_for_five_seconds() -> None:
    def slow(connection: Any, _number: int) -> None:
        time.sleep(0.3)
        connection.sendall(http())

    with serving(slow) as server:
        seconds, message = printed(EXPIRED, server).split(" ", 1)
    assert 5 <= float(seconds) < 15
    assert " 5 s" in message
    assert "to_arrow()" in message


@pytest.mark.slow
def test_a_pull_while_another_thread_holds_the_lock_does_not_deadlock() -> None:
    seconds = 1_000_000
    hold = ctypes.PyDLL(None).usleep
    held: list[float] = []

    def holder() -> None:
        started = time.monotonic()
        hold(seconds)
        held.append(time.monotonic() - started)

    def slowly(number: int) -> None:
        time.sleep(0.005 if number % 20 == 0 else 0)

    with serving(in_parts(whole(200_000), slowly)) as server:
        reader = pa.RecordBatchReader.from_stream(scan_of(client_of(server)))
        thread = threading.Thread(target=holder)
        thread.start()
        # Reading lets go of the lock, and the other thread keeps it for a second.
        assert reader.read_all().num_rows == 200_000
        thread.join()
    assert held
    assert held[0] > 0.9


def test_a_token_callable_that_fails_during_a_pull_is_reported_as_such() -> None:
    asked: list[int] = []

    def token() -> tuple[str, float]:
        asked.append(1)
        if len(asked) > 1:
            raise LookupError
        return "tok", time.time() + 0.3

    def slow(connection: Any, _number: int) -> None:
        time.sleep(0.2)
        connection.sendall(http())

    with serving(slow) as server:
        client = da.Client(server.base_url, token=token, concurrency=1, retry_for=0)
        scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-31"))
        with pytest.raises(OSError, match="LookupError") as caught:
            pa.table(scan)
    assert "interpreter" not in str(caught.value)


def test_a_token_is_asked_for_when_the_capsule_is_made() -> None:
    asked: list[int] = []

    def token() -> str:
        asked.append(1)
        return "tok"

    with serving(always(response_of([{"n": 1, "text": "a"}]))) as server:
        scan = scan_of(da.Client(server.base_url, token=token))
        assert asked == []
        capsule = scan.__arrow_c_stream__()
        assert asked == [1]
        del capsule
