"""Scans as capsules of Arrow: how often the service is asked, what a reader gets, and readers that hold the lock."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import repeat
from typing import Any
from unittest.mock import Mock

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from support.raw_server import always, closing, http, serving
from support.streams import HEAD, OPENING, client_of, endless, gone, records, response_of, scan_of

import dataaccess as da


def codes(sandbox: da.Sandbox) -> da.Scan:
    """A scan whose schema is known."""
    return sandbox.client().scan_codes(["id"], allocated_time=da.on("2024-01-15"))


def test_asking_for_a_schema_sends_nothing_or_one_request(sandbox: da.Sandbox) -> None:
    sandbox.clear_requests()
    assert pa.schema(codes(sandbox)) == pa.schema([("id", pa.string())])
    assert sandbox.requests == []
    with da.Sandbox() as own:
        own.declare("store", 7, {"size": "number"})
        own.load("store", [{"size": 1}])
        scan = own.client().scan_items("store", ["size"], item_type_id=7)
        assert [pa.schema(scan).names for _ in range(3)] == [["size"]] * 3
        assert len(own.requests) == 1


def test_an_unused_stream_ends_with_its_scan() -> None:
    with serving(endless()) as server:
        scan = scan_of(client_of(server))
        assert pa.schema(scan).names == ["n", "text"]
        assert server.open == 1
        del scan
        gc.collect()
        assert gone(server)


def test_an_unread_capsule_ends_its_request() -> None:
    with serving(endless(100_000)) as server:
        capsule = scan_of(client_of(server)).__arrow_c_stream__()
        assert server.open == 1
        del capsule
        assert gone(server)


def test_a_foreign_reader_gets_no_warnings_but_figures() -> None:
    with serving(always(response_of([{"n": 1, "more": 1}], meta={"total": 7}))) as server:
        scan = scan_of(client_of(server))
        assert pa.table(scan).num_rows == 1
        relation = duckdb.sql("from scan")
        assert relation is not None
        assert relation.fetchall() == [(1, None)]
        assert scan.last_stats is not None
        assert (scan.last_stats.absent, scan.last_stats.extra_keys) == (["text"], {"more": 1})


def test_a_refusal_is_raised_before_anyone_pulls(sandbox: da.Sandbox) -> None:
    scan = sandbox.client(scopes=["download"]).scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    for take in (pa.table, pl.DataFrame):
        with pytest.raises(da.PermissionDeniedError):
            take(scan)


def test_a_stream_that_breaks_fails_the_reader() -> None:
    with serving(closing(HEAD + OPENING + records(0, 100_000))) as server:
        scan = scan_of(client_of(server))
        with pytest.raises(OSError, match="65536"):
            pa.table(scan)
        with pytest.raises(Exception, match="65536"):
            pl.DataFrame(scan)


def test_closing_the_client_fails_the_reader_of_a_capsule() -> None:
    with serving(endless(100_000)) as server:
        client = client_of(server)
        reader = pa.RecordBatchReader.from_stream(scan_of(client))
        assert reader.read_next_batch().num_rows == 65_536
        client.close()
        with pytest.raises(OSError, match=r"[0-9]+ .*client"):
            reader.read_all()


def test_another_schema_is_not_made(sandbox: da.Sandbox) -> None:
    scan = codes(sandbox)
    wanted = pa.schema([("id", pa.large_string())])
    reader = pa.RecordBatchReader._import_from_c_capsule(scan.__arrow_c_stream__(wanted.__arrow_c_schema__()))
    assert reader.schema == pa.schema(scan)
    assert reader.read_all().num_rows == len(scan.to_dicts())


# Read while the interpreter lock is held, by tokens that need it.

# A foreign reader pulls through the C interface while this thread holds the interpreter lock: PyDLL keeps it.
PULL = """
import ctypes, sys, time
import dataaccess as da

sys.setswitchinterval(1000)  # nor is it let go between two pulls
client = da.Client(sys.argv[1], token=lambda: ("tok", time.time() + 0.5), concurrency=1)
scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-31"))
capsule = scan.__arrow_c_stream__()
get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
stream = get_pointer(capsule, b"arrow_array_stream")
functions = ctypes.cast(stream, ctypes.POINTER(ctypes.c_void_p))
get_next = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(functions[1])
last_error = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)(functions[2])
while True:
    started, array = time.monotonic(), (ctypes.c_int64 * 10)()
    if get_next(stream, ctypes.addressof(array)):
        print(time.monotonic() - started, last_error(stream).decode())
        break
"""


def slow(connection: Any, _number: int) -> None:
    time.sleep(0.2)
    connection.sendall(http())


@pytest.mark.slow
def test_a_token_that_needs_the_lock_is_waited_for_five_seconds() -> None:
    with serving(slow) as server:
        command = [sys.executable, "-c", PULL, server.base_url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    seconds, message = done.stdout.strip().split(" ", 1)
    assert done.stderr == ""
    assert 5 <= float(seconds) < 15
    assert " 5 s" in message
    assert "to_arrow()" in message


def test_a_token_callable_that_fails_during_a_pull_is_reported_as_such() -> None:
    def tokens() -> Iterator[Any]:
        yield "tok", time.time() + 0.3
        yield from repeat(LookupError)

    with serving(slow) as server:
        client = da.Client(server.base_url, token=Mock(side_effect=tokens()), concurrency=1, retry_for=0)
        scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-31"))
        with pytest.raises(OSError, match="LookupError") as caught:
            pa.table(scan)
    assert "interpreter" not in str(caught.value)


def test_a_token_is_asked_for_when_the_capsule_is_made() -> None:
    token = Mock(return_value="tok")
    with serving(always(response_of([{"n": 1, "text": "a"}]))) as server:
        scan = scan_of(da.Client(server.base_url, token=token))
        token.assert_not_called()
        capsule = scan.__arrow_c_stream__()
        token.assert_called_once_with()
        del capsule
