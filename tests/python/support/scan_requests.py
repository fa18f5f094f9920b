"""A raw server that knows which part of a scan it is asked for, scans that ask it part by part, and files of rows."""

from __future__ import annotations

import csv
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq
import pytest
from support.environment import in_parts
from support.raw_server import Close, RawServer, Request, http
from support.streams import response_of

import dataaccess as da

KINDS = ["parquet", "csv", "jsonl"]


def write(scan: Any, kind: str, path: str | Path) -> None:
    assert getattr(scan, f"to_{kind}")(path) is None


def rows_in(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of numbers and strings."""
    if path.suffix == ".parquet":
        return list(pq.read_table(path).to_pylist())
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in file]
        return [{"n": int(row["n"]), "text": row["text"]} for row in csv.DictReader(file)]


@pytest.fixture(params=KINDS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A path for a file of each format, in a folder of its own."""
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder" / f"rows.{request.param}"


def kind_of(path: Path) -> str:
    return path.suffix[1:]


@pytest.fixture
def unchanged_folder(path: Path) -> Iterator[None]:
    """Checks that the folder is unchanged at the end: no file, or an old one."""
    is_old = kind_of(path) != "parquet"
    if is_old:
        path.write_text("of last week")
    yield
    # A cancelled call ends its work a moment later.
    expected = [path.name] if is_old else []
    deadline = time.monotonic() + 2
    while (left := [found.name for found in path.parent.iterdir()]) != expected and time.monotonic() < deadline:
        time.sleep(0.01)
    assert left == expected
    assert not is_old or path.read_text() == "of last week"


on_posix = pytest.mark.skipif(sys.platform == "win32", reason="signals, limits and modes are POSIX")


TYPES = {"n": "int64", "text": "string"}
Row = dict[str, Any]


@dataclass(frozen=True)
class ScanRequest:
    """A request: the part it is for, and how often that was asked for before."""

    part: int
    attempt: int
    request: Request


class ThenClose(bytes):
    """Bytes after which the connection is closed."""

    __slots__ = ()


# In place of a response: none, for as long as the client waits.
SILENCE = ThenClose(b"silence")


class Parts:
    """A server that responds to each request of a scan."""

    def __init__(self, respond: Callable[[ScanRequest], bytes]) -> None:
        self._respond = respond
        self._lock = threading.Lock()
        self.in_flight = 0
        self.asked: list[int] = []
        self.most = 0
        self.server = RawServer(self._serve)
        self.base_url = self.server.base_url

    def _serve(self, connection: Any, number: int) -> None:
        request = self.server.requests[number]
        part = int(request.json["filters"]["OR"][0]["AND"][0]["value"][0])
        with self._lock:
            asked = ScanRequest(part, self.asked.count(part), request)
            self.asked.append(part)
            self.in_flight += 1
            self.most = max(self.most, self.in_flight)
        whole = self._respond(asked)
        if whole is SILENCE:
            while connection.recv(1024):
                pass
            raise Close
        # Before its last byte: another request may follow at once.
        with self._lock:
            self.in_flight -= 1
        connection.sendall(whole)
        if isinstance(whole, ThenClose):
            raise Close


@contextmanager
def scan_server(respond: Callable[[ScanRequest], bytes]) -> Iterator[Parts]:
    parts = Parts(respond)
    try:
        yield parts
    finally:
        parts.server.close()


def rows_of(part: int, count: int = 2) -> list[Row]:
    """The rows of a part, which no other part has."""
    return [{"n": 100 * part + row, "text": f"row {row} of {part}"} for row in range(count)]


def rows_of_all(count: int) -> list[Row]:
    return [row for part in range(count) for row in rows_of(part)]


def ok_response(asked: ScanRequest) -> bytes:
    return response_of(rows_of(asked.part))


def scan_of_parts(client: Any, count: int, **options: Any) -> Any:
    """A scan of so many requests, whose types are known unless `schema` is another."""
    parts = da.col("n").matches([str(part) for part in range(count)])
    options = {"schema": TYPES, **options}
    return in_parts(1, client.scan_items, "store", ["n", "text"], parts, item_type_id=7, **options)


def rows_of_batches(scan: Any, **options: Any) -> list[Row]:
    return [row for batch in scan.batches(**options) for row in batch.to_pylist()]


def rows_of_file(scan: Any, kind: str) -> list[Row]:
    """The rows of a scan, read from a file that it wrote."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"rows.{kind}"
        write(scan, kind, path)
        return rows_in(path)


# What can be made of a scan by either client.
OUTPUTS: dict[str, Callable[[Any], list[Row]]] = {
    "dicts": lambda scan: scan.to_dicts(),
    "collect": lambda scan: scan.collect().to_pylist(),
    "arrow": lambda scan: scan.to_arrow().to_pylist(),
    "pandas": lambda scan: scan.to_pandas().to_dict("records"),
    "polars": lambda scan: scan.to_polars().to_dicts(),
    "batches": rows_of_batches,
    "parquet": lambda scan: rows_of_file(scan, "parquet"),
    "jsonl": lambda scan: rows_of_file(scan, "jsonl"),
}


def uses_of(scan: Any) -> list[Callable[[], Any]]:
    """Uses of a scan, each of which warns of what looks wrong."""
    return [scan.to_dicts, scan.collect, scan.to_pandas, lambda: list(scan.batches())]


# Seconds after which a test fails; a passing one never takes so long.
LONG = 20
REFUSED = ThenClose(http({"code": 400, "message": "no such thing"}, "400 Bad Request"))


def wait_until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)
