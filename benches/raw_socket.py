"""The minimum work of any client: send a request over a kept connection and read the response from the socket.

The baseline for the overhead of a client. It neither decodes nor keeps the response.
"""

from __future__ import annotations

import sandbox_load
from clients import BODY, TOKEN, Service
from records import TAIL


class RawSocket:
    """A connection whose responses go into one warm buffer, over and over."""

    def __init__(self, service: Service) -> None:
        """Connects."""
        self._request = sandbox_load.request(service.base_url, TOKEN, BODY)
        self._stream = sandbox_load.connect(service.base_url)
        self._buffer = memoryview(bytearray(1 << 20))

    def receive(self) -> None:
        """Reads one response to its end."""
        self._stream.sendall(self._request)
        count = self._stream.recv_into(self._buffer)
        head, _, start = bytes(self._buffer[:count]).partition(b"\r\n\r\n")
        missing = int(head.partition(b"Content-Length: ")[2].split(maxsplit=1)[0]) - len(start)
        while missing > 0:
            count = self._stream.recv_into(self._buffer)
            missing -= count
            if not count:
                raise SystemExit("an answer ended early")
        if self._buffer[:count][-len(TAIL) :] != TAIL:
            raise SystemExit("an answer without its end")
