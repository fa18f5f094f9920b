"""Responses that never end or come in pieces, and servers that give up connections between two requests."""

from __future__ import annotations

import json
import select
import socket
import time
from collections.abc import Iterator
from typing import Any

from support.raw_server import RESPONSE, Close, Responder, http, silent

WHOLE = http()
HEAD, _, _ = WHOLE.partition(b"\r\n\r\n")


def forever(before: bytes, piece: bytes, pause: float) -> Responder:
    """Sends a beginning, and a piece after each pause."""

    def respond(connection: Any, _number: int) -> None:
        connection.sendall(before)
        while True:
            time.sleep(pause)
            connection.sendall(piece)

    return respond


# Each with the phase in which it is found: for the headers, `timeout=` is the limit.
CASES: dict[str, tuple[Responder, str]] = {
    "H13-endless-continue": (forever(b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.01), "headers"),
    "H14-silence-before-the-headers": (silent(b""), "headers"),
    "H14-silence-in-the-body": (silent(WHOLE[:-9]), "body"),
    "H15-headers-that-drip": (forever(HEAD + b"\r\nX-Long: ", b"x", 0.01), "headers"),
    "H15-a-body-that-drips": (forever(http(b'{"data":"', length=10**6), b"x", 0.01), "stall"),
}


def chunks(*pieces: bytes) -> bytes:
    """A response whose pieces are received one by one, as each is a chunk of HTTP."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in [*pieces, b""])


def records(count: int, size: int) -> list[bytes]:
    """A response in parts, a record of some size in each."""
    shell = json.dumps({**RESPONSE, "data": {"status": True, "data": []}}).encode()
    opening, closing = shell[:-3], shell[-3:]
    parts = [json.dumps({"id": f"{number:0{size}}"}).encode() for number in range(count)]
    return [opening + parts[0], *(b"," + part for part in parts[1:]), closing]


def once_a_connection(*responses: bytes) -> Responder:
    """Gives each connection these responses; the request after them is read and the connection closed on it."""
    served: dict[socket.socket, Iterator[bytes]] = {}

    def respond(connection: socket.socket, _number: int) -> None:
        if (response := next(served.setdefault(connection, iter(responses)), None)) is None:
            raise Close
        connection.sendall(response)

    return respond


def closing_idle(whole: bytes, seconds: float) -> Responder:
    """Closes a connection that has had no request for so long."""

    def respond(connection: socket.socket, _number: int) -> None:
        connection.sendall(whole)
        if not select.select([connection], [], [], seconds)[0]:
            raise Close

    return respond
