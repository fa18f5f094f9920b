"""A response with both `Content-Length` and chunks: the chunks count, and its connection is not reused (H11)."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from support.cycled import cycled
from support.operations import DOWNLOAD, GOOD, SEARCH, WHOLE, Operation
from support.raw_server import RawServer, always, http, serving

import dataaccess as da

BODY = json.dumps(GOOD).encode()
CHUNKED = b"Transfer-Encoding: chunked\r\n"


def with_two_ends(body: bytes, length: int, status: str = "200 OK", *, length_first: bool = False) -> bytes:
    """A body in two chunks, with a `Content-Length` besides."""
    length_header = f"Content-Length: {length}\r\n".encode()
    framing = length_header + CHUNKED if length_first else CHUNKED + length_header
    half = len(body) // 2
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:half], body[half:], b""))
    return f"HTTP/1.1 {status}\r\n".encode() + framing + b"\r\n" + chunks


def is_left(server: RawServer, connections: int) -> bool:
    """Whether so many connections are left open, in a moment."""
    until = time.monotonic() + 10
    while server.open > connections and time.monotonic() < until:
        time.sleep(0.01)
    return server.open <= connections


@pytest.mark.parametrize(
    ("length", "length_first", "ask"),
    cycled([0, 7, len(BODY), 2**40], [False, True], [SEARCH, DOWNLOAD]),
    ids=str,
)
def test_h11_the_chunks_count_and_the_next_request_has_a_new_connection(
    connect: Any, ask: Operation, length: int, *, length_first: bool
) -> None:
    with serving(always(with_two_ends(BODY, length, length_first=length_first))) as server:
        client = connect(server.base_url, retry_for=0)
        for number in range(1, 4):
            assert ask(client) == ask.result
            assert (len(server.requests), server.connections) == (number, number)
        assert is_left(server, 1)
        # A good response ends the doubt: the connection of the next one is kept.
        server.respond = always(WHOLE)
        for _ in range(4):
            assert ask(client) == ask.result
        assert server.connections == 5
        assert client.stats.connections_opened == 5


def test_h11_nothing_behind_the_chunks_is_ever_a_response(connect: Any, ask: Operation) -> None:
    false = http({"code": 200, "data": {"status": True, "data": [{"id": "false"}], "entries": [{"false": 1}]}})

    def respond(connection: Any, number: int) -> None:
        doubtful = with_two_ends(BODY, len(BODY) + len(false))
        connection.sendall(doubtful + false if number % 2 == 0 else WHOLE)

    with serving(respond) as server:
        client = connect(server.base_url, retry_for=0)
        for _ in range(20):
            assert ask(client) == ask.result
        assert len(server.requests) == 20


def test_h11_a_failure_with_two_ends_is_reported_and_leaves_its_connection(connect: Any, ask: Operation) -> None:
    with serving(always(with_two_ends(b"<html>", 3, "500 Broken"))) as server:
        with pytest.raises(da.ServerError):
            ask(connect(server.base_url, retry_for=0.2))
        assert len(server.requests) == server.connections == 2
