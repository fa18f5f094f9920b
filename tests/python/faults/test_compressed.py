"""Compressed responses: decoded as they arrive, in little memory, and only as far as requested."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from support import kinds
from support.compressed import PACK, packed
from support.raw_server import RESPONSE, Close, always, serving
from support.searches import search

import dataaccess as da

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
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    head = f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: {encoding}\r\n\r\n".encode()
    with serving(always(head + chunks + b"0\r\n\r\n")) as server:
        assert search(connect(server.base_url)) == MANY


def test_the_body_of_a_compressed_failure_is_reported(connect: Any) -> None:
    body = gzip.compress(b'{"code":301,"message":"Permission denied","data":"no"}')
    with serving(always(packed(body, status="403 Forbidden"))) as server:
        with pytest.raises(da.PermissionDeniedError) as caught:
            search(connect(server.base_url))
        assert (caught.value.code, caught.value.api_message) == (301, "Permission denied")


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


def test_a_limit_still_ends_early(connect: Any) -> None:
    early = b'{"code":200,"data":{"status":true,"data":[' + LONG.partition(b'"data": [')[2]

    def respond(connection: Any, _number: int) -> None:
        connection.sendall(packed(gzip.compress(early)[:-5], length=2**40))
        connection.recv(1)

    with serving(respond) as server:
        client = connect(server.base_url)
        assert client.search_codes(["id"], allocated_time=da.on("2024-01-15"), limit=3) == MANY[:3]
