"""Outages: a service that returns is noticed soon, one that does not is given up once, and one failure is no outage."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support.operations import WHOLE, Operation, up_after
from support.programs import free_port
from support.raw_server import http, serving
from support.scan_requests import ScanRequest, ok_response, rows_of_all, scan_of_parts, scan_server

import dataaccess as da

pytestmark = pytest.mark.fault("R2")

DAYS = da.days("2024-01-01", "2024-04-01")
DOWN = http(b"", "503 Down")
BROKEN = http(b"", "500 Broken")
# The clock of the client is so many times faster.
SCALE = 5


@pytest.fixture(autouse=True)
def _faster(time_scale: Any) -> None:
    time_scale(SCALE)


@pytest.mark.quiet
def test_a_call_outlasts_an_outage(connect: Any, ask: Operation) -> None:
    with up_after(1 / SCALE) as address:
        began = time.monotonic()
        assert ask(connect(address)) == ask.result
    # At most half of the outage later, and what the machine takes.
    assert 1 / SCALE < time.monotonic() - began < 2


@pytest.mark.parametrize("use", ["to_dicts", "to_folder"])
def test_a_scan_of_a_service_that_never_responds_fails_once(connect: Any, tmp_path: Path, use: str) -> None:
    client = connect(f"http://127.0.0.1:{free_port()}", retry_for=1)
    with pytest.raises(da.ConnectError) as caught:
        getattr(client.scan_codes(["id"], allocated_time=DAYS), use)(*[tmp_path] * (use == "to_folder"))
    # Each task for itself would take eleven times as long.
    assert 1 / SCALE <= caught.value.elapsed < 10 / SCALE
    assert caught.value.retryable
    # Those in flight, and then one at a time.
    assert client.stats.requests <= 8 + 5


def test_a_run_without_retries_ends_with_the_first_failed_connection(connect: Any, tmp_path: Path) -> None:
    client = connect(f"http://127.0.0.1:{free_port()}", concurrency=1, retry_for=0)
    with pytest.raises(da.ConnectError) as caught:
        client.scan_codes(["id"], allocated_time=DAYS).to_folder(tmp_path)
    assert client.stats.requests == caught.value.attempts == 1
    assert str(tmp_path) not in str(caught.value), "nothing is kept there"


def test_the_error_is_that_of_the_last_failure_though_the_timeout_ends_the_call(connect: Any, ask: Operation) -> None:
    with pytest.raises(da.ConnectError):
        ask(connect(f"http://127.0.0.1:{free_port()}", timeout=0.5))


def test_calls_of_several_threads_and_copies_share_their_retries() -> None:
    with serving(lambda connection, _number: connection.sendall(DOWN)) as server, ThreadPoolExecutor(32) as pool:
        client = da.Client(server.base_url, token="tok", retry_for=1, concurrency=None)
        calls = [pool.submit(client.with_options(timeout=99).download_segment, 7) for _ in range(32)]
        assert {type(call.exception()) for call in calls} == {da.ThrottledError}
        # One of each call, as `retry_for` is shorter than probes are apart, and few more.
        assert 5 <= len(server.requests) <= 32 + 8


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize("failure", [DOWN, BROKEN], ids=["503", "500"])
@pytest.mark.parametrize("retry_for", [0, 0.5])
def test_one_task_that_always_fails_is_no_outage(
    connect: Any, tmp_path: Path, concurrency: int, failure: bytes, retry_for: float
) -> None:
    is_failing = True

    def respond(asked: ScanRequest) -> bytes:
        return failure if is_failing and asked.part == 5 else ok_response(asked)

    with scan_server(respond) as parts:
        for _ in range(2):
            scan = scan_of_parts(connect(parts.base_url, retry_for=retry_for, concurrency=concurrency), 14)
            with pytest.raises(da.ScanIncompleteError) as caught:
                scan.to_folder(tmp_path)
            assert caught.value.report is not None
            assert (len(caught.value.failed), len(caught.value.report.files)) == (1, 13)
        is_failing = False
        assert scan.to_folder(tmp_path).rows == 28


def test_an_outage_that_outlasts_retry_for_ends_a_run_and_the_next_goes_on(connect: Any, tmp_path: Path) -> None:
    is_down = True

    def respond(asked: ScanRequest) -> bytes:
        return DOWN if is_down and asked.part >= 10 else ok_response(asked)

    with scan_server(respond) as parts:
        with pytest.raises(da.ThrottledError) as caught:
            scan_of_parts(connect(parts.base_url, retry_for=0.5), 40).to_folder(tmp_path)
        assert caught.value.elapsed < 15
        assert caught.value.report is not None
        assert (len(caught.value.report.files), caught.value.report.rows) == (10, 20)
        is_down = False
        assert scan_of_parts(connect(parts.base_url), 40).to_folder(tmp_path).rows == 80


@pytest.mark.parametrize("concurrency", [1, 2, 8])
@pytest.mark.parametrize("retry_for", [0, 0.01])
def test_without_retries_an_outage_fails_no_later_scan_and_each_sends_requests(
    connect: Any, tmp_path: Path, retry_for: float, concurrency: int
) -> None:
    is_down = True
    with scan_server(lambda asked: DOWN if is_down else ok_response(asked)) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=concurrency, retry_for=retry_for), 20)
        for use in (scan.to_dicts, scan.to_dicts, lambda: scan.to_folder(tmp_path)):
            before = len(parts.asked)
            with pytest.raises(da.ThrottledError):
                use()
            assert len(parts.asked) > before
        is_down = False
        assert scan.to_dicts() == rows_of_all(20)
        assert scan.to_folder(tmp_path).rows == 40


def test_a_service_that_fails_every_request_ends_a_run_after_a_few(connect: Any, tmp_path: Path) -> None:
    with scan_server(lambda _asked: BROKEN) as parts:
        with pytest.raises(da.ServerError):
            scan_of_parts(connect(parts.base_url, concurrency=1, retry_for=0), 90).to_folder(tmp_path)
        assert len(parts.asked) == 5


@pytest.mark.parametrize("concurrency", [4, None])
def test_concurrency_bounds_all_requests_of_a_client(concurrency: int | None) -> None:
    in_flight: list[int] = []
    most = 0
    many = threading.Event()

    def respond(connection: Any, number: int) -> None:
        nonlocal most
        in_flight.append(number)
        most = max(most, len(in_flight))
        if most > 20:
            many.set()
        many.wait(0.02 if concurrency else 5)
        in_flight.remove(number)
        connection.sendall(WHOLE)

    async def main() -> None:
        async with da.AsyncClient(server.base_url, token="t", concurrency=concurrency) as client:
            search = [client.search_codes(["id"], allocated_time=da.on("2024-01-15")) for _ in range(40)]
            scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-21"))
            assert sum(map(len, await asyncio.gather(*search, scan.to_dicts()))) == 120

    with serving(respond) as server:
        asyncio.run(main())
    assert most == 4 if concurrency else most > 20


@pytest.mark.parametrize("concurrency", [1, 2])
def test_a_search_within_the_batches_of_a_scan_finds_a_place(
    connect: Any, concurrency: int, buffered_bytes: Any
) -> None:
    buffered_bytes(1)
    with scan_server(ok_response) as parts:
        client = connect(parts.base_url, concurrency=concurrency, timeout=20)
        searched = 0
        for _batch in scan_of_parts(client, 12).batches(max_rows=1):
            searched += len(client.search_items("store", ["n"], da.col("n").matches(["0"]), item_type_id=7))
        assert searched > 12
