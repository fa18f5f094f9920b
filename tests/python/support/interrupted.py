"""Ctrl-C while a call is in some state: how late the call is ended, and whether the server has seen it."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from support.raw_server import ENTRY, EXPORT, RawServer, always, http, serving

import dataaccess as da

RUNNING = {**EXPORT, "data": {"entries": [ENTRY], "meta": {"total": 1}}}
HEAD = b'HTTP/1.1 200 OK\r\n\r\n{"code":200,"data":{"status":true,"data":[{"id":"a"}'


def until_gone(connection: Any) -> None:
    while connection.recv(65536):
        pass


def hang(connection: Any, _number: int) -> None:
    until_gone(connection)


def half(connection: Any, _number: int) -> None:
    connection.sendall(http()[:-10])
    until_gone(connection)


def rows(connection: Any, _number: int) -> None:
    """Rows without end, faster than anyone waits: the client is busy with what has come."""
    connection.sendall(HEAD)
    while True:
        connection.sendall(b',{"id":"another row of some length"}' * 2_000)


def few_rows(connection: Any, _number: int) -> None:
    """A batch of rows, then nothing."""
    connection.sendall(HEAD + b',{"id":"another row"}' * 200)
    until_gone(connection)


def scan(client: da.Client) -> da.Scan:
    return client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))


def search(client: da.Client) -> object:
    return client.search_codes(["id"], allocated_time=da.on("2024-01-15"))


def several(client: da.Client) -> da.Scan:
    return client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-21"))


def file_of_several(client: da.Client) -> None:
    with TemporaryDirectory() as folder:
        try:
            several(client).to_parquet(Path(folder) / "codes.parquet")
        finally:
            deadline = time.monotonic() + 2
            while (left := list(Path(folder).iterdir())) and time.monotonic() < deadline:
                time.sleep(0.005)
            assert left == []


@contextmanager
def black_hole() -> Iterator[str]:
    """An address of this machine that answers no attempt to connect: its queue is full."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = []
        for _ in range(3):
            fills = socket.socket()
            fills.settimeout(0)
            with suppress(BlockingIOError):
                fills.connect(listener.getsockname())
            waiting.append(fills)
        time.sleep(0.05)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            for fills in waiting:
                fills.close()


# What the server does, what is called, and whether a connection must have ended: an idle one may be kept.
STATES: dict[str, tuple[Any, Callable[[da.Client], object], bool]] = {
    "headers": (hang, search, True),
    "body": (half, search, True),
    "parse": (rows, search, True),
    "batches": (few_rows, lambda client: list(scan(client).batches(max_rows=100)), True),
    "batches without end": (rows, lambda client: sum(batch.num_rows for batch in scan(client).batches()), True),
    "first batch": (half, lambda client: next(scan(client).batches()), True),
    "collect": (rows, lambda client: scan(client).collect(), True),
    "to_arrow": (half, lambda client: scan(client).to_arrow(), True),
    "to_dicts": (rows, lambda client: scan(client).to_dicts(), True),
    "capsule": (half, lambda client: scan(client).__arrow_c_stream__(), True),
    "requests of a scan": (hang, lambda client: several(client).to_dicts(), True),
    "answers of a scan": (half, lambda client: several(client).collect(), True),
    "batches of a scan": (few_rows, lambda client: list(several(client).batches(max_rows=100)), True),
    "capsule of a scan": (half, lambda client: several(client).__arrow_c_stream__(), True),
    "file": (half, file_of_several, True),
    "back-off": (always(http(b"", "503 Busy", headers=("Retry-After: 20",))), search, False),
    "wait": (always(http(RUNNING)), lambda client: client.wait_for_segment(1, timeout=20, poll=15), False),
}
# Before there is a request.
EARLY = ("connect", "tls")
# The six that are promised.
SIX = ("connect", "tls", "headers", "body", "back-off", "parse")


def interrupt(ready: Callable[[], object], pause: float, sent: list[float]) -> None:
    deadline = time.monotonic() + 10
    while not ready() and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(pause)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)


def seconds_late(state: str, pause: float = 0.2) -> float:
    """Interrupts a call that has been in a state for a while, and measures until it is over."""
    if state == "connect":
        with black_hole() as address:
            return _interrupted(address, search, lambda: True, pause)
    if state == "tls":
        # The server waits for plain HTTP and gets a handshake that it never answers.
        with serving(hang) as server:
            address = server.base_url.replace("http://", "https://")
            late = _interrupted(address, search, lambda: server.connections, pause)
            assert gone(server)
            return late
    answer, act, closes = STATES[state]
    with serving(answer) as server:
        late = _interrupted(server.base_url, act, lambda: server.requests, pause)
        assert gone(server) or not closes
        return late


def _interrupted(address: str, act: Callable[[da.Client], object], ready: Callable[[], object], pause: float) -> float:
    client = da.Client(address, token="tok")
    sent: list[float] = []
    thread = threading.Thread(target=interrupt, args=(ready, pause, sent))
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        act(client)
    late = time.monotonic() - sent[0]
    thread.join()
    return late


def gone(server: RawServer) -> bool:
    """Whether the server sees its connections end, in a moment."""
    deadline = time.monotonic() + 2
    while server.open and time.monotonic() < deadline:
        time.sleep(0.005)
    return server.open == 0
