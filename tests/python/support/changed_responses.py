"""A service whose responses a test can change on their way: a forwarder in front of a sandbox."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from support.raw_server import RawServer
from support.raw_server import http as response_of

import dataaccess as da

# Gets the text of a request and its decoded response, and gives the body that is sent.
Change = Callable[[str, Any], Any]


class ChangedResponses:
    """Forwards requests to a sandbox."""

    def __init__(self, service: da.Sandbox) -> None:
        """Changes nothing at first."""
        self.service = service
        self._host = urlsplit(service.base_url).netloc
        self._server = RawServer(self._forward)
        self.base_url = self._server.base_url
        self.change: Change | None = None

    @contextmanager
    def changed(self, change: Change) -> Iterator[None]:
        """Changes responses for the time of a block."""
        self.change = change
        try:
            yield
        finally:
            self.change = None

    def close(self) -> None:
        """Stops listening."""
        self._server.close()

    def _forward(self, connection: Any, number: int) -> None:
        request = self._server.requests[number]
        upstream = http.client.HTTPConnection(self._host, timeout=30)
        try:
            headers = {name: request.headers[name] for name in ("authorization", "content-type")}
            upstream.request("POST", request.path, request.body, headers)
            response = upstream.getresponse()
            body: Any = response.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            return
        finally:
            upstream.close()
        if self.change is not None and response.status == http.client.OK:
            body = self.change(request.body.decode(), json.loads(body))
        kept = [f"{name}: {value}" for name, value in response.getheaders() if name.lower() in ("date", "retry-after")]
        connection.sendall(response_of(body, f"{response.status} {response.reason}", headers=tuple(kept)))


def day_of(request: str) -> str:
    """The day that a request is for."""
    found = re.search(r'"value":(\d{13})\b', request)
    assert found, request
    return str(datetime.fromtimestamp(int(found[1]) / 1000, UTC).date())


def records(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The body of a response with these records."""
    return {"code": 200, "message": "Search Business Object success", "data": {"status": True, "data": rows}}


def nothing(_request: str, _response: Any) -> dict[str, Any]:
    """As of a service that lost its index."""
    return records([])
