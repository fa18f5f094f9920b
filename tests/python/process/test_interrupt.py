"""Ctrl-C while waiting: at once, whatever is waited for."""

from __future__ import annotations

import gc
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.raw_server import ENTRY, EXPORT, Close, RawServer, always, http, serving
from support.streams import CLOSING, HEAD, OPENING, records

import dataaccess as da

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are sent the POSIX way")

RUNNING = {**EXPORT, "data": {"entries": [ENTRY], "meta": {"total": 1}}}


@pytest.fixture(autouse=True)
def _ctrl_c_is_heard() -> Iterator[None]:
    # Whoever starts the tests in the background has it ignored; and Hypothesis gives the collector a callback, in
    # which Python would drop the KeyboardInterrupt.
    before, callbacks = signal.signal(signal.SIGINT, signal.default_int_handler), gc.callbacks.copy()
    gc.callbacks.clear()
    yield
    gc.callbacks.extend(callbacks)
    signal.signal(signal.SIGINT, before)


def hang(_connection: Any, _number: int) -> None:
    time.sleep(20)


def half(connection: Any, _number: int) -> None:
    connection.sendall(http()[:-10])
    time.sleep(20)


def rows(connection: Any, _number: int) -> None:
    """Rows without end, faster than anyone waits."""
    head = b'HTTP/1.1 200 OK\r\n\r\n{"code":200,"data":{"status":true,"data":[{"id":"a"}'
    connection.sendall(head)
    while True:
        connection.sendall(b',{"id":"another row of some length"}' * 2_000)


def few_rows(connection: Any, _number: int) -> None:
    """A batch of rows, then nothing."""
    head = b'HTTP/1.1 200 OK\r\n\r\n{"code":200,"data":{"status":true,"data":[{"id":"a"}'
    connection.sendall(head + b',{"id":"another row"}' * 200)
    time.sleep(20)


def scan(client: da.Client) -> da.Scan:
    return client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))


def search(client: da.Client) -> object:
    return client.search_codes(["id"], allocated_time=da.on("2024-01-15"))


STATES: dict[str, tuple[Any, Callable[[da.Client], object]]] = {
    "headers": (hang, search),
    "body": (half, search),
    "rows": (rows, search),
    "batches": (few_rows, lambda client: list(scan(client).batches(max_rows=100))),
    "batches without end": (rows, lambda client: sum(batch.num_rows for batch in scan(client).batches())),
    "first batch": (half, lambda client: next(scan(client).batches())),
    "collect": (rows, lambda client: scan(client).collect()),
    "to_arrow": (half, lambda client: scan(client).to_arrow()),
    "to_dicts": (rows, lambda client: scan(client).to_dicts()),
    "capsule": (half, lambda client: scan(client).__arrow_c_stream__()),
    "back-off": (always(http(b"", "503 Busy", headers=("Retry-After: 20",))), search),
    "wait": (always(http(RUNNING)), lambda client: client.wait_for_segment(1, timeout=20, poll=15)),
}


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


def interrupt_when_asked(server: RawServer, sent: list[float]) -> None:
    deadline = time.monotonic() + 10
    while not server.requests and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(0.2)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("state", STATES)
def test_ctrl_c_ends_a_call_and_its_connection(state: str) -> None:
    answer, act = STATES[state]
    with serving(answer) as server:
        client = da.Client(server.base_url, token="tok")
        sent: list[float] = []
        thread = threading.Thread(target=interrupt_when_asked, args=(server, sent))
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            act(client)
        late = time.monotonic() - sent[0]
        thread.join()
    # Promised are 150 ms; the bound here leaves room for a busy machine, and is far below any time-out.
    assert late < 2


def test_the_client_is_usable_after_ctrl_c(sandbox: da.Sandbox) -> None:
    client = sandbox.client()
    with serving(hang) as server:
        other = client.with_options(base_url=server.base_url)
        thread = threading.Thread(target=interrupt_when_asked, args=(server, []))
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            search(other)
        thread.join()
    assert client.download_segment(5637051)["code"] == 200
