"""Clients that begin requests and never end them, beside one that behaves."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import ExitStack, suppress
from itertools import cycle
from urllib.parse import urlsplit

import dataaccess as da

BEGINNINGS = (
    b"",
    b"POST /access/api/item/search HTTP/1.1\r\nHost: localhost\r\nX: ",
    b"POST /access/api/item/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n",
)


def longest_response(sandbox: da.Sandbox, sockets: int, seconds: float) -> float:
    """The longest time a good client waits while so many sockets drip, each opened again when it is closed."""
    parts = urlsplit(sandbox.base_url)
    address = (parts.hostname or "", parts.port or 0)
    client = sandbox.client(retry_for=0)
    over = threading.Event()

    def drip(share: int) -> None:
        with ExitStack() as opened:
            slow: list[socket.socket] = []
            for beginning in cycle(BEGINNINGS):
                if len(slow) == share or over.is_set():
                    break
                slow.append(opened.enter_context(socket.create_connection(address, timeout=10)))
                slow[-1].sendall(beginning)
            while not over.wait(0.05):
                for place, connection in enumerate(slow):
                    try:
                        connection.sendall(b"x")
                    except OSError:
                        connection.close()
                        with suppress(OSError):
                            slow[place] = opened.enter_context(socket.create_connection(address, timeout=10))

    threads = [threading.Thread(target=drip, args=(sockets // 4,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    longest, end = 0.0, time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            started = time.monotonic()
            # A client of its own each time: it needs a connection among all the others.
            assert client.with_options(timeout=10).search_codes(["id"], allocated_time=da.on("2024-01-15"))
            fresh = sandbox.client(retry_for=0)
            assert fresh.download_segment(5637051)["code"] == 200
            fresh.close()
            longest = max(longest, time.monotonic() - started)
    finally:
        over.set()
        for thread in threads:
            thread.join()
    return longest
