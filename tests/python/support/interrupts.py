"""Calls that Ctrl-C or asyncio ends in some state: how late they end, and whether the server has seen it."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from support.raw_server import EXPORT, RawServer, http, serving
from support.searches import search
from support.streams import gone

import dataaccess as da

HEAD = b'HTTP/1.1 200 OK\r\n\r\n{"code":200,"data":{"status":true,"data":[{"id":"a"}'


def until_gone(connection: Any) -> None:
    while connection.recv(65536):
        pass


def rows(connection: Any) -> None:
    """Rows without end, faster than anyone waits: the client is busy with what has come."""
    while True:
        connection.sendall(b',{"id":"another row of some length"}' * 2_000)


def idle(_connection: Any) -> None:
    """The response is complete."""


@dataclass(frozen=True)
class Service:
    """What the server sends for each request, and what it does then."""

    first: bytes
    then: Callable[[Any], None] = until_gone

    @contextmanager
    def serving(self) -> Iterator[tuple[RawServer, threading.Event]]:
        """Serves, and sets the event once it sent the first bytes to anyone."""
        reached = threading.Event()

        def respond(connection: Any, _number: int) -> None:
            connection.sendall(self.first)
            reached.set()
            self.then(connection)

        with serving(respond) as server:
            yield server, reached


hang = Service(b"")
half = Service(http()[:-10])
few_rows = Service(HEAD + b',{"id":"another row"}' * 200)
endless = Service(HEAD, rows)
busy = Service(http(b"", "503 Busy", headers=("Retry-After: 20",)), idle)
running = Service(http(EXPORT), idle)


def scan(client: da.Client) -> da.Scan:
    return client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))


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
def black_hole() -> Iterator[tuple[str, Callable[[], bool]]]:
    """An address of this machine that accepts no attempt to connect, as its queue is full; and whether one waits."""
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
        port = listener.getsockname()[1]
        before = connecting(port)
        try:
            yield f"http://127.0.0.1:{port}", lambda: connecting(port) > before
        finally:
            for fills in waiting:
                fills.close()


def connecting(port: int) -> int:
    """How many sockets of Linux wait for this port to take their connection (their state is SYN_SENT)."""
    sockets = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()]
    return sum(state == "02" and remote.endswith(f":{port:04X}") for _, _, remote, state, *_ in sockets)


# What the server does, what is called, and whether a connection must have ended: an idle one may be kept.
STATES: dict[str, tuple[Service, Callable[[da.Client], object], bool]] = {
    "headers": (hang, search, True),
    "body": (half, search, True),
    "parse": (endless, search, True),
    "batches": (few_rows, lambda client: list(scan(client).batches(max_rows=100)), True),
    "batches without end": (endless, lambda client: sum(batch.num_rows for batch in scan(client).batches()), True),
    "first batch": (half, lambda client: next(scan(client).batches()), True),
    "collect": (endless, lambda client: scan(client).collect(), True),
    "to_arrow": (half, lambda client: scan(client).to_arrow(), True),
    "to_dicts": (endless, lambda client: scan(client).to_dicts(), True),
    "capsule": (half, lambda client: scan(client).__arrow_c_stream__(), True),
    "requests of a scan": (hang, lambda client: several(client).to_dicts(), True),
    "responses of a scan": (half, lambda client: several(client).collect(), True),
    "batches of a scan": (few_rows, lambda client: list(several(client).batches(max_rows=100)), True),
    "capsule of a scan": (half, lambda client: several(client).__arrow_c_stream__(), True),
    "file": (half, file_of_several, True),
    "back-off": (busy, search, False),
    "wait": (running, lambda client: client.wait_for_segment(1, timeout=20, poll=15), False),
}
# Before there is a request.
EARLY = ("connect", "tls")
# The six documented ones.
SIX = ("connect", "tls", "headers", "body", "back-off", "parse")


def seconds_late(state: str, pause: float = 0.2) -> float:
    """Interrupts a call that has been in a state for a while, and measures until it is over."""
    if state == "connect":
        with black_hole() as (address, waits), da.Client(address, token="tok") as client:
            return seconds_until_interrupted(lambda: search(client), waits, pause)
    service, act, closes = (hang, search, True) if state == "tls" else STATES[state]
    with service.serving() as (server, reached):
        # For TLS the server waits for plain HTTP, and gets a handshake that it ignores.
        address, ready = server.base_url, reached.is_set
        if state == "tls":
            address, ready = address.replace("http://", "https://"), lambda: server.connections > 0
        with da.Client(address, token="tok") as client:
            late = seconds_until_interrupted(lambda: act(client), ready, pause)
            # The client is still open: the call itself closed its connection, or is idle and sent nothing more.
            if closes:
                assert gone(server), "the call left its connection open"
            else:
                assert len(server.requests) == 1, "the call was not idle"
        return late


def seconds_until_interrupted(act: Callable[[], object], ready: Callable[[], bool], pause: float = 0.2) -> float:
    """Sends Ctrl-C to a call shortly after it reaches the state. Returns how long the call still takes."""
    sent: list[float] = []
    over = threading.Event()

    def interrupt() -> None:
        deadline = time.monotonic() + 10
        while not (is_ready := ready()) and time.monotonic() < deadline and not over.is_set():
            time.sleep(0.005)
        if over.wait(pause):
            return
        if is_ready:
            sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            act()
        end = time.monotonic()
    finally:
        over.set()
        thread.join()
    assert sent, "the call did not come to the state within 10 s"
    return end - sent[0]


WHOLE = http({"code": 200, "data": {"status": True, "data": [{"id": f"row {number}"} for number in range(2_000)]}})


def in_pieces(connection: Any, _number: int) -> None:
    """A response that takes a while, and ends before its end; then nothing until the other side has gone."""
    time.sleep(0.01)
    for start in range(0, len(WHOLE) - 100, 10_000):
        connection.sendall(WHOLE[start : min(start + 10_000, len(WHOLE) - 100)])
        time.sleep(0.002)
    while connection.recv(1024):
        pass


def seconds_until_closed(trials: int, seed: int) -> list[float]:
    """Cancels calls, each at a random moment, and measures how long each has a connection after it."""
    late: list[float] = []
    chance = random.Random(seed)

    async def main() -> None:
        with serving(in_pieces) as server:
            client = da.AsyncClient(server.base_url, token="tok")
            for _ in range(trials):
                call = client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
                task = asyncio.create_task(call)
                await asyncio.sleep(chance.uniform(0, 0.06))
                task.cancel()
                cancelled = time.monotonic()
                await asyncio.wait([task])
                assert task.cancelled()
                while server.open and time.monotonic() - cancelled < 5:
                    await asyncio.sleep(0.001)
                assert server.open == 0
                late.append(time.monotonic() - cancelled)

    asyncio.run(main())
    return late
