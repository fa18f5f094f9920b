"""The request log of a `Sandbox`."""

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
        time: When its headers were received, in UTC.
        method: The method, such as `POST`.
        path: The path, such as `/access/api/item/search`, with the query if there is one.
        headers: By lower-case name; several of one name are joined by commas. Only the last four characters of a token
            are kept: `Bearer …a1b2`.
        content: The body as bytes; None if it was not read to its end.
        status: HTTP status of the response; None if there is none (yet), for example after a reset.
    """

    time: datetime
    method: str
    path: str
    headers: Mapping[str, str]
    content: bytes | None
    status: int | None

    @property
    def body(self) -> Any:
        """The body, decoded if it is JSON."""
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
    """Makes the record of a request."""
    joined: dict[str, str] = {}
    for name, value in headers:
        joined[name] = f"{joined[name]}, {value}" if name in joined else value
    return ReceivedRequest(datetime.fromtimestamp(time, UTC), method, path, MappingProxyType(joined), content, status)
