"""A response with more than a hundred headers is read; a head that is too large is named, with no word of TLS.

Source: hyperium/hyper, `http1::Builder::max_headers` (100 by default); a trial of nightly jobs.
"""

from __future__ import annotations

from typing import Any

import pytest
from support import kinds
from support.raw_server import RESPONSE, always, http, serving

import dataaccess as da


def search(server: Any) -> Any:
    client = da.Client(server.base_url, token="tok", timeout=5, retry_for=0)
    return client.search_codes(["id"], allocated_time=da.on("2024-01-15"))


@pytest.mark.parametrize(("count", "size"), [(101, 8), (250, 240), (1, 60_000)])
def test_it_is_read(count: int, size: int) -> None:
    headers = tuple(f"X-Trace-{number}: {'x' * size}" for number in range(count))
    with serving(always(http(headers=headers))) as server:
        assert search(server) == RESPONSE["data"]["data"]


@pytest.mark.parametrize("count", [257, 100_000])
def test_more_headers_are_named(count: int) -> None:
    headers = tuple(f"X-Trace-{number}: x" for number in range(count))
    with serving(always(http(headers=headers))) as server, pytest.raises(kinds.Malformed, match=r"\bhead\b") as caught:
        search(server)
    assert "TLS" not in str(caught.value)


@pytest.mark.parametrize("greeting", [b"HTTP/1.1 abc OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"])
def test_what_does_not_look_like_tls_is_not_called_so(greeting: bytes) -> None:
    def respond(connection: Any, _number: int) -> None:
        connection.sendall(greeting)
        raise ConnectionError

    with serving(respond) as server, pytest.raises(da.TransportError) as caught:
        search(server)
    assert "TLS" not in str(caught.value)


def test_a_record_of_tls_is_called_so() -> None:
    with serving(always(b"\x15\x03\x01\x00\x02\x02\x46")) as server, pytest.raises(kinds.Malformed) as caught:
        search(server)
    assert "TLS" in str(caught.value)
