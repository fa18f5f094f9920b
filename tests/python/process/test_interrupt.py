"""Ctrl-C while waiting: at once, whatever is waited for, and the server sees it."""

from __future__ import annotations

import gc
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.interrupted import EARLY, STATES, search, seconds_late, seconds_until_interrupted, until_gone
from support.raw_server import ANSWER, Close, http, serving
from support.streams import CLOSING, HEAD, OPENING, records

import dataaccess as da

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are sent the POSIX way")


@pytest.fixture(autouse=True)
def _ctrl_c_is_heard() -> Iterator[None]:
    # Whoever starts the tests in the background has it ignored; and Hypothesis gives the collector a callback, in
    # which Python would drop the KeyboardInterrupt.
    before, callbacks = signal.signal(signal.SIGINT, signal.default_int_handler), gc.callbacks.copy()
    gc.callbacks.clear()
    yield
    gc.callbacks.extend(callbacks)
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("state", [*EARLY, *STATES])
def test_p3_ctrl_c_ends_a_call_and_its_connection(state: str) -> None:
    if state == "connect" and sys.platform != "linux":
        pytest.skip("only here a full queue answers nothing")
    # Promised are 150 ms; the bound here leaves room for a busy machine, and is far below any time-out.
    assert seconds_late(state) < 2


def test_the_client_is_usable_after_ctrl_c() -> None:
    def hang_once(connection: Any, number: int) -> None:
        if number == 0:
            until_gone(connection)
        else:
            connection.sendall(http())

    with serving(hang_once) as server, da.Client(server.base_url, token="tok") as client:
        seconds_until_interrupted(lambda: search(client), lambda: len(server.requests) == 1)
        assert search(client) == ANSWER["data"]["data"]
        assert len(server.requests) == 2


@pytest.mark.parametrize("write", ["to_parquet", "to_csv", "to_jsonl"])
def test_ctrl_c_in_the_middle_of_a_write_leaves_no_file_that_comes_late(write: str, tmp_path: Path) -> None:
    body = b'{"code":200,"data":{"status":true,"data":[' + records(0, 300_000) + b"]}}"
    sent = threading.Event()

    def all_at_once(connection: Any, _number: int) -> None:
        connection.sendall(http(body))
        sent.set()

    with serving(all_at_once) as server, da.Client(server.base_url, token="tok") as client:
        scan = client.scan_items("store", ["n", "text"], da.col("n").equals("x"), item_type_id=7)
        # What has arrived takes longer to write than Ctrl-C may take.
        seconds_until_interrupted(lambda: getattr(scan, write)(tmp_path / "rows"), sent.is_set, 0)
        there = set(tmp_path.glob("rows"))
        time.sleep(1)
        assert set(tmp_path.iterdir()) == there


PULL = """
import signal, sys
import dataaccess as da
import pyarrow as pa

signal.signal(signal.SIGINT, signal.default_int_handler)
client = da.Client(sys.argv[1], token="tok")
scan = client.scan_items("store", ["n", "text"], da.col("n").equals("x"), item_type_id=7)
reader = pa.RecordBatchReader.from_stream(scan)
try:
    print(reader.read_next_batch().num_rows, flush=True)
    reader.read_next_batch()
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_waits_for_the_batch_that_another_library_waits_for() -> None:
    go_on = threading.Event()

    def in_two(connection: Any, _number: int) -> None:
        connection.sendall(HEAD + OPENING + records(0, 100_000))
        go_on.wait(20)
        connection.sendall(CLOSING)
        raise Close

    with serving(in_two) as server:
        command = [sys.executable, "-c", PULL, server.base_url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:  # noqa: S603
            assert reader.stdout is not None
            assert reader.stdout.readline() == "65536\n"
            time.sleep(0.2)
            reader.send_signal(signal.SIGINT)
            time.sleep(0.5)
            assert not select.select([reader.stdout], [], [], 0)[0], "it was interrupted before its batch came"
            go_on.set()
            assert reader.communicate(timeout=20)[0] == "interrupted\n"
