"""Services that fail, pause, hang or start late."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import kinds
from support.programs import free_port
from support.raw_server import ENTRY, EXPORT, RESPONSE, Close, http, serving, silent
from support.searches import search
from support.streams import client_of

import dataaccess as da

# HTTP 200 with an empty body or an HTML page is retried as a 502 is, where the service has answered properly before.
# Source: a trial of nightly jobs.


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize("wrong", [http(b"<html>Maintenance</html>"), http(b"")])
def test_a_page_is_retried_where_the_service_has_responded(client_of: Any, wrong: bytes) -> None:
    client = client_of(http(), wrong, wrong, wrong, http(), retry_for=60)
    assert search(client) == search(client)
    assert client.stats.requests == 5


@pytest.mark.usefixtures("short_pauses")
def test_a_body_that_is_no_http_is_retried_once_all_the_same(client_of: Any) -> None:
    wrong = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n"
    client = client_of(http(), wrong, wrong, http(), retry_for=60)
    search(client)
    with pytest.raises(kinds.Malformed):
        search(client)
    assert client.stats.requests == 3


# A pause that holds all requests of a client is one line of the log, and not one for each request.
# Source: a trial of nightly jobs.


@pytest.mark.usefixtures("short_pauses")
def test_a_pause_of_eight_refusals_is_one_log_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("WARNING", "dataaccess.retry")
    arrived = threading.Barrier(8)

    def respond(connection: Any, number: int) -> None:
        if number < 8:
            arrived.wait(5)
        connection.sendall(http(b"", "429 Slow") if number < 8 else http())

    with serving(respond) as server:
        client = client_of(server, concurrency=8, retry_for=600)
        days = da.days("2024-01-01", "2024-01-17")
        assert len(client.scan_codes(["id"], allocated_time=days).to_dicts()) == 32
    assert len([record for record in caplog.records if record.name == "dataaccess.retry"]) == 1


# `Retry-After` as a Unix time two seconds ahead is a pause of two seconds, not of 57 years.
# Source: RFC 9110, section 10.2.3, which has seconds and dates; gateways send Unix times too.


@pytest.mark.usefixtures("short_pauses")
def test_a_request_is_retried_at_the_unix_time_of_retry_after(client_of: Any) -> None:
    busy = http(b"", "429 Slow", headers=(f"Retry-After: {int(time.time()) + 2}",))
    client = client_of(busy, http(), retry_for=60)
    assert search(client)
    assert client.stats.requests == 2


# A run ends with one error, `retry_for` after the service began to fail, or at once if it asks for a longer pause.
# Source: a trial of nightly jobs.

BODY = json.dumps(RESPONSE).encode()
FAILURES = {
    "500": http(b"", "500 Broken"),
    "503": http(b"", "503 Down"),
    "429": http(b"", "429 Slow"),
    # As long as `retry_for`.
    "503 with Retry-After": http(b"", "503 Down", headers=("Retry-After: 1",)),
    "code 500": http({"code": 500, "message": "broken"}),
    "late code": http({"data": RESPONSE["data"], "code": 500}),
    "cut": http(BODY)[:-9],
    "too long": http(b"", "503 Busy", headers=("Retry-After: 300",)),
    "too long with a code": http({"code": 429}, headers=("Retry-After: 300",)),
}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("use", ["to_folder", "to_dicts"])
def test_a_run_of_thirty_days_ends_once_when_the_service_stays_down(
    tmp_path: Path, time_scale: Callable[[int], None], failure: str, use: str
) -> None:
    def respond(connection: Any, _number: int) -> None:
        connection.sendall(FAILURES[failure])
        raise Close

    time_scale(10)
    with serving(respond) as server, da.Client(server.base_url, token="t", retry_for=15) as client:
        scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-31"))
        with pytest.raises(da.DataAccessError) as caught:
            getattr(scan, use)(*[tmp_path] * (use == "to_folder"))
        assert caught.value.elapsed < 6
        assert caught.value.retryable
        assert not isinstance(caught.value, da.ScanIncompleteError)
        assert len(server.requests) <= (8 if "too long" in failure else 20)


# A refused connection is retried for `retry_for` in scans, folders, files and waits; only a single call ends early.
# Source: a trial of nightly jobs.

TWO_DAYS = da.days("2024-01-15", "2024-01-18")
# The default of 60 s is 1.5 s, and the 4 s of a first contact are 0.1 s.
TIMES = 40
STARTED: dict[str, Callable[[da.Client, Path], Any]] = {
    "search": lambda client, _: search(client),
    "scan": lambda client, _: client.scan_codes(["id"], allocated_time=TWO_DAYS).to_dicts(),
    "one day": lambda client, _: client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_dicts(),
    "folder": lambda client, path: client.scan_codes(["id"], allocated_time=TWO_DAYS).to_folder(path),
    "file": lambda client, path: client.scan_codes(["id"], allocated_time=TWO_DAYS).to_csv(path / "codes.csv"),
    "wait": lambda client, _: client.wait_for_segment(7, timeout=30),
}


@pytest.mark.parametrize("use", STARTED)
def test_only_a_search_ends_before_the_service_is_up(
    tmp_path: Path, time_scale: Callable[[int], None], use: str
) -> None:
    time_scale(TIMES)
    with pytest.raises(da.ConnectError) as caught:
        STARTED[use](da.Client(f"http://127.0.0.1:{free_port()}", token="t"), tmp_path)
    assert (caught.value.elapsed < 1) == (use == "search")
    assert caught.value.elapsed < 6


# One day that hangs ends a scan after `timeout`, over all attempts, also if it hangs behind its first row.
# Source: a trial of notebooks.

DAYS = da.days("2024-01-15", "2024-01-18")
USES: dict[str, Callable[[da.Scan, Path], Any]] = {
    "to_dicts": lambda scan, _: scan.to_dicts(),
    "to_arrow": lambda scan, _: scan.to_arrow(),
    "batches": lambda scan, _: list(scan.batches()),
    "to_parquet": lambda scan, path: scan.to_parquet(path / "codes.parquet"),
    "to_folder": lambda scan, path: scan.to_folder(path / "codes"),
}


@pytest.mark.parametrize("use", USES)
def test_a_scan_with_a_hung_day_ends_after_timeout_and_a_folder_has_the_other_days(
    tmp_path: Path, sandbox: da.Sandbox, use: str
) -> None:
    scan = sandbox.client(timeout=0.5).scan_codes(["id"], allocated_time=DAYS)
    with sandbox.fault("stall", after_bytes=0, where={"day": "2024-01-15"}) as fault:
        with pytest.raises((da.RequestTimeoutError, da.ScanIncompleteError)) as caught:
            USES[use](scan, tmp_path)
        assert fault.hits == 1
    if use == "to_folder":
        assert isinstance(caught.value, da.ScanIncompleteError)
        assert caught.value.report is not None
        assert len(caught.value.report.files) == 2
    else:
        assert isinstance(caught.value, da.RequestTimeoutError)
        assert caught.value.elapsed < 5


def test_a_stall_behind_the_first_row_does_not_repeat_for_ever(time_scale: Callable[[int], None]) -> None:
    # The stall rule ends an attempt after a quarter of a second.
    time_scale(120)
    with serving(silent(http()[:-20])) as server, da.Client(server.base_url, token="t", timeout=1) as client:
        with pytest.raises(da.RequestTimeoutError):
            client.scan_codes(["id"], allocated_time=DAYS).to_dicts()
        assert len(server.requests) <= 3 * 5


# An `endTime` that is blank or before the start is no end: the wait goes on, and a warning names it.
# Source: API specification 2.5 and 3.2: `endTime` is null while unfinished.


def export(end: Any) -> bytes:
    entry = {**ENTRY, "endTime": end, "responseCode": 200 if end else None}
    return http({**EXPORT, "data": {"entries": [entry], "meta": {"total": 1}}})


@pytest.mark.parametrize("end", ["", "  ", "0001-01-01T00:00:00Z", "2024-01-15T07:59:59.000Z"])
def test_a_wait_goes_on_at_an_end_that_is_none(client_of: Any, end: str) -> None:
    client = client_of(export(end), export(end), export("2024-01-15T08:00:01.000Z"))
    with pytest.warns(da.IncompleteWarning, match="endTime") as caught:
        client.wait_for_segment(7, timeout=20, poll=0.01)
    assert (client.stats.requests, len(caught)) == (3, 1)
    with pytest.warns(da.IncompleteWarning, match="endTime"):
        assert "1 running" in str(client_of(export(end)).download_segment(7))


def test_a_number_is_an_end_of_an_export(client_of: Any) -> None:
    assert "1 finished" in str(client_of(export(1705305601000)).wait_for_segment(7, timeout=5))
