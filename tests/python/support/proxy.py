"""A proxy of raw sockets: what it responds to `CONNECT`, and a tunnel to wherever the test says."""

from __future__ import annotations

import select
import socket
from typing import Any

from support.raw_server import Close, Responder


def tunnel(
    port: int, established: bytes = b"HTTP/1.1 200 Connection established\r\n\r\n", limit: int = 2**40
) -> Responder:
    """Whatever name is asked for leads to this port of the machine, for so many bytes of what comes back."""

    def respond(connection: Any, _number: int) -> None:
        connection.sendall(established)
        with socket.create_connection(("127.0.0.1", port)) as service:
            relay(connection, service, limit)
        raise Close

    return respond


def relay(client: Any, service: socket.socket, limit: int) -> None:
    """Carries bytes both ways until one side ends or the limit is reached."""
    given = 0
    while True:
        # Bytes that TLS has already decrypted do not show in `select`.
        waiting = getattr(client, "pending", int)()
        ready = [client] if waiting else select.select([client, service], [], [], 30)[0]
        for source in ready:
            data = source.recv(65536)
            if source is service:
                data = data[: limit - given]
                given += len(data)
            if not data:
                return
            (service if source is client else client).sendall(data)
            if given >= limit:
                return
