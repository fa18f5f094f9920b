"""A server of raw sockets: the test decides every byte of its responses."""

from __future__ import annotations

import json
import select
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

RESPONSE: dict[str, Any] = {
    "code": 200,
    "message": "Search Business Object success",
    "data": {"status": True, "data": [{"id": "a"}, {"id": "b"}]},
}
ENTRY = {
    "exportStatus": 1,
    "exportedRows": None,
    "startTime": "2024-01-15T08:00:00.000Z",
    "endTime": None,
    "durations": None,
    "responseCode": None,
    "responseMessage": None,
}
EXPORT: dict[str, Any] = {
    "code": 200,
    "message": "Success",
    "data": {"entries": [ENTRY], "meta": {"total": 1}},
    "codeMessage": None,
    "duration": "3ms",
}


@dataclass(frozen=True)
class Request:
    """A request as it came."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Responder = Callable[[socket.socket, int], None]
"""Gets the connection and the number of the request, from 0. Return to keep the connection open."""


class Close(Exception):
    """Raised by a handler to close the connection properly."""


@dataclass
class RawServer:
    """Listens on the loopback address until it is closed."""

    respond: Responder
    tls: ssl.SSLContext | None = None
    port: int = 0
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    open: int = 0

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", self.port), backlog=128)
        self.port = self._listener.getsockname()[1]
        self.base_url = f"https://localhost:{self.port}" if self.tls else f"http://127.0.0.1:{self.port}"
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with self._lock:
                    self.connections += 1
                    self.open += 1
                    self._sockets.append(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, accepted: socket.socket) -> None:
        try:
            with suppress(OSError, Close), self._secured(accepted) as connection:
                while (request := read_request(connection)) is not None:
                    with self._lock:
                        number = len(self.requests)
                        self.requests.append(request)
                    self.respond(connection, number)
        finally:
            with self._lock:
                self.open -= 1

    def _secured(self, connection: socket.socket) -> socket.socket:
        if self.tls is None:
            return connection
        secured = self.tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        try:
            secured.do_handshake()
        except OSError as error:
            # Why is said in an alert, which a reset would overtake: what still comes is read.
            with secured, suppress(OSError):
                if isinstance(error, ssl.SSLError):
                    socket.socket.shutdown(secured, socket.SHUT_WR)
                    while socket.socket.recv(secured, 65536):
                        pass
            raise
        return secured

    def close(self) -> None:
        """Stops listening and drops all connections."""
        with suppress(OSError):
            # Closing alone would not wake the thread that accepts.
            self._listener.shutdown(socket.SHUT_RDWR)
        # Otherwise it might accept a connection of the next server, whose socket has the same number.
        self._accepting.join(1)
        self._listener.close()
        with self._lock:
            for connection in self._sockets:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def serving(respond: Responder, tls: ssl.SSLContext | None = None) -> Iterator[RawServer]:
    """Runs a server for the time of a block."""
    server = RawServer(respond, tls)
    try:
        yield server
    finally:
        server.close()


def read_request(connection: socket.socket) -> Request | None:
    """Reads one request, or None at the connection's end."""
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65536)
        if not chunk:
            return None
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        chunk = connection.recv(65536)
        if not chunk:
            return None
        body += chunk
    method, target, _ = first.split(" ")
    path, _, query = target.partition("?")
    return Request(method, path, query, headers, body)


def http(
    body: object = RESPONSE,
    status: str = "200 OK",
    *,
    content_type: str = "application/json",
    headers: tuple[str, ...] = (),
    length: int | None = None,
) -> bytes:
    """A complete response; a body that is not bytes is written as JSON."""
    payload = body if isinstance(body, bytes) else json.dumps(body).encode()
    size = len(payload) if length is None else length
    lines = [
        f"HTTP/1.1 {status}",
        f"Content-Type: {content_type}",
        f"Content-Length: {size}",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + payload


def always(response: bytes) -> Responder:
    return lambda connection, _number: connection.sendall(response)


def in_turn(*responses: bytes) -> Responder:
    """Gives each response once, and the last one ever after."""
    return lambda connection, number: connection.sendall(responses[min(number, len(responses) - 1)])


def reset(connection: socket.socket) -> None:
    """Ends a connection with RST instead of FIN."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raise Close


def _ending(data: bytes, end: Callable[[socket.socket], object]) -> Responder:
    """Sends something, ends, and closes the connection properly."""

    def respond(connection: socket.socket, _number: int) -> None:
        connection.sendall(data)
        end(connection)
        raise Close

    return respond


def closing(data: bytes) -> Responder:
    """Sends something and closes the connection properly."""
    return _ending(data, lambda _connection: None)


def resetting(data: bytes) -> Responder:
    """Sends something and resets the connection."""

    def end(connection: socket.socket) -> None:
        time.sleep(0.05)
        reset(connection)

    return _ending(data, end)


def silent(data: bytes) -> Responder:
    """Sends something and no more, until the client gives up."""
    return _ending(data, lambda connection: connection.recv(1))


def tunnel(port: int, limit: int = 2**40) -> Responder:
    """A proxy: a tunnel to any name leads to this port of the machine, and ends after `limit` bytes of the response."""

    def respond(client: Any, _number: int) -> None:
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        given = 0
        with socket.create_connection(("127.0.0.1", port)) as service:
            while True:
                # Bytes that TLS has already decrypted do not show in `select`.
                waiting = getattr(client, "pending", int)()
                for source in [client] if waiting else select.select([client, service], [], [], 30)[0]:
                    data = source.recv(65536)
                    if source is service:
                        data = data[: limit - given]
                        given += len(data)
                    if not data:
                        raise Close
                    (service if source is client else client).sendall(data)
                    # What the client sent is read first: an end without that may be a reset.
                    if given >= limit:
                        raise Close

    return respond
