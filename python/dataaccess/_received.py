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
        path: As `/access/api/item/search`, with the query if there is one.
        headers: By their names in lower case; several of one name are joined by commas. Of a token there
            are the last four characters, as `Bearer …a1b2`.
        content: The body as bytes, None if it was not read to its end.
        status: HTTP status of the answer; None when there was none (yet), as after a reset.
    """

    time: datetime
    method: str
    path: str
    headers: Mapping[str, str]
    content: bytes | None
    status: int | None

    @property
    def body(self) -> Any:
        """The content, decoded anew each time if it is JSON."""
        if self.content is None:
            return None
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            return self.content


def received(
    time: float,
    method: str,
    path: str,
    headers: Iterable[tuple[str, str]],
    content: bytes | None,
    status: int | None,
) -> ReceivedRequest:
    """The record of a request."""
    joined: dict[str, str] = {}
    for name, value in headers:
        joined[name] = f"{joined[name]}, {value}" if name in joined else value
    return ReceivedRequest(datetime.fromtimestamp(time, UTC), method, path, MappingProxyType(joined), content, status)
