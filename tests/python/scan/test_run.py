"""Runs into a folder: its files, what a second run requests, and the reports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.arguments import about
from support.runs import (
    HIDDEN,
    ROWS,
    ROWS_OF_DAYS,
    by_day,
    left_in,
    parts,
    rows_in,
)

import dataaccess as da


def test_a_second_run_asks_for_nothing(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    scan = by_day(connect(service))
    first = scan.to_folder(tmp_path / "run")
    assert len(service.requests) == len(ROWS_OF_DAYS)
    files = {path: path.stat().st_mtime_ns for path in parts(tmp_path / "run")}
    service.clear_requests()
    second = by_day(connect(service)).to_folder(str(tmp_path / "run"))
    assert service.requests == []
    assert (second.rows, second.requests, second.retries) == (first.rows, 0, 0)
    assert [file.bytes for file in second.files] == [file.bytes for file in first.files]
    assert [task.state == "kept" for task in first.files + second.files] == [False] * 8 + [True] * 8
    assert {path: path.stat().st_mtime_ns for path in files} == files


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
    import asyncio

    messages: list[int] = []

    async def on_progress(progress: da.Progress) -> None:
        await asyncio.sleep(0.01)
        messages.append(progress.done)

    by_day(connect(service)).to_folder(tmp_path, progress=on_progress)
    assert messages == list(range(9))


def test_a_coroutine_function_is_refused_by_the_sync_client(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    async def on_progress(_progress: da.Progress) -> None: ...

    with pytest.raises(TypeError, match=r"\bprogress\b.*\bAsyncClient\b"):
        by_day(connect(service)).to_folder(tmp_path, progress=on_progress)


@pytest.mark.both_clients
def test_a_callback_that_raises_ends_the_run_and_what_is_done_is_kept(
    connect: Any, service: da.Sandbox, tmp_path: Path
) -> None:
    scan = by_day(connect(service, concurrency=2))

    def on_progress(progress: da.Progress) -> None:
        if progress.done == 3:
            raise ZeroDivisionError("on purpose")

    with pytest.raises(ZeroDivisionError, match="on purpose"):
        scan.to_folder(tmp_path, progress=on_progress)
    # At once, though requests in flight may still be closing.
    report = scan.to_folder(tmp_path)
    assert report.kept >= 3
    assert len(service.requests) <= 8 + 2
    assert rows_in(tmp_path) == scan.to_polars().to_dicts()


def test_a_scan_of_one_request_is_a_run_of_one_task(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    scan = connect(service).scan_codes(["id", "pool_id"], allocated_time=da.on("2024-01-02"))
    report = scan.to_folder(tmp_path)
    assert [file.rows for file in report.files] == [41]
    assert rows_in(tmp_path) == scan.to_dicts()
    assert repr(report).startswith("FolderReport(41 rows in 1 file of ")


def test_a_task_without_rows_has_a_file_of_the_same_columns(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    report = by_day(connect(service)).to_folder(tmp_path)
    empty = report.files[3]
    assert empty.rows == 0
    assert pl.read_parquet_schema(parts(tmp_path)[3]) == pl.read_parquet_schema(parts(tmp_path)[0])
    assert empty.bytes > 0


def test_a_limit_is_refused(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    with pytest.raises(da.ValidationError, check=about("limit")):
        by_day(connect(service), limit=5).to_folder(tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("bad", ["yes", 1])
@pytest.mark.parametrize("option", ["requested_at", "same_service", "on_doubt"])
def test_an_option_that_is_invalid_is_refused(
    connect: Any, service: da.Sandbox, tmp_path: Path, option: str, bad: Any
) -> None:
    with pytest.raises(da.ValidationError, check=about(option)):
        by_day(connect(service)).to_folder(tmp_path / "run", **{option: bad})
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("folder", [None, 7, b"run"])
def test_a_folder_that_is_no_path_is_refused(connect: Any, service: da.Sandbox, folder: Any) -> None:
    with pytest.raises(TypeError):
        by_day(connect(service)).to_folder(folder)
    assert service.requests == []


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
    by_day(client, ["id"], audience_type="customer", allocated_audience=["holder-1", "holder-secret"]).to_folder(
        tmp_path
    )
    for path in [*parts(tmp_path), *(tmp_path / name for name in left_in(tmp_path))]:
        for secret in (b"secret", b"sbx_", b"holder-"):
            assert secret not in path.read_bytes(), path


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
