"""Responses of a raw server that come in parts, and the scans that read them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from support.raw_server import Close, RawServer, http

import dataaccess as da

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
OPENING = b'{"code":200,"message":"ok","data":{"status":true,"data":['
CLOSING = b"]}}"


def response_of(records: list[dict[str, Any]], **data: Any) -> bytes:
    return http({"code": 200, "message": "ok", "data": {"status": True, "data": records, **data}})


@lru_cache(maxsize=16)
def records(start: int, count: int) -> bytes:
    """Records of a number and a string, as they are in a response."""
    return b",".join(b'{"n": %d, "text": "row %d"}' % (n, n) for n in range(start, start + count))


def in_parts(parts: Iterable[bytes], pause: Callable[[int], object] = lambda _number: None) -> Any:
    """Sends a response part by part, each after a pause, and closes the connection."""
    parts = list(parts)

    def send(connection: Any, _number: int) -> None:
        connection.sendall(HEAD)
        for number, part in enumerate(parts):
            pause(number)
            connection.sendall(part)
        raise Close

    return send


def endless(first: int = 1) -> Any:
    """Sends so many records, and then more until the other side has gone."""

    def send(connection: Any, _number: int) -> None:
        connection.sendall(HEAD + OPENING + records(0, first))
        while True:
            connection.sendall(b"," + records(1, 1_000))

    return send


def gone(server: RawServer) -> bool:
    """Whether all connections end within a moment."""
    deadline = time.monotonic() + 5
    while server.open and time.monotonic() < deadline:
        time.sleep(0.01)
    return server.open == 0


def whole(count: int, most: int = 1_000) -> list[bytes]:
    """The parts of a response of so many records."""
    parts = [records(start, min(most, count - start)) for start in range(0, count, most)]
    joined = [part if number == 0 else b"," + part for number, part in enumerate(parts)]
    return [OPENING, *joined, CLOSING]


def scan_of(client: Any, attrs: Iterable[str] = ("n", "text"), **options: Any) -> Any:
    """A scan of an object without rules, for which a raw server may send anything."""
    names = list(attrs)
    return client.scan_items("store", names, da.col(names[0]).equals("x"), item_type_id=7, **options)


def column(table: Any) -> tuple[str, list[Any]]:
    """The type and the values of a column `a`."""
    return str(table.schema.field("a").type), table.column("a").to_pylist()


def search_of(client: Any, attrs: Iterable[str] = ("n", "text")) -> Any:
    names = list(attrs)
    return client.search_items("store", names, da.col(names[0]).equals("x"), item_type_id=7)


def client_of(server: RawServer, **options: Any) -> da.Client:
    return da.Client(server.base_url, token="tok-test", **options)
