"""What a service or a proxy sends without end, or compressed to almost nothing, takes little memory."""

from __future__ import annotations

import gzip
import socket
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from support.compressed import packed, spaces
from support.raw_server import Close, always, serving
from support.slow_consumer import MEBIBYTE, rest

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="reads the memory from /proc"),
    pytest.mark.slow,
]

MIB = 2**20

PROGRAM = """
import re, sys, tempfile
from pathlib import Path
import dataaccess as da

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024

address, proxy, limit, call = sys.argv[1:]
client = da.Client(
    address, token="tok", proxy=proxy or None, timezone="UTC", retry_for=0, timeout=20, max_result_bytes=int(limit)
)
attrs = [f"a{number}" for number in range(1000)]
notes = client.scan_items("note", attrs, item_type_id=9, schema=dict.fromkeys(attrs, "int64"))
customers = client.scan_items("customer", ["id"], da.col("x").equals("1"))
search = lambda: client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
file = tempfile.mkdtemp() + "/rows"
before, outcome = peak(), "done"
try:
    eval(call)
except da.ResponseError as error:
    outcome = f"{error.reason} {error.field} {error.limit}"
except da.DataAccessError as error:
    outcome = type(error).__name__
print(outcome, peak() - before, sep=";")
"""


def grown(address: str, call: str, limit: int = 2**40, proxy: str = "") -> tuple[str, int]:
    """The outcome of a call, and by how many MiB the memory grew."""
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, address, proxy, str(limit), call]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    outcome, growth = done.stdout.strip().split(";")
    return outcome, int(growth)


HEAD = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
MESSAGE = b'{"code":500,"message":"'
HEADERS = b"X-A: a\r\n" * 8_192

# First bytes, and what follows them for as long as the client reads.
ENDLESS = {
    "a header": (b"HTTP/1.1 200 OK\r\nX-A: ", b"a" * 65_536),
    "headers": (b"HTTP/1.1 200 OK\r\n", HEADERS),
    "the body of a failure": (HEAD % b"500 Broken", b"10000\r\n" + b" " * 65_536 + b"\r\n"),
    "the message of a failure": (
        HEAD % b"500 Broken" + b"%x\r\n%s\r\n" % (len(MESSAGE), MESSAGE),
        b"10000\r\n" + b"a" * 65_536 + b"\r\n",
    ),
    "trailers": (HEAD % b"200 OK" + b"1\r\n{\r\n0\r\n", HEADERS),
    "the extension of a chunk": (HEAD % b"200 OK" + b"1;", b"a" * 65_536),
    "the reply to CONNECT": (b"HTTP/1.1 200 OK\r\nX-A: ", b"a" * 65_536),
    "the headers of a reply to CONNECT": (b"HTTP/1.1 200 OK\r\n", HEADERS),
}


def endless(first: bytes, more: bytes) -> Callable[[socket.socket, int], None]:
    """Sends 256 MiB, unless the client has closed the connection."""

    def respond(connection: socket.socket, _number: int) -> None:
        with suppress(OSError):
            connection.sendall(first)
            for _ in range(256 * MIB // len(more)):
                connection.sendall(more)
        raise Close

    return respond


@pytest.mark.quiet
@pytest.mark.parametrize("what", ENDLESS)
def test_what_has_no_end_takes_no_memory(what: str) -> None:
    with serving(endless(*ENDLESS[what])) as server:
        is_proxy = "CONNECT" in what
        address = "https://cdp.example.com" if is_proxy else server.base_url
        outcome, growth = grown(address, "search()", proxy=server.base_url if is_proxy else "")
    assert outcome != "done"
    assert growth < 32


def rows(pieces: Iterator[bytes]) -> bytes:
    compressor = zlib.compressobj(6, zlib.DEFLATED, 31)
    whole = [b'{"code":200,"message":"","data":{"status":true,"data":[', *pieces, b"]}}"]
    return packed(b"".join([*map(compressor.compress, whole), compressor.flush()]))


def empty_rows(count: int) -> bytes:
    return rows(iter([b"{}," * (count - 1), b"{}"]))


def long_keys() -> Iterator[bytes]:
    """Keys that nobody requested, of 240 MiB."""
    yield b'{"id":"0"}'
    for number in range(60):
        yield b',{"' + b"k" * (4 * MIB) + b'%d":1,"id":"1"}' % number


def strings(end: bytes) -> Iterator[bytes]:
    """Strings of 40 MiB, whose last character decides how many bytes Python needs for each."""
    for number in range(40):
        yield (b"," if number else b"") + b'{"id":"' + b"a" * MIB + end + b'"}'


def blanks() -> bytes:
    compressor = zlib.compressobj(6, zlib.DEFLATED, 31)
    pieces = [b'{"code":200,"data":{"x":[ "a  b",', *[b" \n\t " * (MIB // 4)] * 60, b'{"c"  :  1} ] }}']
    return packed(b"".join([*map(compressor.compress, pieces), compressor.flush()]))


ENTRIES = packed(gzip.compress(b'{"code":200,"data":{"entries":[' + b"{}," * 999_999 + b"{}]}}", 9))
LIMIT = 64 * MIB
TOO_LARGE = f"too_large result {LIMIT}"
SEARCH_NOTES = "client.search_items('note', attrs, item_type_id=9)"
SEARCH_CUSTOMERS = "client.search_items('customer', ['id'], da.col('x').equals('1'))"

# The response, the call, `max_result_bytes`, the outcome, and by how many MiB the memory may grow.
CASES: dict[str, tuple[Callable[[], bytes], str, int, str, int]] = {
    # Less than two kibibytes on the wire.
    **{
        f"many rows: {call}": (lambda: empty_rows(300_000), call, LIMIT, TOO_LARGE, 192)
        for call in (SEARCH_NOTES, "notes.to_dicts()", "notes.collect()", "notes.to_arrow()")
    },
    "many entries": (lambda: ENTRIES, "client.download_segment(1)", LIMIT, TOO_LARGE, 192),
    # As cells, these rows are 320 MB, and they arrive at once.
    **{
        f"rows that are not kept: {call}": (lambda: empty_rows(20_000), call, 1, "done", 160)
        for call in (
            "sum(batch.num_rows for batch in notes.batches())",
            "notes.to_parquet(file)",
            "notes.to_jsonl(file)",
        )
    },
    **{
        f"keys nobody requested: {call}": (lambda: rows(long_keys()), call, LIMIT, "done", 100)
        for call in ("[0 for _ in customers.batches()]", "customers.collect()", "customers.to_folder(file)")
    },
    **{
        f"strings as Python keeps them: {end!r} {call}": (
            lambda end=end: rows(strings(end)),  # type: ignore[misc] # the end of this case
            call,
            LIMIT,
            TOO_LARGE,
            160,
        )
        for end in ("\u20ac".encode(), "\U0001f600".encode(), rb"\ud83d\ude00")
        for call in (SEARCH_CUSTOMERS, "customers.to_dicts()")
    },
    "strings of one byte a character": (
        lambda: rows(strings("é".encode())),
        "customers.to_dicts()",
        LIMIT,
        "done",
        400,
    ),
    "blanks of a free response": (blanks, "client.post('/x', {})['data']['x'][1]['c']", LIMIT, "done", 40),
    "zeros": (lambda: packed(gzip.compress(bytes(2**28))), "search()", LIMIT, "not_json None None", 32),
    "white space": (lambda: packed(spaces(256)), "search()", LIMIT, "done", 32),
    "white space that shrinks less": (lambda: packed(spaces(64, 1_000)), "search()", LIMIT, "done", 32),
}


@pytest.mark.quiet
@pytest.mark.parametrize("case", CASES)
def test_a_small_response_takes_little_memory(case: str) -> None:
    response, call, limit, expected, most = CASES[case]
    with serving(always(response())) as server:
        outcome, growth = grown(server.base_url, call, limit)
    assert outcome == expected
    assert growth < most


SIZE = 64 * MEBIBYTE


@pytest.mark.quiet
@pytest.mark.fault("R6")
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_consumer_that_rests_holds_back_the_service_and_loses_nothing(kind: str) -> None:
    rested, records = rest(kind, SIZE, seconds=1)
    assert rested.sent_before == rested.sent_after < SIZE // 2, rested
    assert rested.grown_while_resting < 8 * MEBIBYTE, rested
    assert rested.grown < 24 * MEBIBYTE, rested
    assert rested.rows == records
