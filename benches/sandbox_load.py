"""Load for a service: kept connections that each send the next request after a response.

Plain sockets in one thread, so that the load takes little of the machine it shares with the service. Every
response is compared with the one expected, byte by byte: a fast wrong response is a failure.
"""

from __future__ import annotations

import http.client
import itertools
import selectors
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

SEARCH = "/access/api/item/search"


@dataclass(frozen=True)
class Exchange:
    """A request as it is sent, and the body that must come back."""

    request: bytes
    answer: bytes


@dataclass
class Caller:
    """A connection, what it waits for, and since when."""

    socket: socket.socket
    exchange: Exchange
    since: float = 0.0
    received: bytearray = field(default_factory=bytearray)

    def ask(self, exchange: Exchange) -> None:
        """Sends the next request."""
        self.exchange = exchange
        self.received.clear()
        self.since = time.perf_counter()
        self.socket.sendall(exchange.request)

    def is_answered(self) -> bool:
        """Reads what has come; whether it is the whole response."""
        chunk = self.socket.recv(262_144)
        if not chunk:
            raise SystemExit("the service closed a connection under load")
        self.received += chunk
        end = self.received.find(b"\r\n\r\n")
        if end < 0 or len(self.received) < end + 4 + len(self.exchange.answer):
            return False
        if not self.received.startswith(b"HTTP/1.1 200 ") or self.received[end + 4 :] != self.exchange.answer:
            raise SystemExit(f"a wrong answer under load: {bytes(self.received[:500])!r}")
        return True


def request(base_url: str, token: str, body: bytes) -> bytes:
    """A search as it is sent."""
    base = urlsplit(base_url)
    head = [
        f"POST {base.path}{SEARCH} HTTP/1.1",
        f"Host: {base.netloc}",
        f"Authorization: Bearer {token}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join([*head, "", ""]).encode() + body


def connect(base_url: str) -> socket.socket:
    """A connection to the service."""
    address = urlsplit(base_url)
    connection = socket.create_connection((str(address.hostname), int(address.port or 80)), timeout=300)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def latencies(base_url: str, exchanges: Sequence[Exchange], *, connections: int, seconds: float) -> list[float]:
    """How long each request took, all connections asking again and again for so many seconds."""
    upcoming = itertools.cycle(exchanges)
    taken: list[float] = []
    with selectors.DefaultSelector() as selector:
        for _ in range(connections):
            caller = Caller(connect(base_url), exchanges[0])
            selector.register(caller.socket, selectors.EVENT_READ, caller)
            caller.ask(next(upcoming))
        end = time.perf_counter() + seconds
        while selector.get_map():
            for key, _ in selector.select(timeout=30):
                caller = key.data
                if not caller.is_answered():
                    continue
                now = time.perf_counter()
                taken.append(now - caller.since)
                if now < end:
                    caller.ask(next(upcoming))
                else:
                    selector.unregister(caller.socket)
                    caller.socket.close()
    return taken


def stream(base_url: str, token: str, body: bytes) -> Iterator[memoryview]:
    """The body of one response, piece by piece as it comes."""
    with connect(base_url) as connection:
        connection.sendall(request(base_url, token, body))
        with http.client.HTTPResponse(connection, method="POST") as response:
            response.begin()
            if response.status != http.client.OK:
                raise SystemExit(f"the service answered {response.status}: {response.read(500)!r}")
            buffer = bytearray(262_144)
            view = memoryview(buffer)
            while count := response.readinto(buffer):
                yield view[:count]
