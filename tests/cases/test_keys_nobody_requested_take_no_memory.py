"""Keys that nobody requested are counted by name up to a limit, however long and many they are.

Source: a security review.
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


def long_keys() -> Iterator[bytes]:
    yield b'{"code":200,"message":"","data":{"status":true,"data":[{"id":"0"}'
    for number in range(60):
        yield b',{"' + b"k" * (4 * MIB) + b'%d":1,"id":"1"}' % number
    yield b"]}}"


@pytest.mark.parametrize(
    "use",
    [
        "for _ in scan().batches(): pass",
        "scan().collect()",
        "import tempfile; scan().to_folder(tempfile.mkdtemp())",
        "import tempfile; scan().to_parquet(tempfile.mkdtemp() + '/x.parquet')",
    ],
)
def test_long_keys_are_counted_and_not_kept(use: str) -> None:
    with serving(always(http(compressed(long_keys()), headers=("Content-Encoding: gzip",)))) as server:
        what, grown = peak(server, use)
        assert what == "done"
        assert grown < 100, f"{grown} MiB for 240 MiB of keys"


def test_names_of_few_short_keys_are_shown() -> None:
    import dataaccess as da

    records = [{"id": "1", **{f"key{number}": 1 for number in range(40)}, "n" * 65: 1}, {"id": "2", "key0": 1}]
    with serving(always(http({"code": 200, "message": "", "data": {"status": True, "data": records}}))) as server:
        client = da.Client(server.base_url, token="t", timezone="UTC")
        scan = client.scan_items("customer", ["id"], da.col("x").equals("1"))
        scan.collect()
        assert scan.last_stats is not None
        extra_keys = scan.last_stats.extra_keys
        assert extra_keys["key0"] == 2
        assert all(len(name.encode()) <= 64 for name in extra_keys)
        assert len(extra_keys) == 33
        assert scan.to_dicts()[0]["n" * 65] == 1
