"""Requests without a client: bytes out, a response back, no checks.

It knows the paths and the envelope of the specification, and nothing of the package.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from http.client import HTTPConnection
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
        self._connection = HTTPConnection(urlsplit(base_url).netloc, timeout=30)
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def search(self, body: object) -> Reply:
        return self.post(SEARCH, body)

    def post(self, path: str, body: object, headers: dict[str, str] | None = None) -> Reply:
        """Sends a request; a body that is no bytes is written as JSON, headers are added to the usual ones.

        A kept connection that was closed meanwhile is opened again.
        """
        payload = body if isinstance(body, bytes) else json.dumps(body, separators=(",", ":")).encode()
        is_kept = self._connection.sock is not None
        try:
            return self._exchange(path, payload, {**self.headers, **(headers or {})})
        except ConnectionError:
            if not is_kept:
                raise
            self._connection.close()
            return self._exchange(path, payload, {**self.headers, **(headers or {})})

    def _exchange(self, path: str, payload: bytes, headers: dict[str, str]) -> Reply:
        self._connection.request("POST", path, payload, headers)
        with self._connection.getresponse() as response:
            received = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, received, response.read())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
