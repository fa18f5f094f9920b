"""What goes wrong at an object store (O1 to O11): kills, outages, refusals, and other runs in the same folder."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest
from support.objects import KEY, SECRET, Hook, Store, error, temporary_files
from support.raw_server import Request
from support.runs import DAYS, ROWS, ROWS_OF_DAYS, by_day, code, some_days
from support.scan_requests import wait_until
from support.service_machine import locals_of_package

import dataaccess as da

LOCK = "codes/.dataaccess/lock"

# A run whose locks expire sooner than usual, by this factor.
PROGRAM = """
import signal
import sys
import dataaccess as da
from dataaccess._native import set_time_scale

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
set_time_scale(int(sys.argv[3]))
client = da.Client(sys.argv[1], concurrency=2)
scan = client.scan_codes(allocated_time=da.days("2024-01-01", "2024-01-09"))
try:
    scan.to_folder(sys.argv[2], refresh="all", progress=lambda progress: print(progress.done, flush=True))
except da.FolderLockedError as error:
    print(error.path, error.pid, file=sys.stderr)
    sys.exit(error.exit_code)
"""


def run(client: Any, store: Store, **options: Any) -> da.FolderReport:
    report: da.FolderReport = by_day(client).to_folder(store.url(), storage_options=store.options, **options)
    return report


def refusing(is_meant: Callable[[Request], bool], outcome: Any, times: int = 1, after: int = 0) -> Hook:
    """Refuses some requests of a kind."""
    seen = count()
    return lambda request: outcome if is_meant(request) and after <= next(seen) < after + times else None


def is_part(request: Request) -> bool:
    return request.method == "PUT" and ".parquet" in request.path


def is_lock(request: Request) -> bool:
    return request.method == "PUT" and request.path.endswith("lock")


def once_unlocked(client: da.Client, store: Store, **options: Any) -> da.FolderReport:
    """A run that begins when the lock of another one has run out."""
    until = time.monotonic() + 10
    while True:
        try:
            return run(client, store, **options)
        except da.FolderLockedError:
            assert time.monotonic() < until
            time.sleep(0.1)


@contextmanager
def running(
    service: da.Sandbox, store: Store, token: str, *, tasks: int, scale: int = 1
) -> Iterator[subprocess.Popen[str]]:
    """A run of a process of its own, once this number of tasks is done."""
    environment = {**os.environ, **store.environment, "DATAACCESS_TOKEN": token}
    command = [sys.executable, "-c", PROGRAM, service.base_url, store.url(), str(scale)]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, text=True, **pipes) as process:
        assert process.stdout is not None
        while process.stdout.readline() != f"{tasks}\n":
            pass
        yield process


def ended_by(number: signal.Signals, service: da.Sandbox, store: Store, token: str) -> subprocess.Popen[str]:
    """Runs in a process that gets a signal after three tasks, until it has ended."""
    with running(service, store, token, tasks=3) as process:
        process.send_signal(number)
        process.wait()
    return process


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent the POSIX way")
def test_o2_a_run_that_ctrl_c_ends_leaves_no_lock(store: Store) -> None:
    # The removal takes a moment, as over a network: the interpreter exits meanwhile.
    store.hook = refusing(lambda request: "delete" in request.query, (503, error("SlowDown")))
    with some_days(latency=0.1) as service:
        process = ended_by(signal.SIGINT, service, store, service.issue_token())
        assert process.returncode == -signal.SIGINT
        assert LOCK not in store.names()
        with service.client() as client:
            report = run(client, store)
    assert 3 <= report.kept < len(ROWS_OF_DAYS)
    assert len(store.ids()) == len(set(store.ids())) == ROWS


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed the POSIX way")
def test_o1_a_killed_run_delays_the_next_and_loses_nothing(store: Store, time_scale: Any, tmp_path: Any) -> None:
    with some_days(latency=0.1) as service:
        token = service.issue_token()
        process = ended_by(signal.SIGKILL, service, store, token)
        assert temporary_files(tmp_path) == []
        asked = len(service.requests)
        client = da.Client(service.base_url, token=token)
        with pytest.raises(da.FolderLockedError, match=r"\b1[012]\d s$") as caught:
            run(client, store)
        assert caught.value.pid == process.pid
        assert caught.value.host
        assert len(service.requests) == asked
        # By now the store has taken what the killed process had sent.
        done = [name for name in store.names() if name.endswith(".parquet")]
        assert 3 <= len(done) < len(ROWS_OF_DAYS)
        time_scale(60)
        assert once_unlocked(client, store).kept == len(done)
        assert len(store.ids()) == len(set(store.ids())) == ROWS
        assert LOCK not in store.names()


def test_o3_a_lock_of_another_run_is_respected_before_anything_is_sent(
    client: da.Client, service: da.Sandbox, store: Store
) -> None:
    store.put(LOCK, json.dumps({"host": "far", "pid": 7, "id": "0", "renewals": 2}).encode())
    with pytest.raises(da.FolderLockedError) as caught:
        run(client, store)
    assert (caught.value.pid, caught.value.host, caught.value.path) == (7, "far", store.url())
    assert [request for request in service.requests if request.content] == []
    assert store.names() == [LOCK]
    assert vars(pickle.loads(pickle.dumps(caught.value))) == vars(caught.value)


def test_o11_a_run_that_lost_its_lock_uploads_nothing_more(store: Store, time_scale: Any) -> None:
    # A lock is renewed every 0.3 s.
    time_scale(100)
    other = json.dumps({"host": "far", "pid": 7, "id": "0", "renewals": 2}).encode()

    def taken_over(progress: da.Progress) -> None:
        if progress.done == 2:
            store.put(LOCK, other)

    with some_days(latency=0.2) as service, service.client(concurrency=1) as client:
        with pytest.raises(da.FolderLockedError) as caught:
            run(client, store, progress=taken_over)
        assert (caught.value.path, caught.value.pid) == (store.url(), None)
        assert caught.value.report
        assert 2 <= len(caught.value.report.files) < len(ROWS_OF_DAYS)
        assert len(service.requests) < len(ROWS_OF_DAYS)
    assert 2 <= len(store.names()) - 1 < len(ROWS_OF_DAYS)
    assert store.get(LOCK) == other


def test_o4_a_store_without_conditions_is_an_error(client: da.Client, service: da.Sandbox, store: Store) -> None:
    store.ignored_headers = ("if-none-match", "if-match")
    with pytest.raises(da.FolderError, match="If-None-Match"):
        run(client, store)
    store.ignored_headers = ()
    with pytest.raises(da.FolderError, match="If-None-Match"):
        by_day(client).to_folder(store.url(), storage_options={**store.options, "aws_conditional_put": "disabled"})
    assert service.requests == []
    assert store.names() == []


@pytest.mark.parametrize("outcome", [(500, error("InternalError")), (503, error("SlowDown")), "close"])
def test_o5_a_store_that_fails_for_a_moment_is_retried(client: da.Client, store: Store, outcome: Any) -> None:
    store.hook = refusing(is_part, outcome, times=2)
    report = run(client, store)
    assert (report.rows, report.retries) == (ROWS, 0)
    store.hook = refusing(lambda request: request.method == "GET", outcome, times=2)
    assert run(client, store).rows == ROWS
    assert len(store.ids()) == ROWS


@pytest.mark.parametrize("outcome", [(503, error("SlowDown")), (500, ""), "close"])
def test_o12_retry_for_holds_for_the_store(service: da.Sandbox, store: Store, time_scale: Any, outcome: Any) -> None:
    # Twelve seconds of an outage, then one that is longer than the client retries.
    time_scale(10)
    began = time.monotonic()
    seconds = 1.2
    store.hook = lambda request: outcome if is_part(request) and time.monotonic() - began < seconds else None
    with service.client(retry_for=60) as client:
        assert run(client, store).rows == ROWS
    store.delete("codes/day=2024-01-01/part-0.parquet")
    began, seconds = time.monotonic(), 60
    with service.client(retry_for=3) as client, pytest.raises(da.FileError) as caught:
        run(client, store)
    assert (caught.value.exit_code, caught.value.retryable) == (75, True)
    assert 0.2 < time.monotonic() - began < 20
    with service.client(retry_for=0) as client:
        store.requests.clear()
        with pytest.raises(da.FileError):
            run(client, store)
    assert len([request for request in store.requests if is_part(request)]) == 1


@pytest.mark.parametrize("is_meant", [lambda request: "list-type" in request.query, is_part])
def test_o12_a_connection_that_hangs_is_tried_again(client: da.Client, store: Store, is_meant: Any) -> None:
    silent = [20.0]
    store.hook = lambda request: silent.pop() if is_meant(request) and silent else None
    report = by_day(client).to_folder(store.url(), storage_options={**store.options, "timeout": "1 second"})
    assert (report.rows, silent) == (ROWS, [])


def test_o6_a_refused_upload_ends_the_run_and_the_next_one_continues(service: da.Sandbox, store: Store) -> None:
    with service.client(concurrency=1) as client:
        store.hook = refusing(is_part, (403, error("AccessDenied", "no more")), times=99, after=3)
        data = rf"\(AccessDenied: .*\b3 of 8\b.* {re.escape(store.url())}\b"
        with pytest.raises(da.FileError, match=data) as caught:
            run(client, store)
        assert isinstance(caught.value, OSError)
        assert caught.value.path == store.url("codes/day=2024-01-04/part-0.parquet")
        assert len(store.names()) == 3
        store.hook = None
        report = run(client, store)
    assert [task.state == "kept" for task in report.files].count(True) == 3
    assert len(store.ids()) == ROWS


REFUSALS = {
    "no bucket": (404, error("NoSuchBucket", "gone"), "(NoSuchBucket: gone)"),
    "no key": (403, error("InvalidAccessKeyId", f"{KEY} is not known"), "(InvalidAccessKeyId: <redacted> "),
    "bad signature": (403, error("SignatureDoesNotMatch", "no"), "(SignatureDoesNotMatch: no)"),
    "bare": (401, "", "(HTTP 401)"),
}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_o7_a_refusal_is_reported_before_anything_is_sent(
    client: da.Client, service: da.Sandbox, store: Store, refusal: str
) -> None:
    status, body, datum = REFUSALS[refusal]
    store.hook = lambda _request: (status, body)
    scan = by_day(client)
    for use in (scan.to_folder, scan.read_folder, scan.to_parquet, scan.to_csv, scan.to_jsonl):
        with pytest.raises(da.FileError, match=re.escape(datum)) as caught:
            use(store.url(), storage_options=store.options)
        assert caught.value.path == store.url()
    assert service.requests == []


def test_who_may_write_need_not_be_allowed_to_list(client: da.Client, store: Store) -> None:
    store.hook = lambda request: (403, error("AccessDenied")) if request.method == "GET" else None
    by_day(client).to_parquet(store.url("codes.parquet"), storage_options=store.options)
    store.hook = None
    assert store.names() == ["codes.parquet"]


def test_a_store_that_is_away_is_an_error_in_time(service: da.Sandbox, store: Store, time_scale: Any) -> None:
    time_scale(200)
    options = {**store.options, "aws_endpoint_url": "http://127.0.0.1:9"}
    with service.client() as client, pytest.raises(da.FileError, match=r"\b[Cc]onnection\b") as caught:
        by_day(client).to_folder(store.url(), storage_options=options)
    assert (caught.value.path, caught.value.exit_code) == (store.url(), 75)
    assert service.requests == []


def test_o8_a_long_file_is_uploaded_in_parts_or_not_at_all(store: Store) -> None:
    rows = [{**code(1, number), "name": os.urandom(600).hex()} for number in range(9_000)]
    with da.Sandbox() as service:
        service.load("promotion_code", rows)
        with service.client() as client:
            scan = client.scan_codes(["name"], allocated_time=DAYS)
            store.put("codes.jsonl", b"before")
            store.requests.clear()
            store.hook = refusing(lambda request: "partNumber=2" in request.query, (400, error("BadDigest")))
            with pytest.raises(da.FileError, match=r"\(BadDigest: no\)") as caught:
                scan.to_jsonl(store.url("codes.jsonl"), storage_options=store.options)
            assert caught.value.path == store.url("codes.jsonl")
            # The upload is aborted.
            wait_until(lambda: any(request.method == "DELETE" for request in store.requests))
            assert store.get("codes.jsonl") == b"before"
            store.hook = None
            scan.to_jsonl(store.url("codes.jsonl"), storage_options=store.options)
    assert store.get("codes.jsonl").count(b"\n") == len(rows)


@pytest.mark.parametrize("use", ["to_folder", "read_folder", "to_parquet"])
def test_o10_no_failure_shows_a_credential(client: da.Client, store: Store, use: str) -> None:
    store.hook = lambda _request: (400, error("Odd", f"{SECRET} of {KEY} in {_request.headers['authorization']}"))
    with pytest.raises(da.DataAccessError) as caught:
        getattr(by_day(client), use)(store.url(), storage_options=store.options)
    texts = [str(caught.value), repr(vars(caught.value)), repr(pickle.dumps(caught.value))]
    texts += locals_of_package(caught.value)
    assert "<redacted> of <redacted> in AWS4" in texts[0]
    for text in texts:
        assert SECRET not in text
        assert KEY not in text


def test_a_cancelled_run_leaves_no_lock(store: Store) -> None:
    async def main() -> None:
        begun = asyncio.Event()
        with some_days(latency=0.2) as service:
            async with da.AsyncClient(service.base_url, token=service.issue_token(), concurrency=1) as client:
                scan = client.scan_codes(allocated_time=DAYS)
                task = asyncio.create_task(
                    scan.to_folder(store.url(), storage_options=store.options, progress=lambda _progress: begun.set())
                )
                await begun.wait()
                assert LOCK in await asyncio.to_thread(store.names)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                report = await scan.to_folder(store.url(), storage_options=store.options)
                assert report.rows == ROWS

    asyncio.run(main())
    assert LOCK not in store.names()


PART = "codes/day=2024-01-01/part-0.parquet"
# A lock runs out after two seconds.
SCALE = 60


def parts(store: Store) -> dict[str, bytes]:
    return {name: store.get(name) for name in store.names() if name.endswith(".parquet")}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="processes are frozen the POSIX way")
def test_o11_a_frozen_run_replaces_nothing_of_its_successor(store: Store, time_scale: Any) -> None:
    with some_days(latency=0.15) as service:
        token = service.issue_token()
        with service.client() as client:
            run(client, store)
        with running(service, store, token, tasks=2, scale=SCALE) as frozen:
            frozen.send_signal(signal.SIGSTOP)
            codes = [code(day, n) for day, rows in enumerate(ROWS_OF_DAYS, 1) for n in range(rows)]
            changed = [{**one, "code_status": 4} for one in codes]
            service.load("promotion_code", changed, replace=True)
            time_scale(SCALE)
            with da.Client(service.base_url, token=token) as client:
                assert once_unlocked(client, store, refresh="all").refreshed == len(ROWS_OF_DAYS)
            successor = parts(store)
            frozen.send_signal(signal.SIGCONT)
            _, reported = frozen.communicate(timeout=30)
            assert (frozen.returncode, parts(store) == successor) == (75, True), reported
            # The folder, or a part of the other run: whose it is the lock does not say any more.
            assert re.fullmatch(rf"{store.url()}(/day=\S+)? None", reported.splitlines()[-1]), reported
    assert len(store.ids()) == len(set(store.ids())) == ROWS


@pytest.mark.parametrize("rows", [3, 14_987])
def test_o13_a_part_that_another_run_wrote_meanwhile_stays(store: Store, rows: int) -> None:
    # As of a run whose lock ran out between its check and its upload; the longer part is uploaded in pieces.
    codes = [{**code(1, number), "name": os.urandom(600).hex()} for number in range(rows)]
    with da.Sandbox() as service:
        service.load("promotion_code", codes)
        with service.client() as client:
            scan = client.scan_codes(["name"], allocated_time=da.days("2024-01-01", "2024-01-02"))
            for before in (None, b"of another run"):

                def written(request: Request) -> None:
                    if request.method in ("PUT", "POST") and ".parquet" in request.path:
                        store.hook = None
                        store.put(PART, b"newer than ours")

                if before is not None:
                    store.delete(PART)
                    scan.to_folder(store.url(), storage_options=store.options)
                store.hook = written
                with pytest.raises(da.FolderLockedError) as caught:
                    scan.to_folder(store.url(), storage_options=store.options, refresh="all")
                assert (caught.value.path, caught.value.exit_code, caught.value.retryable) == (
                    store.url(PART),
                    75,
                    True,
                )
                assert store.get(PART) == b"newer than ours"
    assert LOCK not in store.names()


def test_a_lost_response_to_an_upload_is_no_other_run(store: Store) -> None:
    lost = []

    def hook(request: Request) -> str | None:
        if request.method == "PUT" and ".parquet" in request.path and request.path not in lost:
            lost.append(request.path)
            return "lost"
        return None

    with some_days() as service, service.client() as client:
        store.hook = hook
        report = run(client, store)
        assert (report.rows, len(lost)) == (ROWS, len(ROWS_OF_DAYS))
        lost.clear()
        assert run(client, store, refresh="all").refreshed == len(lost) == len(ROWS_OF_DAYS)
    assert len(store.ids()) == ROWS


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("outcome", [(403, error("AccessDenied")), "lost"])
def test_o2_a_lock_whose_request_failed_is_removed(store: Store, number: int, outcome: Any) -> None:
    with some_days() as service, service.client(retry_for=0) as client:
        store.hook = refusing(is_lock, outcome, after=number - 1)
        with pytest.raises(da.FileError) as caught:
            run(client, store)
        assert caught.value.path == store.url(LOCK)
    assert store.names() == []
