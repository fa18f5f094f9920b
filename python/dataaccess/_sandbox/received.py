"""The request log of a `Sandbox`."""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request as a `Sandbox` received it.

    Attributes:
        time: When its headers were received, in UTC.
        method: The method, such as `POST`.
        path: The path, such as `/access/api/item/search`, with the query if there is one.
        headers: By lower-case name; several of one name are joined by commas. Only the last four characters of a token
            are kept: `Bearer …a1b2`.
        content: The body as bytes; None if it was not read to its end.
        status: HTTP status of the response; None if there is none (yet), for example after a reset.
        number: Its number since the start of the sandbox, counted from 1.
        seconds: From its headers to the last byte of the response, or to the end of the connection; None until then.
        bytes_sent: Bytes of the body of the response that were sent.
        fault: Id of the fault that it got, if any.
    """

    time: datetime
    method: str
    path: str
    headers: Mapping[str, str]
    content: bytes | None
    status: int | None
    number: int
    seconds: float | None
    bytes_sent: int
    fault: int | None

    @property
    def body(self) -> Any:
        """The body, decoded if it is JSON."""
        if self.content is None:
            return None
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            return self.content


def received(request: Mapping[str, Any]) -> ReceivedRequest:
    """Makes the record of a request from its JSON."""
    body, duration = request["body"], request["duration_ms"]
    content = body.encode() if isinstance(body, str) else None if body is None else b64decode(body["base64"])
    return ReceivedRequest(
        number=request["number"],
        time=datetime.fromisoformat(request["time"]),
        method=request["method"],
        path=request["path"],
        headers=MappingProxyType(request["headers"]),
        content=content,
        status=request["status"],
        seconds=None if duration is None else duration / 1000,
        bytes_sent=request["bytes"],
        fault=request["fault"],
    )
