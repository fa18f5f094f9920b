"""Servers that give up connections between two requests, as busy ones do."""

from __future__ import annotations

import select
import socket
import threading

from support.raw_server import Close, Responder


def once_a_connection(*responses: bytes) -> Responder:
    """Gives each connection these responses; the request after them is read and the connection closed on it."""
    served: dict[socket.socket, int] = {}
    lock = threading.Lock()

    def respond(connection: socket.socket, _number: int) -> None:
        with lock:
            number = served.get(connection, 0)
            served[connection] = number + 1
        if number == len(responses):
            raise Close
        connection.sendall(responses[number])

    return respond


def closing_idle(whole: bytes, seconds: float) -> Responder:
    """Closes a connection that has had no request for so long."""

    def respond(connection: socket.socket, _number: int) -> None:
        connection.sendall(whole)
        if not select.select([connection], [], [], seconds)[0]:
            raise Close

    return respond
