"""Blanks within the JSON of `post` take no memory, and change no value.

Source: RFC 8259, section 2; a security review.
"""

from __future__ import annotations

import subprocess
import sys
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from support.raw_server import always, http, serving

MIB = 1 << 20


def compressed(pieces: Iterator[bytes]) -> bytes:
    compressor = zlib.compressobj(6, zlib.DEFLATED, 31)
    return b"".join([*(compressor.compress(piece) for piece in pieces), compressor.flush()])


def peak(server: Any, code: str) -> tuple[str, int]:
    """What a program prints, and by how many MiB its memory grew."""
    program = f"""
import dataaccess as da
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) // 1024
client = da.Client({server.base_url!r}, token="t", timezone="UTC", retry_for=0, max_result_bytes=64 * {MIB})
scan = lambda: client.scan_items("customer", ["id"], da.col("x").equals("1"))
before = peak()
try:
    {code}
    print("done", peak() - before)
except da.DataAccessError as error:
    print(type(error).__name__, peak() - before)
"""
    command = [sys.executable, "-W", "ignore", "-c", program]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    what, grown = ran.stdout.split()
    return what, int(grown)


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads the memory from /proc")


def blanks() -> Iterator[bytes]:
    yield b'{"code":200,"data":{"x":[ "a  b",'
    for _ in range(60):
        yield b" \n\t " * (MIB // 4)
    yield b'{"c"  :  1} ] }}'


def test_blanks_take_no_memory() -> None:
    with serving(always(http(compressed(blanks()), headers=("Content-Encoding: gzip",)))) as server:
        what, grown = peak(server, 'assert client.post("/x", {})["data"] == {"x": ["a  b", {"c": 1}]}')
        assert what == "done"
        assert grown < 40


@pytest.mark.parametrize("value", [b"[1 2]", b'["a" "b"]', b"{1  :2}", b"tr ue"])
def test_what_is_no_json_stays_no_json(value: bytes) -> None:
    import dataaccess as da

    body = b'{"code":200,"data":{"x":' + value.replace(b" ", b" " * 300_000) + b"}}"
    with serving(always(http(body))) as server:
        client = da.Client(server.base_url, token="t", timezone="UTC", retry_for=0)
        with pytest.raises(da.DataAccessError):
            client.post("/x", {})
