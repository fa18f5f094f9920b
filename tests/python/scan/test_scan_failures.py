"""Scans of several requests: failures, retries, refused tokens and time limits."""

from __future__ import annotations

import logging
import pickle
import re
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from support import kinds
from support.failures import DENIED
from support.raw_server import Close, http, serving
from support.runs import some_days
from support.scan_requests import (
    LONG,
    OUTPUTS,
    REFUSED,
    SILENCE,
    ScanRequest,
    ThenClose,
    ok_response,
    rows_of,
    rows_of_all,
    scan_of_parts,
    scan_server,
    wait_until,
)
from support.streams import HEAD, response_of, scan_of, whole

import dataaccess as da

pytestmark = pytest.mark.usefixtures("short_pauses")

every_output = pytest.mark.parametrize("output", OUTPUTS)


def failing(part: int, with_bytes: bytes) -> Callable[[ScanRequest], bytes]:
    return lambda asked: with_bytes if asked.part == part else ok_response(asked)


@every_output
def test_a_failure_names_its_request(connect: Any, output: str) -> None:
    with scan_server(failing(2, REFUSED)) as parts:
        scan = scan_of_parts(connect(parts.base_url), 5)
        with pytest.raises(da.DataAccessError, match=r"\b3 of 5\b.*\b400\b") as caught:
            OUTPUTS[output](scan)
        assert parts.asked.count(2) == 1
    error = caught.value
    if output == "batches":
        assert isinstance(error, da.StreamInterruptedError)
        assert error.rows_yielded == 4
        cause: Any = error.__cause__
        assert isinstance(cause, da.RequestRejectedError)
    else:
        assert isinstance(error, da.RequestRejectedError)
        assert error.status == 400
    assert (error.operation, error.attempts) == ("scan_items", 1)
    assert scan.last_stats is None or not scan.last_stats


@every_output
def test_the_failure_reported_is_the_first_of_the_plan(connect: Any, output: str) -> None:
    late = threading.Event()

    def respond(asked: ScanRequest) -> bytes:
        if asked.part == 1:
            assert late.wait(LONG)
        if asked.part == 3:
            late.set()
        return REFUSED if asked.part in (1, 3) else ok_response(asked)

    with scan_server(respond) as parts, pytest.raises(da.DataAccessError, match=r"\b2 of 4\b"):
        OUTPUTS[output](scan_of_parts(connect(parts.base_url, concurrency=4), 4))


@every_output
def test_without_retries_each_request_is_sent_once(connect: Any, output: str) -> None:
    broken = http(b"", "500 Broken")
    with scan_server(failing(2, broken)) as parts:
        with pytest.raises(da.DataAccessError, match=r"\b3 of 5\b") as caught:
            OUTPUTS[output](scan_of_parts(connect(parts.base_url, retry_for=0), 5))
        assert caught.value.attempts == 1
        assert parts.asked.count(2) == 1


@every_output
def test_a_request_that_succeeds_later_is_no_failure(connect: Any, output: str) -> None:
    def respond(asked: ScanRequest) -> bytes:
        return http(b"", "500 Broken") if asked.attempt < asked.part else ok_response(asked)

    with scan_server(respond) as parts:
        scan = scan_of_parts(connect(parts.base_url), 4)
        assert OUTPUTS[output](scan) == rows_of_all(4)
        assert (scan.last_stats.requests, scan.last_stats.attempts, scan.last_stats.retries) == (4, 10, 6)
        assert sorted(parts.asked) == [0, 1, 1, 2, 2, 2, 3, 3, 3, 3]


@every_output
def test_a_response_that_was_cut_off_is_retried_and_its_rows_come_once(connect: Any, output: str) -> None:
    def respond(asked: ScanRequest) -> bytes:
        whole = ok_response(asked)
        return ThenClose(whole[:-3]) if asked.part and asked.attempt < 2 else whole

    with scan_server(respond) as parts:
        scan = scan_of_parts(connect(parts.base_url), 3)
        assert OUTPUTS[output](scan) == rows_of_all(3)
        assert scan.last_stats.retries == 4
        assert scan.last_stats.rows == 6


def long_and_torn(asked: ScanRequest) -> bytes:
    """A response of several batches whose first attempt is truncated."""
    whole = response_of(rows_of(asked.part, 7))
    return ThenClose(whole[:-3]) if asked.part == 1 and asked.attempt == 0 else whole


@pytest.mark.parametrize("output", [name for name in OUTPUTS if name != "batches"])
def test_what_is_collected_is_retried_however_long_it_was(connect: Any, output: str) -> None:
    with scan_server(long_and_torn) as parts:
        rows = OUTPUTS[output](scan_of_parts(connect(parts.base_url), 3))
        assert rows == [row for part in range(3) for row in rows_of(part, 7)]
        assert sorted(parts.asked) == [0, 1, 1, 2]


def test_a_long_response_of_which_nothing_was_taken_is_retried(connect: Any) -> None:
    with scan_server(long_and_torn) as parts:
        batches = scan_of_parts(connect(parts.base_url), 3).batches(max_rows=2)
        # Its first attempt has ended before a row of it was taken.
        wait_until(lambda: parts.asked.count(1) == 2)
        rows = [row for batch in batches for row in batch.to_pylist()]
        assert rows == [row for part in range(3) for row in rows_of(part, 7)]


def test_a_stream_that_was_cut_off_within_a_long_response_is_reported(connect: Any) -> None:
    taken = threading.Event()

    def torn_when_taken(connection: Any, number: int) -> None:
        part = int(server.requests[number].json["filters"]["OR"][0]["AND"][0]["value"][0])
        whole = response_of(rows_of(part, 7))
        connection.sendall(whole[:-3])
        if part == 1:
            assert taken.wait(LONG)
            raise Close
        connection.sendall(whole[-3:])

    with serving(torn_when_taken) as server:
        batches = scan_of_parts(connect(server.base_url), 3).batches(max_rows=2)
        rows: list[dict[str, Any]] = []

        def take() -> None:
            for batch in batches:
                rows.extend(batch.to_pylist())
                if len(rows) > 7:
                    taken.set()

        with pytest.raises(da.StreamInterruptedError, match=r"\b2 of 3\b") as caught:
            take()
        assert rows == [*rows_of(0, 7), *rows_of(1, 6)]
        assert caught.value.rows_yielded == 13
        assert isinstance(caught.value.__cause__, kinds.Truncated)
        assert not batches.stats


@every_output
def test_a_refused_token_ends_the_scan(connect: Any, output: str) -> None:
    with scan_server(failing(1, DENIED)) as parts:
        scan = scan_of_parts(connect(parts.base_url), 3)
        with pytest.raises(da.DataAccessError, match=r"\b2 of 3\b") as caught:
            OUTPUTS[output](scan)
        error = caught.value.__cause__ if output == "batches" else caught.value
        assert isinstance(error, da.PermissionDeniedError)
        assert parts.asked.count(1) == 1


def test_a_token_that_is_refused_to_many_is_renewed_once(connect: Any) -> None:
    together = threading.Barrier(4)
    given: list[str] = []

    def token() -> str:
        given.append(f"tok-{len(given)}")
        return given[-1]

    def respond(asked: ScanRequest) -> bytes:
        if asked.attempt == 0 and asked.part < 4:
            together.wait(LONG)
        return ok_response(asked) if asked.request.headers["authorization"] == "Bearer tok-1" else DENIED

    with scan_server(respond) as parts:
        scan = scan_of_parts(connect(parts.base_url, token=token, concurrency=4), 8)
        assert scan.to_dicts() == rows_of_all(8)
        assert given == ["tok-0", "tok-1"]
        assert len(parts.asked) == 12


@pytest.mark.parametrize("output", ["dicts", "batches"])
def test_slow_token_callable_times_out(connect: Any, output: str) -> None:
    over = threading.Event()

    def token() -> str:
        over.wait(3)
        return "tok-late"

    with scan_server(ok_response) as parts:
        try:
            with pytest.raises(da.RequestTimeoutError, match=r"\b0\.5 s\b"):
                OUTPUTS[output](scan_of_parts(connect(parts.base_url, token=token, timeout=0.5), 3))
        finally:
            over.set()


def test_a_token_that_cannot_be_had_is_reported(connect: Any) -> None:
    def token() -> str:
        raise LookupError

    with scan_server(ok_response) as parts:
        for output in ("dicts", "batches"):
            with pytest.raises(da.ConfigError, match=r"\b1 of 3\b.*\bLookupError\b"):
                OUTPUTS[output](scan_of_parts(connect(parts.base_url, token=token), 3))
        assert parts.asked == []


@pytest.mark.slow
def test_timeout_applies_per_request(connect: Any) -> None:
    def slowly(asked: ScanRequest) -> bytes:
        time.sleep(0.2)
        return ok_response(asked)

    with scan_server(slowly) as parts:
        client = connect(parts.base_url, timeout=0.7, concurrency=1)
        for output in ("dicts", "batches"):
            assert OUTPUTS[output](scan_of_parts(client, 4)) == rows_of_all(4)


@pytest.mark.slow
def test_a_request_that_times_out_ends_the_scan(connect: Any) -> None:
    with scan_server(lambda asked: ok_response(asked) if asked.part != 1 else SILENCE) as parts:
        scan = scan_of_parts(connect(parts.base_url, timeout=1), 3)
        with pytest.raises(da.RequestTimeoutError):
            scan.to_dicts()
        assert parts.asked.count(1) == 1


def test_a_response_that_was_cut_off_leaves_nothing_in_the_next(connect: Any) -> None:
    parts = whole(70_000)

    def second_time(connection: Any, number: int) -> None:
        for part in [HEAD, *(parts if number % 2 else parts[:-2])]:
            connection.sendall(part)
        raise Close

    with serving(second_time) as server:
        scan = scan_of(connect(server.base_url))
        for use in (lambda: scan.collect().to_pylist(), scan.to_dicts):
            assert [row["n"] for row in use()] == list(range(70_000))
            assert scan.last_stats.attempts == 2


def fails(use: Any) -> list[str]:
    """The number of the request that failed, and its day, as the message names them."""
    with pytest.raises(da.ServerError) as caught:
        use()
    assert caught.value.operation == "scan_codes"
    return re.findall(r"\d+ of \d+|\d{4}-\d\d-\d\d", str(caught.value))


def test_an_error_names_the_day_of_its_request(connect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with some_days() as service:
        monkeypatch.setenv("DATAACCESS_TOKEN", service.issue_token())
        client = connect(service.base_url, token=None, retry_for=0, concurrency=1)
        scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-04"))
        task = scan.tasks()[1]
        with service.fault("status", status=500, after=1):
            assert fails(scan.to_dicts) == ["2 of 3", "2024-01-02"]
        with service.fault("status", status=500):
            assert fails(task.to_dicts) == ["2 of 3", "2024-01-02"]
            if isinstance(task, da.Task):
                copy = pickle.loads(pickle.dumps(task))
                assert fails(copy.to_dicts) == ["2024-01-02"]
            one = client.scan_codes(["id"], allocated_time=da.on("2024-01-02"))
            assert fails(one.to_dicts) == []


@pytest.mark.parametrize("use", ["to_dicts", "to_folder"])
def test_log_records_have_the_day(connect: Any, tmp_path: Any, caplog: pytest.LogCaptureFixture, use: str) -> None:
    with some_days() as service, caplog.at_level(logging.DEBUG, "dataaccess"):
        scan = connect(service).scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-04"))
        getattr(scan, use)(*([tmp_path] if use == "to_folder" else []))
        connect(service).search_codes(["id"], allocated_time=da.after("2024-01-01"))
    loggers = ("dataaccess.request", "dataaccess.access")
    days = [record.__dict__["day"] for record in caplog.records if record.name in loggers]
    assert sorted(days[:6]) == ["2024-01-01", "2024-01-01", "2024-01-02", "2024-01-02", "2024-01-03", "2024-01-03"]
    assert days[6:] == [None, None]
