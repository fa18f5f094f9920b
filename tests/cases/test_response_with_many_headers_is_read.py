"""A response with more than a hundred headers is read; a head that is too large is not taken for TLS.

Source: hyperium/hyper, `http1::Builder::max_headers` (100 by default).
"""

from __future__ import annotations

from typing import Any

import pytest
from support import kinds
from support.raw_server import http
from support.searches import search


@pytest.mark.parametrize(("count", "size"), [(101, 8), (250, 240), (1, 60_000)])
def test_it_is_read(client_of: Any, count: int, size: int) -> None:
    assert search(client_of(http(headers=tuple(f"X-Trace-{number}: {'x' * size}" for number in range(count)))))


@pytest.mark.parametrize(
    ("response", "is_tls"),
    [
        (http(headers=("X-Trace: x",) * 257), False),
        (http(headers=("X-Trace: x",) * 100_000), False),
        (b"HTTP/1.1 abc OK\r\n\r\n", False),
        (b"\x15\x03\x01\x00\x02\x02\x46", True),
    ],
    ids=["257", "100000", "no status", "TLS"],
)
def test_what_is_refused_is_called_tls_only_if_it_is(client_of: Any, response: bytes, is_tls: bool) -> None:
    with pytest.raises(kinds.Malformed) as caught:
        search(client_of(response))
    assert ("TLS" in str(caught.value)) == is_tls
