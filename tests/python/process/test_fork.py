"""Fork after use: the child works with connections of its own, and its parent is unharmed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Any

import pyarrow as pa
import pytest
from support.forking import STATES, count, end_if_it_hangs, forked, in_child
from support.raw_server import EXPORT, always, http, in_turn, serving
from support.streams import client_of, response_of, scan_of

import dataaccess as da

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="there is no fork"),
    # Python warns of any fork beside threads; that it is safe here is what these tests show.
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


def test_a_child_may_fork_again(sandbox: da.Sandbox) -> None:
    client = sandbox.client()
    expected = count(client)
    assert in_child(lambda: (count(client), in_child(lambda: count(client)))) == repr((expected, str(expected)))


@pytest.mark.fault("P1")
@pytest.mark.parametrize("state", STATES)
def test_a_child_works_whatever_its_parent_was_doing(sandbox: da.Sandbox, state: str) -> None:
    for _ in range(2):
        forked(state, sandbox)


ENDING = """
import os, sys, warnings
import dataaccess as da
warnings.simplefilter("ignore")
everything = da.after("2024-01-01")
sandbox = da.Sandbox.demo(until="2024-02-29")
client = sandbox.client()
batches = client.scan_codes(["id"], allocated_time=everything).batches(max_rows=10)
seen = next(batches).num_rows
child = os.fork()
if child == 0:
    if sys.argv[1] == "used":
        client.download_segment(5637051)
    # Everything it has inherited is finalized here.
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
seen += sum(batch.num_rows for batch in batches)
assert seen == len(client.search_codes(["id"], allocated_time=everything)), seen
"""


@pytest.mark.parametrize("use", ["used", "unused"])
def test_a_child_that_ends_properly_takes_nothing_with_it(use: str) -> None:
    code = [sys.executable, "-W", "ignore", "-c", ENDING, use]
    done = subprocess.run(code, capture_output=True, check=False, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_callback_that_forks_leaves_no_child_waiting() -> None:
    parent = os.getpid()
    reported: list[str] = []

    def on_update(_status: object) -> None:
        # The child goes on with the call it has not made.
        if os.getpid() == parent and not reported:
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                end_if_it_hangs()
                kept.append(writer)
                return
            os.close(writer)
            with os.fdopen(reader) as pipe:
                reported.append(pipe.read())
            assert os.waitpid(child, 0)[1] == 0

    kept: list[int] = []
    ended: list[type[BaseException]] = []
    with serving(always(http(EXPORT))) as server:
        try:
            da.Client(server.base_url, token="tok").wait_for_segment(1, timeout=1, poll=0.2, on_update=on_update)
        except BaseException as error:
            if os.getpid() != parent:
                os.write(kept[0], type(error).__name__.encode())
                os._exit(0)
            ended.append(type(error))
    assert ended == [da.WaitTimeoutError]
    assert reported == ["ClientClosedError"]


def test_an_async_client_works_in_a_child(sandbox: da.Sandbox) -> None:
    import asyncio

    client = sandbox.async_client()

    def search() -> int:
        return len(asyncio.run(client.search_codes(["id"], allocated_time=da.on("2024-01-15"))))

    expected = search()
    assert in_child(search) == repr(expected)
    assert search() == expected


@pytest.mark.fault("P2")
def test_a_child_cannot_use_or_stop_the_sandbox_of_its_parent() -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        client = sandbox.client()
        expected = count(client)
        acts = (sandbox.issue_token, lambda: sandbox.requests, lambda: sandbox.clear("customer"))
        for act in (*acts, lambda: sandbox.load("customer", [{"customer_id": "two"}])):
            assert in_child(act).startswith("ClientClosedError")
        assert in_child(sandbox.stop) == "None"
        with sandbox.fault("status", status=500) as fault:
            assert in_child(lambda: sandbox.fault("reset").__enter__()).startswith("ClientClosedError")
            assert in_child(lambda: fault.__exit__(None, None, None)) == "None"
        assert count(client) == expected
        assert len(client.search_items("customer", ["customer_id"])) > 1


@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")
def test_a_child_starts_a_demo_service_of_its_own() -> None:
    parent = da.Client("sandbox:demo?until=2024-02-29")
    expected = count(parent)

    def other() -> Any:
        mine = da.Client("sandbox:demo?until=2024-02-29")
        copy = parent.with_options(timeout=20)
        return count(mine), mine.base_url != parent.base_url, count(copy), copy.base_url == mine.base_url

    assert in_child(other) == repr((expected, True, expected, True))
    assert count(parent) == expected


def test_a_child_cannot_read_on_in_a_stream_of_its_parent(sandbox: da.Sandbox) -> None:
    scan = sandbox.client().scan_codes(["id"], allocated_time=da.after("2024-01-01"))
    expected = scan.collect().num_rows
    batches = scan.batches(max_rows=100)
    seen = next(batches).num_rows
    capsule = scan.__arrow_c_stream__()
    assert in_child(lambda: next(batches)).startswith("ClientClosedError")
    assert in_child(batches.close) == "None"
    assert in_child(lambda: list(batches)).startswith("ClientClosedError")
    reader = pa.RecordBatchReader._import_from_c_capsule(capsule)
    assert re.match(r"OSError: .*\bfork\b", in_child(reader.read_all))
    assert in_child(lambda: scan.collect().num_rows) == repr(expected)
    assert in_child(lambda: sum(batch.num_rows for batch in scan.batches(max_rows=100))) == repr(expected)
    # What its children did left the parent's streams alone.
    assert seen + sum(batch.num_rows for batch in batches) == expected
    assert reader.read_all().num_rows == expected


def test_a_child_asks_again_for_what_its_parent_opened_for_a_schema(sandbox: da.Sandbox) -> None:
    where = da.col("customer_id").matches(["demo-customer-0001", "demo-customer-0002"])
    scan = sandbox.client().scan_items("customer", ["customer_id"], where)
    # pyarrow imports pandas at its first table, which takes seconds: not in the child.
    assert pa.table({"a": [1]}).num_rows == 1
    assert pa.schema(scan).names == ["customer_id"]
    assert in_child(lambda: pa.table(scan).num_rows) == "2"
    assert pa.table(scan).num_rows == 2


def test_a_child_gets_the_types_of_its_parent_or_an_error() -> None:
    with serving(in_turn(*(response_of([{"a": value}]) for value in (1, None, "x", "x")))) as server:
        scan = scan_of(client_of(server), ["a"])

        def read() -> Any:
            return pa.table(scan).to_pylist()

        assert pa.schema(scan).field("a").type == pa.int64()
        assert in_child(read) == repr([{"a": None}])
        reported = in_child(read)
        assert reported.startswith("ResponseError")
        assert 'schema["a"]' in reported
        assert in_child(lambda: (pa.schema(scan).field("a").type, read())) == repr((pa.string(), [{"a": "x"}]))
        assert read() == [{"a": 1}]
