"""Requests without a client: bytes out, a response back, no checks.

It writes requests itself, so that a test can send what no HTTP library would. It knows the paths and the
envelope of the specification, and nothing of the package.
"""

from __future__ import annotations

import http.client
import json
import socket
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

from support.hostile import is_one_harmless_line

SEARCH = "/access/api/item/search"
DOWNLOAD = "/access/api/segment/download"


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def envelope(self) -> dict[str, Any]:
        """The body, which must be an envelope (section 2.1)."""
        assert self.headers["content-type"] == "application/json", self.headers
        envelope = json.loads(self.body)
        assert {"code", "message", "data"} <= envelope.keys(), envelope
        assert type(envelope["code"]) is int
        assert type(envelope["message"]) is str
        return dict(envelope)

    @property
    def records(self) -> list[dict[str, Any]]:
        """The records of a search that succeeded."""
        envelope = self.envelope
        assert (self.status, envelope["code"]) == (200, 200), envelope
        assert envelope["message"] == "Search Business Object success"
        assert envelope["data"]["status"] is True
        return list(envelope["data"]["data"])

    @property
    def refusal(self) -> str:
        """The message of an envelope that refuses the request: one harmless line."""
        envelope = self.envelope
        assert 400 <= self.status < 500, (self.status, envelope)
        message = envelope["message"]
        assert is_one_harmless_line(message), ascii(message)
        if self.status == 403 and envelope["code"] == 301:
            assert (message, envelope["data"]) == (
                "Permission denied",
                "You don't have permission to access this request!",
            )
        else:
            assert (envelope["code"], envelope["data"]) == (self.status, message), envelope
        return str(message)


class PlainService:
    """A kept connection to a service."""

    def __init__(self, base_url: str, token: str) -> None:
        address = urlsplit(base_url)
        self._address = (str(address.hostname), int(address.port or 80))
        self._socket: socket.socket | None = None
        self.headers = {
            "Host": address.netloc,
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
        }

    def search(self, body: object) -> Reply:
        return self.post(SEARCH, body)

    def post(self, path: str, body: object, headers: dict[str, str] | None = None) -> Reply:
        """Sends a request; a body that is no bytes is written as JSON, headers are added to the usual ones."""
        payload = body if isinstance(body, bytes) else json.dumps(body, separators=(",", ":")).encode()
        lines = {**self.headers, "Content-Length": str(len(payload)), **(headers or {})}
        head = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in lines.items())]
        # Any string is sent, also invalid Unicode.
        return self.send("\r\n".join([*head, "", ""]).encode("utf-8", "surrogatepass") + payload)

    def send(self, request: bytes) -> Reply:
        """Sends bytes and reads one response; a kept connection that was closed meanwhile is opened again."""
        fresh = self._socket is None
        try:
            return self._exchange(request)
        except (ConnectionError, http.client.RemoteDisconnected):
            self.close()
            if fresh:
                raise
            return self._exchange(request)

    def _exchange(self, request: bytes) -> Reply:
        if self._socket is None:
            self._socket = socket.create_connection(self._address, timeout=30)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(request)
        with http.client.HTTPResponse(self._socket, method="POST") as response:
            response.begin()
            body = response.read()
            headers = {name.lower(): value for name, value in response.getheaders()}
            if response.will_close:
                self.close()
            return Reply(response.status, headers, body)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
