"""Runs into a folder: its files and their names, who reads them, arguments that are refused, and callbacks."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow.dataset
import pytest
from support.arguments import about
from support.parts import in_parts
from support.runs import (
    DAYS,
    HIDDEN,
    ROWS,
    ROWS_OF_DAYS,
    by_day,
    by_value,
    left_in,
    parts,
    responding,
    rows_in,
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


def test_a_coroutine_function_is_refused_by_the_sync_client(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    async def on_progress(_progress: da.Progress) -> None: ...

    with pytest.raises(TypeError, match=r"\bprogress\b"):
        by_day(connect(service)).to_folder(tmp_path, progress=on_progress)


@pytest.mark.both_clients
def test_a_callback_that_raises_ends_the_run_and_what_is_done_is_kept(
    connect: Any, service: da.Sandbox, tmp_path: Path
) -> None:
    scan = by_day(connect(service, concurrency=2))

    def on_progress(progress: da.Progress) -> None:
        if progress.done == 3:
            raise ZeroDivisionError("on purpose")

    with pytest.raises(ZeroDivisionError):
        scan.to_folder(tmp_path, progress=on_progress)
    # At once, though requests in flight may still be closing.
    report = scan.to_folder(tmp_path)
    assert report.kept >= 3
    assert len(service.requests) <= 8 + 2
    assert rows_in(tmp_path) == scan.to_polars().to_dicts()


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


def test_what_has_no_folder_is_refused(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    scan = by_day(connect(service))
    with pytest.raises(da.ValidationError, check=about("limit")):
        by_day(connect(service), limit=5).to_folder(tmp_path / "run")
    for folder in (None, 7, b"run"):
        with pytest.raises(TypeError):
            scan.to_folder(folder)
    every = connect(service).scan_codes(["id"], allocated_time=da.after("2024-01-01"))
    with pytest.raises(da.ValidationError, check=about("refresh")):
        every.to_folder(tmp_path / "run", refresh="2024-01-02")
    items = connect("http://127.0.0.1:1").scan_items("store", ["requested_at"], da.col("n").equals("1"), item_type_id=7)
    with pytest.raises(da.ValidationError, check=about("requested_at")):
        items.to_folder(tmp_path / "run", requested_at=True)
    with pytest.raises(da.ValidationError, check=about("missing")):
        scan.read_folder(tmp_path, missing="skip")
    for missing in ("raise", "ignore"):
        with pytest.raises(da.FileError) as caught:
            scan.read_folder(tmp_path / "none", missing=missing)
        assert (caught.value.errno, caught.value.path) == (errno.ENOENT, str(tmp_path / "none"))
    with pytest.raises(da.ScanIncompleteError, match=r"\b8\b"):
        scan.read_folder(tmp_path)
    assert scan.read_folder(tmp_path, missing="ignore").schema == scan.head(0).schema
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="only POSIX has these modes")
@pytest.mark.parametrize(("umask", "folders", "files"), [(0o022, "0o755", "0o644"), (0o077, "0o700", "0o600")])
def test_what_is_written_has_the_mode_of_any_new_file(
    connect: Any, service: da.Sandbox, tmp_path: Path, umask: int, folders: str, files: str
) -> None:
    folder = tmp_path / "made" / "here"
    before = os.umask(umask)
    try:
        by_day(connect(service)).to_folder(folder)
    finally:
        os.umask(before)
    modes = {path: oct(path.stat().st_mode & 0o777) for path in [folder.parent, folder, *folder.rglob("*")]}
    days = {path for path in modes if path.is_dir() and path.parent == folder and path.name != HIDDEN}
    assert len(days) == 8
    assert {mode for path, mode in modes.items() if path.is_dir() and path not in days} == {folders}
    # All who may open the lock could hold it for ever.
    assert modes.pop(folder / HIDDEN / "lock") == "0o600"
    assert {mode for path, mode in modes.items() if path.is_file()} == {files}


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


# The names of files, and who reads them.


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


def test_days_of_any_object_name_its_files(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    service.declare("visit", 7, {"id": "string", "at": "datetime", "area": "string"})
    rows = [{"id": str(n), "at": f"2024-01-0{n % 3 + 1} 10:00:00", "area": "a" if n % 2 else "b"} for n in range(9)]
    service.load("visit", rows, replace=True)
    where = da.col("at").on(da.days("2024-01-01", "2024-01-04")) & da.col("area").matches(["a"])
    scan = connect(service).scan_items("visit", ["id", "at"], where, item_type_id=7)
    scan.to_folder(tmp_path)
    assert names(tmp_path) == [f"day=2024-01-0{day}/part-0.parquet" for day in range(1, 4)]
    assert sorted(row["id"] for row in rows_in(tmp_path)) == ["1", "3", "5", "7"]


def test_the_day_is_that_of_the_clients_zone(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    for zone in ("Pacific/Kiritimati", "America/Los_Angeles"):
        client = connect(service, timezone=zone)
        client.scan_codes(["id"], allocated_time=da.on("2024-01-02")).to_folder(tmp_path / zone)
        assert names(tmp_path / zone) == ["day=2024-01-02/part-0.parquet"]


def test_the_files_of_other_scans_are_numbered(connect: Any, tmp_path: Path) -> None:
    values = [str(number) for number in range(12)]
    with responding(
        lambda connection, value, _: connection.sendall(response_of([{"n": int(value), "text": "x"}]))
    ) as server:
        report = by_value(connect(server.base_url), values).to_folder(tmp_path)
    assert names(tmp_path) == [f"part-{number:05}.parquet" for number in range(12)]
    assert {task.day for task in report.files} == {None}
    assert pl.read_parquet(tmp_path)["n"].to_list() == list(range(12))


def test_days_before_1973_have_their_names(connect: Any, tmp_path: Path) -> None:
    rows = [
        {"id": "a", "allocated_time": "1969-12-31 12:00:00"},
        {"id": "b", "allocated_time": "1970-01-01 12:00:00"},
    ]
    with da.Sandbox() as early:
        early.load("promotion_code", rows)
        days = da.days("1969-12-31", "1970-01-02")
        old = connect(early).scan_codes(["id", "allocated_time"], allocated_time=days)
        report = old.to_folder(tmp_path)
        assert [task.day for task in report.files] == ["1969-12-31", "1970-01-01"]
        assert sorted(path.name for path in tmp_path.glob("day=*")) == ["day=1969-12-31", "day=1970-01-01"]
        assert old.read_folder(tmp_path)["id"] == ["a", "b"]


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
