"""A raw server that knows which part of a scan it is asked for, and the scans that ask it part by part."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from support.raw_server import Close, RawServer, Received
from support.streams import answer

import dataaccess as da

TYPES = {"n": "int64", "text": "string"}
Row = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """A request: the part it is for, and how often that was asked for before."""

    part: int
    attempt: int
    request: Received


class Last(bytes):
    """Bytes after which the connection is closed."""

    __slots__ = ()


# In place of a response: none, for as long as the client waits.
SILENCE = Last(b"silence")


class Parts:
    """Responses each request by its part."""

    def __init__(self, answers: Callable[[Asked], bytes]) -> None:
        """Begins to listen."""
        self._answers = answers
        self._lock = threading.Lock()
        self._under_way = 0
        self.asked: list[int] = []
        self.most = 0
        self.server = RawServer(self._respond)
        self.base_url = self.server.base_url

    def _respond(self, connection: Any, number: int) -> None:
        request = self.server.requests[number]
        part = int(request.json["filters"]["OR"][0]["AND"][0]["value"][0])
        with self._lock:
            asked = Asked(part, self.asked.count(part), request)
            self.asked.append(part)
            self._under_way += 1
            self.most = max(self.most, self._under_way)
        whole = self._answers(asked)
        if whole is SILENCE:
            while connection.recv(1024):
                pass
            raise Close
        # Before its last byte: another request may follow at once.
        with self._lock:
            self._under_way -= 1
        connection.sendall(whole)
        if isinstance(whole, Last):
            raise Close


@contextmanager
def parted(answers: Callable[[Asked], bytes]) -> Iterator[Parts]:
    """Runs such a server for the time of a block."""
    parts = Parts(answers)
    try:
        yield parts
    finally:
        parts.server.close()


def rows_of(part: int, count: int = 2) -> list[Row]:
    """The rows of a part, which no other part has."""
    return [{"n": 100 * part + row, "text": f"row {row} of {part}"} for row in range(count)]


def rows_of_all(count: int) -> list[Row]:
    """Those of all parts, in the order of the plan."""
    return [row for part in range(count) for row in rows_of(part)]


def good(asked: Asked) -> bytes:
    """The rows of the part."""
    return answer(rows_of(asked.part))


def scan_of_parts(client: Any, count: int, **options: Any) -> Any:
    """A scan of so many requests, whose types are known unless `schema` is another."""
    parts = da.col("n").matches([str(part) for part in range(count)])
    options = {"schema": TYPES, "chunk": 1, **options}
    return client.scan_items("store", ["n", "text"], parts, item_type_id=7, **options)


def rows_of_batches(scan: Any, **options: Any) -> list[Row]:
    """The rows of a scan, read batch by batch."""
    return [row for batch in scan.batches(**options) for row in batch.to_dicts()]


# What can be made of a scan by either client.
FORMS: dict[str, Callable[[Any], list[Row]]] = {
    "dicts": lambda scan: scan.to_dicts(),
    "collect": lambda scan: scan.collect().to_dicts(),
    "arrow": lambda scan: scan.to_arrow().to_pylist(),
    "pandas": lambda scan: scan.to_pandas().to_dict("records"),
    "polars": lambda scan: scan.to_polars().to_dicts(),
    "batches": rows_of_batches,
}
