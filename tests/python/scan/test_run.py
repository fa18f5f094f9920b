"""Runs into a folder: its files and their names, who reads them, arguments that are refused, and callbacks."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow.dataset
import pytest
from support.arguments import about
from support.environment import in_parts
from support.raw_server import http, serving
from support.runs import (
    DAYS,
    HIDDEN,
    ROWS,
    ROWS_OF_DAYS,
    by_day,
    by_value,
    giving,
    left_in,
    parts,
    responding,
    rows_in,
    tasks_done,
)
from support.streams import response_of

import dataaccess as da


def test_a_folder_that_is_relative_is_the_one_of_the_start(
    connect: Any, service: da.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    other = tmp_path / "elsewhere"
    other.mkdir()
    report = by_day(connect(service)).to_folder("a/b", progress=lambda _progress: os.chdir(other))
    assert report.rows == len(rows_in(tmp_path / "a/b")) == ROWS
    assert list(other.iterdir()) == []


@pytest.mark.async_only
def test_a_coroutine_callback_is_awaited_before_the_next_call(
    connect: Any, service: da.Sandbox, tmp_path: Path
) -> None:
    messages: list[int] = []

    async def on_progress(progress: da.Progress) -> None:
        await asyncio.sleep(0.01)
        messages.append(progress.done)

    by_day(connect(service)).to_folder(tmp_path, progress=on_progress)
    assert messages == list(range(9))


NO_DAYS = [["2024-01-10"], "3 days", "last 3 days", "days('2024-01-05', 'soon')", "col('x') == 1", [3], [None], 3, True]


@pytest.mark.parametrize(
    ("option", "bad"),
    [
        *((option, bad) for option in ("requested_at", "same_service", "on_doubt") for bad in ("yes", 1)),
        *((option, bad) for option in ("refresh", "accept") for bad in [*NO_DAYS, da.days("2024-01-05", "2024-01-20")]),
        *(("settle", bad) for bad in ("3 days", -1, 3600, True, timedelta(days=-1), timedelta(days=2_000))),
    ],
)
def test_an_option_that_is_invalid_is_refused_before_anything_is_sent(
    connect: Any, service: da.Sandbox, tmp_path: Path, option: str, bad: Any
) -> None:
    kind: Any = da.ConfigError if option == "settle" else da.ValidationError
    with pytest.raises(kind, check=about(option)):
        by_day(connect(service)).to_folder(tmp_path / "run", **{option: bad})
    assert (list(tmp_path.iterdir()), service.requests) == ([], [])


def test_a_folder_knows_no_secret_and_no_value_of_a_filter(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    assert service.issue_token().startswith("sbx_")
    client = connect(service, headers={"X-Api-Key": "secret-of-a-header"})
    holders = ["holder-1", "holder-4", "holder-secret"]
    scan = in_parts(1, by_day, client, ["id"], audience_type="customer", allocated_audience=holders)
    assert scan.to_folder(tmp_path).rows > 0
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    content = b"".join(path.read_bytes() for path in files)
    # The footers have the fields of conditions, and a digest of their values.
    assert b"allocated_audience" in content
    for secret in ("secret", "sbx_", "holder-"):
        assert secret.encode() not in content
        assert not [path for path in files if secret in str(path.relative_to(tmp_path))]


DEMO = """
import sys, warnings
import dataaccess as da
warnings.simplefilter("ignore")
client = da.Client("sandbox:demo?until=2024-02-29")
report = client.scan_codes(["id"], allocated_time=da.days("2024-01-14", "2024-01-18")).to_folder(sys.argv[1])
print(client.base_url, report.kept, len(report.files), report.rows)
"""


def test_the_demo_service_is_the_same_whatever_its_port(tmp_path: Path) -> None:
    def run() -> list[str]:
        done = subprocess.run([sys.executable, "-c", DEMO, str(tmp_path)], capture_output=True, text=True, check=True)
        return done.stdout.split()

    first, second = run(), run()
    assert first[0] != second[0]
    assert (first[1:3], second[1:3]) == (["0", "4"], ["4", "4"])
    assert first[3] == second[3] == str(len(rows_in(tmp_path)))


def names(folder: Path) -> list[str]:
    return [str(part.relative_to(folder)) for part in parts(folder)]


def test_a_scan_by_days_has_a_folder_for_each_and_parts_for_its_requests(
    connect: Any, service: da.Sandbox, tmp_path: Path
) -> None:
    by_day(connect(service)).to_folder(tmp_path / "one")
    assert names(tmp_path / "one") == [f"day=2024-01-0{day}/part-0.parquet" for day in range(1, 9)]
    # Empty, as polars reads hidden files that are not.
    assert left_in(tmp_path / "one") == [f"{HIDDEN}/lock"]
    assert (tmp_path / "one" / HIDDEN / "lock").read_bytes() == b""
    scan = in_parts(2, by_day, connect(service), allocated_audience=["holder-1", "holder-2", "holder-4"])
    report = scan.to_folder(tmp_path / "two")
    parts_of_days = [(day, part) for day in range(1, 9) for part in range(2)]
    assert names(tmp_path / "two") == [f"day=2024-01-0{day}/part-{part}.parquet" for day, part in parts_of_days]
    assert [task.day for task in report.files] == [f"2024-01-0{day}" for day, _ in parts_of_days]
    read = scan.read_folder(tmp_path / "two").to_polars().to_dicts()
    assert rows_in(tmp_path / "two") == read == scan.to_polars().to_dicts()


def test_the_files_of_other_scans_are_numbered(connect: Any, tmp_path: Path) -> None:
    rows = {str(number): [{"n": number, "text": "x"}] for number in range(12)}
    with responding(giving(rows)) as server:
        report = by_value(connect(server.base_url), list(rows)).to_folder(tmp_path)
    assert names(tmp_path) == [f"part-{number:05}.parquet" for number in range(12)]
    assert {task.day for task in report.files} == {None}
    assert pl.read_parquet(tmp_path)["n"].to_list() == list(range(12))


def test_each_library_reads_the_folder_with_its_days(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    scan = connect(service).scan_codes(allocated_time=DAYS)
    scan.to_folder(tmp_path)
    expected = scan.collect()
    counts = {date(2024, 1, day): rows for day, rows in enumerate(ROWS_OF_DAYS, 1) if rows}
    for frame in (pl.read_parquet(tmp_path), pl.scan_parquet(tmp_path).collect()):
        assert frame.drop("day").equals(expected.to_polars())
        assert dict(frame.group_by("day").len().iter_rows()) == counts
    pandas = pd.read_parquet(tmp_path, dtype_backend="pyarrow")
    pd.testing.assert_frame_equal(pandas.drop(columns="day"), expected.to_pandas(dtype_backend="pyarrow"))
    sizes = pandas.groupby("day", observed=True).size()
    assert {date.fromisoformat(str(day)): rows for day, rows in sizes.items() if rows} == counts
    table = pyarrow.dataset.dataset(tmp_path, partitioning="hive").to_table()
    assert table.drop_columns("day").equals(expected.to_arrow())
    for pattern in ("", "/*/*.parquet", "/**/*.parquet"):
        found = duckdb.sql(f"select day, count(*) from read_parquet('{tmp_path}{pattern}') group by day")
        assert found is not None
        assert dict(found.fetchall()) == counts
    empty = parts(tmp_path)[3]
    assert pl.read_parquet(empty).shape == (0, 10)
    assert pl.read_parquet_schema(empty) == pl.read_parquet_schema(parts(tmp_path)[0])
    read = scan.read_folder(tmp_path)
    assert (read.to_arrow().schema, read.to_pylist()) == (expected.to_arrow().schema, expected.to_pylist())
    assert (read.stats.rows, read.stats.bytes) == (ROWS, expected.stats.bytes)
    assert scan.last_stats == read.stats
    with pytest.raises(da.ValidationError, check=about("missing")):
        scan.read_folder(tmp_path, missing="skip")
    for missing in ("raise", "ignore"):
        with pytest.raises(da.FileError, check=lambda error: error.errno == errno.ENOENT):
            scan.read_folder(tmp_path / "none", missing=missing)


def test_the_report_has_the_figures_of_each_task(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    scan = by_day(connect(service))
    with service.fault("status", status=503, times=2, after=3):
        report = scan.to_folder(tmp_path)
    assert [task.id for task in scan.tasks()] == tasks_done(tmp_path)
    assert [task.path for task in report.files] == parts(tmp_path)
    days = [(f"2024-01-0{day}", rows) for day, rows in enumerate(ROWS_OF_DAYS, 1)]
    assert [(task.day, task.rows) for task in report.files] == days
    assert [task.bytes for task in report.files] == [path.stat().st_size for path in parts(tmp_path)]
    assert all(0 < task.seconds < 60 for task in report.files)
    assert sum(task.attempts for task in report.files) == len(service.requests) == 10
    assert (report.rows, report.requests, report.retries) == (ROWS, 10, 2)
    assert report.folder == tmp_path
    assert 0 < report.seconds < 60
    assert (report.maybe_capped, report.warnings, report.doubtful_days) == (False, [], [])
    assert json.loads(json.dumps(report.to_dict())) == report.to_dict()
    assert set(report.to_dict()) == {
        *("folder", "service", "query", "files", "warnings", "maybe_capped"),
        *("missing_days", "open_days", "unsettled_days", "doubtful_days", "days"),
        *("rows", "new", "kept", "refreshed", "requests", "retries", "seconds"),
    }
    # Of what an earlier run did, the second one has the attempts and not the retries.
    files = {path: path.stat().st_mtime_ns for path in parts(tmp_path)}
    again = scan.to_folder(tmp_path)
    assert (again.requests, again.retries, again.kept, len(service.requests)) == (0, 0, 8, 10)
    assert sum(task.attempts for task in again.files) == 10
    assert [(file.rows, file.bytes) for file in again.files] == [(file.rows, file.bytes) for file in report.files]
    assert {path: path.stat().st_mtime_ns for path in files} == files
    shown = [repr(one).replace(repr(str(tmp_path)), "…") for one in (report, again)]
    assert shown == ["FolderReport(107 rows in 8 files of …: 8 new)", "FolderReport(107 rows in 8 files of …: 8 kept)"]


def test_progress_is_reported_before_the_first_task_and_after_each(
    connect: Any, service: da.Sandbox, tmp_path: Path
) -> None:
    seen: list[da.Progress] = []
    report = by_day(connect(service)).to_folder(tmp_path, progress=seen.append)
    assert [progress.done for progress in seen] == list(range(9))
    assert {(progress.total, progress.failed) for progress in seen} == {(8, 0)}
    assert (seen[0].rows, seen[0].bytes, seen[0].day) == (0, 0, None)
    assert {progress.day for progress in seen[1:]} == {f"2024-01-0{day}" for day in range(1, 9)}
    assert (seen[-1].rows, seen[-1].bytes > 0) == (report.rows, True)
    last = seen[-1]
    for name in ("rows", "bytes", "seconds"):
        values = [getattr(progress, name) for progress in seen]
        assert values == sorted(values), name
    seen.clear()
    by_day(connect(service)).to_folder(tmp_path, progress=seen.append)
    assert [(progress.done, progress.rows, progress.bytes) for progress in seen] == [(8, report.rows, last.bytes)]


@pytest.mark.both_clients
def test_a_run_that_ends_incomplete_warns_too(connect: Any, tmp_path: Path) -> None:
    def give(connection: Any, value: str, _before: int) -> None:
        connection.sendall(http(b"", "400 Bad Request") if value == "1" else response_of([{"n": 1}]))

    with responding(give) as server:
        scan = by_value(connect(server.base_url), ["0", "1"])
        with pytest.warns(da.AbsentAttributeWarning, match="'text'"), pytest.raises(da.ScanIncompleteError) as caught:
            scan.to_folder(tmp_path / "warned")
        assert caught.value.report is not None
        assert len(caught.value.report.warnings) == 1
        with pytest.raises(da.ScanIncompleteError) as caught:
            # Warnings are errors here.
            scan.to_folder(tmp_path / "raised")
        assert caught.value.failed


@pytest.mark.parametrize("key", ["name", None, "na-Me", "title"])
def test_an_attribute_that_all_earlier_files_have_is_missed(connect: Any, tmp_path: Path, key: str | None) -> None:
    now = ["name"]

    def respond(connection: Any, number: int) -> None:
        connection.sendall(response_of([{"id": f"{n}", **dict.fromkeys(now, "x")} for n in range(10 + number)]))

    def days(stop: int) -> Any:
        client = connect(server.base_url)
        return client.scan_codes(["id", "name"], allocated_time=da.days("2024-01-01", f"2024-01-0{stop}"))

    with serving(respond) as server:
        days(4).to_folder(tmp_path)
        now[:] = [] if key is None else [key]
        if key == "name":
            # Warnings are errors here.
            assert days(5).to_folder(tmp_path).doubtful_days == []
            return
        with pytest.warns(da.AbsentAttributeWarning, match="'name'.*2024-01-04") as caught:
            report = days(5).to_folder(tmp_path)
        assert ("'na-Me'" in str(caught[0].message)) == (key == "na-Me")
        assert report.doubtful_days == ["2024-01-04"]
        # Each night that lacks it is named, until the user says that this is right.
        with pytest.warns(da.AbsentAttributeWarning, match="2024-01-04.* 1 "):
            report = days(6).to_folder(tmp_path)
        assert [bool(task.doubts) for task in report.files] == [False, False, False, True, True]
        days(7).to_folder(tmp_path, accept=["2024-01-04", "2024-01-05", "2024-01-06"])
        if key != "na-Me":
            days(8).to_folder(tmp_path)
            return
        # A key that may be the attribute's new name is no accident.
        with pytest.warns(da.AbsentAttributeWarning, match="2024-01-07.*'na-Me'"):
            days(8).to_folder(tmp_path)


def test_days_after_the_last_file_are_missing_if_they_should_be_there(
    connect: Any, service: da.Sandbox, tmp_path: Path
) -> None:
    scan_codes = connect(service).scan_codes
    scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-03")).to_folder(tmp_path / "days")
    scan_codes(["id"], allocated_time=da.since("2024-01-01")).to_folder(tmp_path / "flat")
    missing = ["2024-01-03", "2024-01-04"]
    ends: list[Any] = [(None, []), ("2024-01-01", []), ("2024-01-04", missing), (date(2024, 1, 4), missing)]
    for until, days in ends:
        assert da.folder_status(tmp_path / "days", until=until).missing_days == days
    days = [(datetime.now(UTC) - timedelta(days=ago)).date().isoformat() for ago in (1, 0)]
    # Midnight can pass meanwhile.
    assert da.folder_status(tmp_path / "days", until="yesterday").missing_days[-1] in days
    refused: list[tuple[str, Any]] = [("days", "soon"), ("days", "20240304"), ("days", 3), ("flat", "2024-01-04")]
    for folder, wrong in refused:
        with pytest.raises(da.ValidationError, check=about("until")):
            da.folder_status(tmp_path / folder, until=wrong)
    status = da.folder_status(tmp_path / "days")
    assert (status.folder, status.service, status.query["timezone"]) == (tmp_path / "days", service.base_url, "UTC")
