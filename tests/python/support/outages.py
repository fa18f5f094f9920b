"""A service that is down at first."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from support.operations import WHOLE
from support.programs import free_port
from support.raw_server import RawServer, always


@contextmanager
def up_after(seconds: float) -> Iterator[str]:
    """The address of a service that refuses connections for so long."""
    port = free_port()
    servers: list[RawServer] = []
    start = threading.Timer(seconds, lambda: servers.append(RawServer(always(WHOLE), port=port)))
    start.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        start.join()
        for server in servers:
            server.close()
