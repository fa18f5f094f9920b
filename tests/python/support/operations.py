"""The two operations, and a response that is valid for both, as failures must not depend on the operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from support.raw_server import ENTRY, RESPONSE, http

import dataaccess as da

GOOD: dict[str, Any] = {**RESPONSE, "data": {"entries": [ENTRY, ENTRY], "meta": {"total": 2}, **RESPONSE["data"]}}
WHOLE = http(GOOD)


@dataclass(frozen=True)
class Operation:
    """An operation to call with a client, and its result of the response that is valid for both."""

    name: str
    call: Callable[[Any], Any]
    result: Any

    def __call__(self, client: Any) -> Any:
        """Calls it."""
        return self.call(client)

    def __str__(self) -> str:
        return self.name


SEARCH = Operation(
    "search_codes",
    lambda client: client.search_codes(["id"], allocated_time=da.on("2024-01-15")),
    GOOD["data"]["data"],
)
DOWNLOAD = Operation("download_segment", lambda client: client.download_segment(5637051)["entries"], [ENTRY, ENTRY])
