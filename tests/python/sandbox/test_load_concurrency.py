"""A load while its rows still come: what gives them may use the service, and Ctrl-C or a stop ends it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

import dataaccess as da

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals are sent the POSIX way")


def customers(sandbox: da.Sandbox) -> list[str]:
    body = {
        "itemTypeId": -1003,
        "itemTypeName": "customer",
        "attrs": ["customer_id"],
        "filters": {"OR": [{"AND": []}]},
    }
    found = sandbox.client(retry_for=0, timeout=3).post("/access/api/item/search", body)["data"]["data"]
    return [row["customer_id"] for row in found]


def as_stream(rows: Iterator[dict[str, Any]]) -> pa.RecordBatchReader:
    schema = pa.schema([("customer_id", pa.string())])
    return pa.RecordBatchReader.from_batches(schema, (pa.RecordBatch.from_pylist([row], schema) for row in rows))


@pytest.mark.parametrize("make", [iter, as_stream], ids=["dicts", "arrow"])
@pytest.mark.timeout(20)
def test_what_gives_the_rows_may_use_the_service(make: Callable[[Any], Any]) -> None:
    with da.Sandbox() as sandbox:

        def rows() -> Iterator[dict[str, Any]]:
            yield {"customer_id": "outer-1"}
            assert customers(sandbox) == []
            sandbox.declare("store", 7, {"store_id": "string"})
            sandbox.load("promotion_code", [{"id": "x"}])
            sandbox.load("customer", [{"customer_id": "inner"}])
            assert customers(sandbox) == ["inner"]
            yield {"customer_id": "outer-2"}

        assert sandbox.load("customer", make(rows())) == 2
        assert customers(sandbox) == ["inner", "outer-1", "outer-2"]
        assert sandbox.load("store", [{"store_id": "s"}]) == 1


@pytest.mark.parametrize("make", [iter, as_stream], ids=["dicts", "arrow"])
@pytest.mark.timeout(20)
def test_a_stop_ends_a_load(make: Callable[[Any], Any]) -> None:
    sandbox, begun, messages = da.Sandbox(), threading.Event(), []

    def rows() -> Iterator[dict[str, Any]]:
        for number in range(200):
            yield {"customer_id": str(number)}
            begun.set()
            time.sleep(0.1)

    def load() -> None:
        with pytest.raises(da.SandboxError) as caught:
            sandbox.load("customer", make(rows()))
        messages.append(caught.value)

    thread = threading.Thread(target=load)
    thread.start()
    assert begun.wait(5)
    sandbox.stop()
    thread.join(timeout=5)
    assert len(messages) == 1


@posix
@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.timeout(40)
def test_ctrl_c_ends_a_load_whose_rows_do_not_come() -> None:
    with da.Sandbox() as sandbox:

        def rows() -> Iterator[dict[str, Any]]:
            yield {"customer_id": "1"}
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(30)

        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            sandbox.load("customer", rows())
        assert time.monotonic() - started < 15
        assert customers(sandbox) == []


def test_rows_are_replaced_and_taken_away() -> None:
    with da.Sandbox() as sandbox:
        for _ in range(2):
            assert sandbox.load("customer", [{"customer_id": "1"}, {"customer_id": "2"}], replace=True) == 2
        with pytest.raises(da.SandboxError, match=r"\brow 1: .*`2`"):
            sandbox.load("customer", [{"customer_id": "3"}, {"customer_id": "2"}])
        assert customers(sandbox) == ["1", "2"]
        assert sandbox.clear("customer") == 2
        assert customers(sandbox) == []
        with pytest.raises(da.SandboxError, match="`costumer`"):
            sandbox.clear("costumer")
