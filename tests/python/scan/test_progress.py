"""`progress=` of `collect` and the `to_…` methods."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.arguments import about
from support.raw_server import serving
from support.scan_requests import SILENCE, ok_response, scan_of_parts, scan_server
from support.streams import in_parts, scan_of, whole

import dataaccess as da

LAST_PART = 11

READINGS: dict[str, Callable[[Any, Path, Any], object]] = {
    "collect": lambda scan, _folder, report: scan.collect(progress=report),
    "to_arrow": lambda scan, _folder, report: scan.to_arrow(progress=report),
    "to_pandas": lambda scan, _folder, report: scan.to_pandas(progress=report),
    "to_polars": lambda scan, _folder, report: scan.to_polars(progress=report),
    "to_dicts": lambda scan, _folder, report: scan.to_dicts(progress=report),
    "to_parquet": lambda scan, folder, report: scan.to_parquet(folder / "x.parquet", progress=report),
    "to_csv": lambda scan, folder, report: scan.to_csv(folder / "x.csv", progress=report),
    "to_jsonl": lambda scan, folder, report: scan.to_jsonl(folder / "x.jsonl", progress=report),
}


@pytest.mark.both_clients
@pytest.mark.parametrize("reading", READINGS)
def test_progress_is_reported_from_the_first_request_to_the_last(client: Any, tmp_path: Path, reading: str) -> None:
    scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-14", "2024-01-17"))
    reports: list[da.Progress] = []
    READINGS[reading](scan, tmp_path, reports.append)
    first, *_, last = reports
    assert (first.total, first.done, first.failed, first.rows, first.bytes) == (3, 0, 0, 0, 0)
    assert (last.total, last.done, last.failed, last.rows) == (3, 3, 0, 215)
    assert last.bytes == scan.last_stats.bytes
    assert [report.done for report in reports] == sorted(report.done for report in reports)
    assert {report.done for report in reports} == {0, 1, 2, 3}


def test_rows_of_one_response_are_reported_as_they_arrive(connect: Any, tmp_path: Path) -> None:
    reports: list[da.Progress] = []

    def pause(number: int) -> None:
        # The rest of the response waits until the first batch was reported.
        while number == LAST_PART and not any(report.rows for report in reports):
            time.sleep(0.01)

    with serving(in_parts(whole(100_000, 10_000), pause)) as server:
        scan_of(connect(server.base_url)).to_parquet(tmp_path / "n.parquet", progress=reports.append)
    assert reports[0].rows == 0
    assert any(0 < report.rows < 100_000 for report in reports)
    assert (reports[-1].rows, reports[-1].done) == (100_000, 1)


@pytest.mark.parametrize("reading", READINGS)
def test_what_the_callback_raises_ends_the_call(connect: Any, tmp_path: Path, reading: str) -> None:
    def stop(_progress: da.Progress) -> None:
        raise KeyError("enough")

    # The last response never comes, so the call cannot be complete before it calls back.
    with scan_server(lambda asked: SILENCE if asked.part == 2 else ok_response(asked)) as parts:
        with pytest.raises(KeyError, match="enough"):
            READINGS[reading](scan_of_parts(connect(parts.base_url), 3), tmp_path, stop)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.async_only
def test_a_coroutine_function_is_awaited(sandbox: da.Sandbox) -> None:
    reports: list[int] = []

    async def report(progress: da.Progress) -> None:
        await asyncio.sleep(0)
        reports.append(progress.done)

    async def main() -> None:
        scan = sandbox.async_client().scan_codes(["id"], allocated_time=da.days("2024-01-14", "2024-01-17"))
        await scan.to_dicts(progress=report)

    asyncio.run(main())
    assert (reports[0], reports[-1]) == (0, 3)


def test_retries_are_counted(connect: Any, sandbox: da.Sandbox) -> None:
    reports: list[da.Progress] = []
    scan = connect(sandbox).scan_codes(["id"], allocated_time=da.days("2024-01-14", "2024-01-16"))
    with sandbox.fault("status", status=503, times=1):
        scan.collect(progress=reports.append)
    assert reports[-1].retries == 1
    scan.collect(progress=reports.append)
    assert reports[-1].retries == 0, "those of an earlier call count"


@pytest.mark.both_clients
def test_waiting_for_an_export_reports_its_entries(client: Any, sandbox: da.Sandbox) -> None:
    export = sandbox.start_export(rows=500, entries=2, seconds=7200, delay=3600, succeeds=False)
    reports: list[da.Progress] = []
    updates: list[Any] = []

    def advance(update: Any) -> None:
        updates.append(update)
        sandbox.advance(3600)

    client.wait_for_segment(export, timeout=60, poll=0.01, check=False, progress=reports.append, on_update=advance)
    assert len(reports) == len(updates) == 4
    assert [report.done for report in reports] == [0, 0, 1, 2]
    first, last = reports[0], reports[-1]
    assert (first.unit, first.total, first.done, first.failed, first.rows) == ("entries", None, 0, 0, 0)
    assert (last.total, last.done, last.failed, last.rows) == (2, 2, 2, 1_000)


@pytest.mark.parametrize("bad", ["bar", 1, object()])
def test_any_other_progress_is_refused_before_anything_is_sent(client: Any, tmp_path: Path, bad: Any) -> None:
    scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    for reading in READINGS.values():
        with pytest.raises(da.ValidationError, check=about("progress")):
            reading(scan, tmp_path, bad)
    with pytest.raises(da.ValidationError, check=about("progress")):
        scan.to_folder(tmp_path / "run", progress=bad)
    assert scan.last_stats is None
    with pytest.raises(da.ValidationError, check=about("progress")):
        client.wait_for_segment(5637051, timeout=1, progress=bad)
