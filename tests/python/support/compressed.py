"""Compressed responses, made by other libraries than the client's."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from support.raw_server import RESPONSE, http


def zstd(body: bytes) -> bytes:
    packed: bytes = pa.Codec("zstd").compress(body, asbytes=True)
    return packed


PACK: dict[str, Callable[[bytes], bytes]] = {"identity": bytes, "gzip": gzip.compress, "zstd": zstd}
"""How each encoding is made."""


def packed(body: bytes, encoding: str = "gzip", status: str = "200 OK", **options: Any) -> bytes:
    """A response that says how it is compressed; the body is already."""
    return http(body, status, headers=(f"Content-Encoding: {encoding}", "Retry-After: 0"), **options)


def spaces(mebibytes: int, noise: int = 0) -> bytes:
    """A response of JSON, as gzip, that is almost nothing but white space: the more noise, the less it shrinks."""
    packer = zlib.compressobj(9, wbits=31)
    whole = http(RESPONSE).partition(b"\r\n\r\n")[2]
    parts = [packer.compress(whole[:-1])]
    draw = random.Random(7)
    for _ in range(mebibytes * 16):
        wild = bytes(draw.choices(b" \n\r\t", k=noise))
        parts.append(packer.compress(wild + b" " * (2**16 - noise)))
    return b"".join([*parts, packer.compress(b"}"), packer.flush()])
