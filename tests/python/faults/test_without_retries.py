"""Clients without retries: no call fails for what an earlier one met, and one failure does not end a run (R2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.raw_server import http
from support.scan_requests import ScanRequest, ok_response, rows_of_all, scan_of_parts, scan_server

import dataaccess as da

DOWN = http(b"", "503 Down")
BROKEN = http(b"", "500 Broken")

NO_RETRIES = [{"retry_for": 0}, {"retry_for": 0.01}]


@pytest.mark.parametrize("concurrency", [1, 2, 8])
@pytest.mark.parametrize("options", NO_RETRIES)
def test_r2_an_outage_that_is_over_fails_no_later_scan(
    connect: Any, tmp_path: Path, options: dict[str, float], concurrency: int
) -> None:
    is_down = True
    with scan_server(lambda asked: DOWN if is_down else ok_response(asked)) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=concurrency, **options), 20)
        for use in (scan.to_dicts, lambda: scan.to_folder(tmp_path)):
            with pytest.raises(da.ThrottledError):
                use()
        is_down = False
        assert scan.to_dicts() == rows_of_all(20)
        assert scan.to_folder(tmp_path).rows == 40


@pytest.mark.parametrize("options", NO_RETRIES)
def test_r2_each_use_during_an_outage_sends_a_request(connect: Any, options: dict[str, float]) -> None:
    with scan_server(lambda _asked: DOWN) as parts:
        scan = scan_of_parts(connect(parts.base_url, **options), 20)
        for _ in range(5):
            before = len(parts.asked)
            with pytest.raises(da.ThrottledError):
                scan.to_dicts()
            assert len(parts.asked) > before


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize("options", NO_RETRIES[:1])
def test_one_failure_ends_no_run(connect: Any, tmp_path: Path, options: dict[str, float], concurrency: int) -> None:
    failed: list[int] = []

    def respond(asked: ScanRequest) -> bytes:
        if not failed or failed == [asked.part]:
            failed[:] = [asked.part]
            return BROKEN
        return ok_response(asked)

    with scan_server(respond) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=concurrency, **options), 14)
        with pytest.raises(da.ScanIncompleteError, match=r"\b1 of 14\b") as caught:
            scan.to_folder(tmp_path)
        assert len(caught.value.failed) == 1
        failed[:] = [-1]
        assert scan.to_folder(tmp_path).rows == 28


def test_a_service_that_fails_every_request_ends_a_run_after_a_few(connect: Any, tmp_path: Path) -> None:
    with scan_server(lambda _asked: BROKEN) as parts:
        with pytest.raises(da.ServerError):
            scan_of_parts(connect(parts.base_url, concurrency=1, retry_for=0), 90).to_folder(tmp_path)
        assert len(parts.asked) == 5


def test_a_task_that_fails_alone_is_no_outage(connect: Any, tmp_path: Path) -> None:
    with scan_server(lambda asked: BROKEN if asked.part == 5 else ok_response(asked)) as parts:
        for _ in range(2):
            scan = scan_of_parts(connect(parts.base_url, retry_for=0.5), 8)
            with pytest.raises(da.ScanIncompleteError, match=r"\b1 of 8\b.*\b7\b"):
                scan.to_folder(tmp_path)


def test_the_error_that_ends_a_run_has_its_report(connect: Any, tmp_path: Path) -> None:
    with scan_server(lambda asked: DOWN if asked.part >= 10 else ok_response(asked)) as parts:
        with pytest.raises(da.ThrottledError, match=r"\b10 of 40\b") as caught:
            scan_of_parts(connect(parts.base_url, retry_for=0.3), 40).to_folder(tmp_path)
        assert caught.value.report is not None
        assert (len(caught.value.report.files), caught.value.report.rows) == (10, 20)
