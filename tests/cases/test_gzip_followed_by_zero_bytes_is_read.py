"""Zero bytes behind the end of gzip are padding; any other byte there is an error.

Source: gzip(1) ignores trailing zeros, and CPython `gzip` reads them as padding (python/cpython `Lib/gzip.py`).
"""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from support import kinds
from support.compressed import packed
from support.raw_server import RESPONSE
from support.searches import search

BODY = gzip.compress(json.dumps(RESPONSE).encode())


@pytest.mark.parametrize("zeros", [1, 511, 100_000])
def test_zeros_are_padding(client_of: Any, zeros: int) -> None:
    assert search(client_of(packed(BODY + bytes(zeros))))


@pytest.mark.parametrize("body", [BODY + b"x", BODY + b"\0\0{}", b"\0" + BODY, BODY[:-8] + bytes(8)])
def test_other_bytes_and_zeros_elsewhere_are_an_error(client_of: Any, body: bytes) -> None:
    with pytest.raises(kinds.Malformed):
        search(client_of(packed(body)))
