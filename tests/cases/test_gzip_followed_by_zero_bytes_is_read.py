"""Zero bytes behind the end of gzip are padding; any other byte there is an error.

Source: gzip(1) ignores trailing zeros, and CPython `gzip` reads them as padding (python/cpython `Lib/gzip.py`).
"""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from support import kinds
from support.raw_server import RESPONSE, http, serving

import dataaccess as da

BODY = gzip.compress(json.dumps(RESPONSE).encode())


def search(body: bytes, pieces: int) -> Any:
    def respond(connection: Any, _number: int) -> None:
        head, _, sent = http(body, headers=("Content-Encoding: gzip",)).partition(b"\r\n\r\n")
        connection.sendall(head + b"\r\n\r\n")
        size = -(-len(sent) // pieces)
        for start in range(0, len(sent), size):
            connection.sendall(sent[start : start + size])

    with serving(respond) as server:
        client = da.Client(server.base_url, token="tok", timeout=5, retry_for=0)
        return client.search_codes(["id"], allocated_time=da.on("2024-01-15"))


@pytest.mark.parametrize("pieces", [1, 7, 50])
@pytest.mark.parametrize("zeros", [1, 511, 100_000])
def test_zeros_are_padding(zeros: int, pieces: int) -> None:
    assert search(BODY + bytes(zeros), pieces) == RESPONSE["data"]["data"]


@pytest.mark.parametrize("behind", [b"x", b"\0\0x", b"\0\0{}"])
def test_other_bytes_are_an_error(behind: bytes) -> None:
    with pytest.raises(kinds.Malformed):
        search(BODY + behind, 1)


@pytest.mark.parametrize("body", [b"\0" + BODY, BODY[:-8] + bytes(8)])
def test_zeros_elsewhere_are_an_error(body: bytes) -> None:
    with pytest.raises(kinds.Malformed):
        search(body, 1)
