"""The calls through which a response reaches a user, a response that is valid for all, and a service that starts late.

Failures must not depend on the call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.programs import free_port
from support.raw_server import ENTRY, RESPONSE, RawServer, always, http
from support.searches import collect, search, stream

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
        return self.call(client)

    def __str__(self) -> str:
        return self.name


ROWS = GOOD["data"]["data"]
SEARCH = Operation("search_codes", search, ROWS)
DOWNLOAD = Operation("download_segment", lambda client: client.download_segment(5637051)["entries"], [ENTRY, ENTRY])


@dataclass(frozen=True)
class Entry:
    """A call, the operation that its errors name, and its result."""

    name: str
    operation: str
    call: Callable[[Any, Path], Any]
    result: Any

    def __str__(self) -> str:
        return self.name

    def __call__(self, client: Any, folder: Path) -> Any:
        """Calls it. A run of one task raises the error of its task."""
        try:
            return self.call(client, folder)
        except da.ScanIncompleteError as error:
            (failed,) = error.failed.values()
            raise failed from None


def _folder(client: Any, folder: Path) -> Any:
    scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    scan.to_folder(folder)
    return scan.read_folder(folder).to_dicts()


OF_ROWS = (
    Entry("search", "search_codes", lambda client, _: search(client), ROWS),
    Entry("collect", "scan_codes", lambda client, _: collect(client).to_pylist(), ROWS),
    Entry("batches", "scan_codes", lambda client, _: [row for each in stream(client) for row in each.to_dicts()], ROWS),
    Entry("folder", "scan_codes", _folder, ROWS),
)
ENTRIES = (*OF_ROWS, Entry("download", "download_segment", lambda client, _: DOWNLOAD(client), DOWNLOAD.result))
# For cases that differ by a number only.
FEW = (ENTRIES[0], ENTRIES[-1])


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
