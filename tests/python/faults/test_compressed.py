"""Compressed responses: decoded as they arrive, in little memory, and only as far as requested."""

from __future__ import annotations

import gzip
import json
import threading
import time
from typing import Any

import pytest
from faults.table import chunked
from support import kinds
from support.compressed import PACK, packed
from support.cycled import cycled
from support.operations import DOWNLOAD, GOOD, SEARCH, WHOLE, Operation
from support.raw_server import RESPONSE, Close, always, http, serving
from support.searches import search

MANY = [{"id": f"row-{number}"} for number in range(30_000)]
LONG = json.dumps({**RESPONSE, "data": {"status": True, "data": MANY}}).encode()


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "zstd", "identity"])
def test_a_compressed_response_is_read_like_a_plain_one(connect: Any, encoding: str) -> None:
    body = PACK[encoding.removeprefix("x-")](LONG)
    with serving(always(packed(body, encoding))) as server:
        assert search(connect(server.base_url)) == MANY


@pytest.mark.fault("J14")
@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_members_and_frames_may_follow_one_another_at_any_split(connect: Any, encoding: str) -> None:
    body = b"".join(PACK[encoding](LONG[start : start + 99_000]) for start in range(0, len(LONG), 99_000))
    parts = [body[start : start + 1_777] for start in range(0, len(body), 1_777)]
    with serving(always(chunked(*parts, headers=f"Content-Encoding: {encoding}\r\n".encode()))) as server:
        assert search(connect(server.base_url)) == MANY


def test_the_bytes_received_are_those_that_came(connect: Any) -> None:
    body = gzip.compress(LONG)[:-7]
    for length in (None, len(body) + 7):

        def respond(connection: Any, _number: int, length: int | None = length) -> None:
            connection.sendall(packed(body, length=length))
            raise Close

        with serving(respond) as server, pytest.raises(kinds.Truncated) as caught:
            search(connect(server.base_url, retry_for=0))
        assert caught.value.received == len(body)
        assert f"{len(body)} bytes" in str(caught.value)


BODY = json.dumps(GOOD).encode()
CHUNKED = b"Transfer-Encoding: chunked\r\n"


def with_two_ends(body: bytes, length: int, *, length_first: bool = False) -> bytes:
    """A body in two chunks, with a `Content-Length` besides."""
    length_header = f"Content-Length: {length}\r\n".encode()
    framing = length_header + CHUNKED if length_first else CHUNKED + length_header
    half = len(body) // 2
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:half], body[half:], b""))
    return b"HTTP/1.1 200 OK\r\n" + framing + b"\r\n" + chunks


@pytest.mark.fault("H11")
@pytest.mark.parametrize(
    ("length", "length_first", "ask"),
    cycled([0, 7, len(BODY), 2**40], [False, True], [SEARCH, DOWNLOAD]),
    ids=str,
)
def test_the_chunks_count(connect: Any, ask: Operation, length: int, *, length_first: bool) -> None:
    with serving(always(with_two_ends(BODY, length, length_first=length_first))) as server:
        client = connect(server.base_url, retry_for=0)
        for _ in range(3):
            assert ask(client) == ask.result
        assert (len(server.requests), server.connections) == (3, 1)


@pytest.mark.parametrize("is_later", [False, True])
def test_nothing_behind_the_chunks_is_ever_a_response(connect: Any, ask: Operation, *, is_later: bool) -> None:
    sent = threading.Semaphore(0)
    false = http({"code": 200, "data": {"status": True, "data": [{"id": "false"}], "entries": [{"false": 1}]}})

    def respond(connection: Any, number: int) -> None:
        doubtful = with_two_ends(BODY, len(BODY) + len(false))
        if number % 2:
            connection.sendall(WHOLE)
        elif is_later:
            connection.sendall(doubtful)
            time.sleep(0.02)
            connection.sendall(false)
        else:
            connection.sendall(doubtful + false)
        sent.release()

    with serving(respond) as server:
        client = connect(server.base_url, retry_for=0)
        for _ in range(10):
            assert ask(client) == ask.result
            assert sent.acquire(timeout=10)
            # So that the client has seen what came while its connection was idle.
            time.sleep(0.05)
        assert len(server.requests) == 10
