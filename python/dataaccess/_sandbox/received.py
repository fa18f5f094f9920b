"""What a `Sandbox` received: one record for each request."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request as a `Sandbox` received it.

    Attributes:
        time: When its head had come, in UTC.
        method: As `POST`.
        path: As `/access/api/item/search`.
        headers: By their names in lower case; several of one name are joined by commas. Of a token there
            are the last four characters, as `Bearer …a1b2`.
        body: Decoded if it is JSON, bytes if not, None if it was not read to its end.
        status: HTTP status of the answer; None when there was none (yet), as after a reset.
    """

    time: datetime
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    status: int | None


def received(
    time: float,
    method: str,
    path: str,
    headers: Iterable[tuple[str, str]],
    body: bytes | None,
    status: int | None,
) -> ReceivedRequest:
    """The record of a request."""
    joined: dict[str, str] = {}
    for name, value in headers:
        joined[name] = f"{joined[name]}, {value}" if name in joined else value
    decoded = None if body is None else _decoded(body)
    return ReceivedRequest(datetime.fromtimestamp(time, UTC), method, path, MappingProxyType(joined), decoded, status)


def _decoded(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body
