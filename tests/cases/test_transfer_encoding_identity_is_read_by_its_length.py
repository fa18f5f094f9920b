"""`Transfer-Encoding: identity` beside a `Content-Length` is read by its length on a connection that stays open.

Source: RFC 2616, section 3.6 (`identity` is no coding) and RFC 9112, section 6.3; a trial of nightly jobs.
"""

from __future__ import annotations

from typing import Any

import pytest
from support import kinds
from support.raw_server import RESPONSE, always, http, in_turn, serving

import dataaccess as da


def search(client: Any) -> Any:
    return client.search_codes(["id"], allocated_time=da.on("2024-01-15"))


def test_it_is_read_at_once() -> None:
    with serving(always(http(headers=("Transfer-Encoding: Identity",)))) as server:
        client = da.Client(server.base_url, token="tok", timeout=1, retry_for=0)
        assert search(client) == search(client) == RESPONSE["data"]["data"]
        assert len(server.requests) == 2


def test_without_a_length_it_ends_with_the_connection() -> None:
    def respond(connection: Any, _number: int) -> None:
        response = http(headers=("Transfer-Encoding: identity",)).replace(b"Content-Length", b"X-Length")
        connection.sendall(response)
        raise ConnectionError

    with serving(respond) as server:
        assert search(da.Client(server.base_url, token="tok", timeout=1, retry_for=0)) == RESPONSE["data"]["data"]


def test_a_body_that_is_shorter_is_truncated() -> None:
    def respond(connection: Any, _number: int) -> None:
        connection.sendall(http(headers=("Transfer-Encoding: identity",), length=400))
        raise ConnectionError

    with serving(respond) as server, pytest.raises(kinds.Truncated):
        search(da.Client(server.base_url, token="tok", timeout=1, retry_for=0))


@pytest.mark.parametrize("coding", ["gzip", "chunked, identity", "x", "gzip, chunked"])
def test_another_coding_is_refused_at_once(coding: str) -> None:
    with serving(in_turn(http(headers=(f"Transfer-Encoding: {coding}",)))) as server:
        with pytest.raises(kinds.Malformed) as caught:
            search(da.Client(server.base_url, token="tok", timeout=1))
        assert caught.value.attempts == len(server.requests) == 1
