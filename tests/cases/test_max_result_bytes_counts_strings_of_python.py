"""`max_result_bytes` counts strings as Python keeps them: 1, 2 or 4 bytes a character.

Source: PEP 393; a security review.
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
except da.ResponseError as error:
    print(error.reason, peak() - before)
"""
    command = [sys.executable, "-W", "ignore", "-c", program]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    what, grown = ran.stdout.split()
    return what, int(grown)


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads the memory from /proc")
WIDE = {"emoji": "\U0001f600", "euro": "\u20ac"}


def strings(text: str, *, escaped: bool = False) -> Iterator[bytes]:
    yield b'{"code":200,"message":"","data":{"status":true,"data":['
    tail = (text.encode("unicode_escape") if escaped else text.encode()).replace(b"\\U0001f600", b"\\ud83d\\ude00")
    for number in range(40):
        yield (b"," if number else b"") + b'{"id":"' + b"a" * MIB + tail + b'"}'
    yield b"]}}"


@pytest.mark.parametrize("escaped", [False, True])
@pytest.mark.parametrize("wide", WIDE)
@pytest.mark.parametrize(
    "use",
    [
        'client.search_items("customer", ["id"], da.col("x").equals("1"))',
        "scan().to_dicts()",
        'client.search_items("customer", ["name"], da.col("x").equals("1"))',
        'client.post("/x", {})',
    ],
)
def test_wide_strings_exceed_the_limit(use: str, wide: str, escaped: bool) -> None:
    body = compressed(strings(WIDE[wide], escaped=escaped))
    with serving(always(http(body, headers=("Content-Encoding: gzip",)))) as server:
        what, grown = peak(server, use)
        assert what == "too_large"
        assert grown < 160


def test_text_of_one_byte_a_character_fits() -> None:
    with serving(always(http(compressed(strings("\u00e9")), headers=("Content-Encoding: gzip",)))) as server:
        assert peak(server, "scan().to_dicts()")[0] == "done"
