"""A proxy of raw sockets: what it responds to `CONNECT`, and a tunnel to wherever the test says."""

from __future__ import annotations

import select
import socket
from typing import Any

from support.raw_server import Close, Responder


def tunnel(port: int, limit: int = 2**40) -> Responder:
    """Whatever name is asked for leads to this port of the machine, for so many bytes of what comes back."""

    def respond(client: Any, _number: int) -> None:
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        given = 0
        with socket.create_connection(("127.0.0.1", port)) as service:
            while given < limit:
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
        raise Close

    return respond
