"""What a service or a proxy sends without end takes no memory, and what it plants goes nowhere."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.raw_server import RESPONSE, Close, http, serving

import dataaccess as da

MEBIBYTE = 2**20
HEAD = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNK = b"10000\r\n" + b" " * 65_536 + b"\r\n"
MESSAGE = b'{"code":500,"message":"'
LETTERS = b"10000\r\n" + b"a" * 65_536 + b"\r\n"

# First bytes, and what follows them for as long as the client reads.
ENDLESS = {
    "a header": (b"HTTP/1.1 200 OK\r\nX-A: ", b"a" * 65_536),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X-A: a\r\n" * 8_192),
    "the body of a failure": (HEAD % b"500 Broken", CHUNK),
    "the message of a failure": (
        HEAD % b"500 Broken" + b"%x\r\n%s\r\n" % (len(MESSAGE), MESSAGE),
        LETTERS,
    ),
    "trailers": (HEAD % b"200 OK" + b"1\r\n{\r\n0\r\n", b"X-A: a\r\n" * 8_192),
    "the extension of a chunk": (HEAD % b"200 OK" + b"1;", b"a" * 65_536),
    "the reply to CONNECT": (b"HTTP/1.1 200 OK\r\nX-A: ", b"a" * 65_536),
    "the headers of a reply to CONNECT": (b"HTTP/1.1 200 OK\r\n", b"X-A: a\r\n" * 8_192),
}

# Searches, and reports the error and the growth of memory.
MEASURE = """
import re, sys
from pathlib import Path
import dataaccess as da

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024

proxy = sys.argv[2] or None
client = da.Client(sys.argv[1], token="tok-test", proxy=proxy, retry_for=0)
before, outcome = peak(), "rows"
try:
    client.search_codes(["id"], allocated_time=da.on("2024-01-15"), timeout=5)
except da.DataAccessError as error:
    outcome = type(error).__name__
print(outcome, peak() - before)
"""


def endless(first: bytes, more: bytes) -> Callable[[socket.socket, int], None]:
    """Sends 256 MiB, unless the client has closed the connection."""

    def respond(connection: socket.socket, _number: int) -> None:
        with suppress(OSError):
            connection.sendall(first)
            for _ in range(256 * MEBIBYTE // len(more)):
                connection.sendall(more)
        raise Close

    return respond


@pytest.mark.quiet
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("what", ENDLESS)
def test_what_has_no_end_takes_no_memory(what: str) -> None:
    with serving(endless(*ENDLESS[what])) as server:
        is_proxy = "CONNECT" in what
        address = "https://cdp.example.com" if is_proxy else server.base_url
        command = [sys.executable, "-c", MEASURE, address, server.base_url if is_proxy else ""]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=True)
    outcome, growth = done.stdout.split()
    assert outcome != "rows"
    assert int(growth) < 32 * MEBIBYTE


def test_a_cookie_is_never_sent_back(connect: Any) -> None:
    response = http(headers=("Set-Cookie: session=planted; Path=/",))
    with serving(lambda connection, _number: connection.sendall(response)) as server:
        client = connect(server.base_url)
        for _ in range(2):
            client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        assert len(server.requests) == 2
        assert not any("cookie" in request.headers for request in server.requests)


def test_no_name_of_a_file_comes_from_a_response(connect: Any, tmp_path: Path) -> None:
    names = ["../planted", "/planted", "day=2024-01-16", ".dataaccess/lock", "a\\b"]
    record = {"id": "../../planted", "allocated_time": "2024-01-15 10:00:00", **dict.fromkeys(names, "../planted")}
    response = http({**RESPONSE, "message": "../planted", "data": {"status": True, "data": [record]}})
    with serving(lambda connection, _number: connection.sendall(response)) as server:
        scan = connect(server.base_url).scan_codes(["id"], allocated_time=da.on("2024-01-15"))
        scan.to_folder(tmp_path / "inner" / "codes")
    found = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert [name for name in found if "/.dataaccess/" not in name] == ["inner/codes/day=2024-01-15/part-0.parquet"]
    assert [path.name for path in (tmp_path / "inner" / "codes").iterdir()].count("day=2024-01-16") == 0


def test_nothing_is_read_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = (
        '[profiles.default]\nbase_url = "https://evil.example.com"\ntoken = "planted"\nproxy = "http://127.0.0.1:9"\n'
    )
    for name in ("config.toml", ".dataaccess.toml", "dataaccess.toml", "dataaccess/config.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(planted, encoding="utf-8")
    (tmp_path / ".env").write_text("DATAACCESS_BASE_URL=https://evil.example.com\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(da.ConfigError, match="base_url"):
        da.Client(token="tok-test")
