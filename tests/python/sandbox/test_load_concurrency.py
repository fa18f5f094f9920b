"""A load while its rows still come: what gives them may use the service, and Ctrl-C or a stop ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
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


def names(folder: Path) -> list[str]:
    return [entry.name for entry in folder.glob("*")]


def as_stream(rows: Iterator[dict[str, Any]]) -> pa.RecordBatchReader:
    schema = pa.schema([("customer_id", pa.string())])
    return pa.RecordBatchReader.from_batches(schema, (pa.RecordBatch.from_pylist([row], schema) for row in rows))


@pytest.mark.parametrize("make", [iter, as_stream], ids=["dicts", "arrow"])
@pytest.mark.timeout(20)
def test_what_gives_the_rows_may_use_the_service(make: Callable[[Any], Any], tmp_path: Path) -> None:
    for db in (None, tmp_path / "data.db"):
        with da.Sandbox(db=db) as sandbox:

            def rows(sandbox: da.Sandbox = sandbox) -> Iterator[dict[str, Any]]:
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
def test_a_stop_ends_a_load_and_the_file_is_free_at_once(make: Callable[[Any], Any], tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    sandbox, begun, messages = da.Sandbox(db=path), threading.Event(), []

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
    started = time.monotonic()
    sandbox.stop()
    assert names(tmp_path) == ["data.db"]
    with da.Sandbox(db=path) as again:
        assert again.load("customer", [{"customer_id": "0"}]) == 1
        assert time.monotonic() - started < 15
        thread.join(timeout=5)
        assert len(messages) == 1
        assert customers(again) == ["0"], "rows were written after the stop"
    assert names(tmp_path) == ["data.db"]


@contextmanager
def being_written(path: Path) -> Iterator[None]:
    """Another process is writing to the file: its locks work between processes only."""
    writes = f"import sqlite3; sqlite3.connect({str(path)!r}).execute('BEGIN IMMEDIATE'); print(1, flush=True); input()"
    other = subprocess.Popen([sys.executable, "-c", writes], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with other:
        assert other.stdout
        assert other.stdout.readline()
        yield
        other.kill()


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


@posix
@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.quiet
@pytest.mark.timeout(20)
@pytest.mark.parametrize("work", ["load", "clear", "declare"])
def test_ctrl_c_ends_the_wait_for_another_writer(work: str, tmp_path: Path) -> None:
    path = tmp_path / "data.db"
    acts: dict[str, Callable[[da.Sandbox], Any]] = {
        "load": lambda sandbox: sandbox.load("customer", [{"customer_id": "1"}]),
        "clear": lambda sandbox: sandbox.clear("customer"),
        "declare": lambda sandbox: sandbox.declare("store", 7, {"store_id": "string"}),
    }
    with da.Sandbox(db=path) as sandbox:
        with being_written(path):
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            started = time.monotonic()
            with pytest.raises(KeyboardInterrupt):
                acts[work](sandbox)
            assert time.monotonic() - started < 2
        assert customers(sandbox) == []
        assert sandbox.load("customer", [{"customer_id": "1"}]) == 1


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
