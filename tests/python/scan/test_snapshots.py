"""Scans without days into a folder: each run makes a new snapshot, and one that was broken off is completed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.raw_server import http
from support.runs import by_value, responding, values_asked
from support.streams import response_of

import dataaccess as da


def rows_of(folder: Path) -> list[int]:
    """The numbers in a folder."""
    return sorted(pl.read_parquet(folder)["n"].to_list())


@pytest.mark.both_clients
def test_each_run_replaces_a_scan_without_days(connect: Any, tmp_path: Path) -> None:
    with da.Sandbox() as service:
        scan = connect(service).scan_codes(["id"], allocated_time=da.since("2024-01-01"))
        service.load("promotion_code", [{"id": "a", "allocated_time": "2024-01-15 12:00:00"}])
        assert scan.to_folder(tmp_path).rows == 1
        service.load("promotion_code", [{"id": "b", "allocated_time": "2024-01-15 13:00:00"}])
        report = scan.to_folder(tmp_path)
        assert (report.rows, report.new, report.kept, report.refreshed) == (2, 0, 0, 1)


def numbered(fails: set[str]) -> Callable[[Any, str, int], None]:
    """Each response has the number of its request for its value, from 1 on, and the value: `c3`."""

    def give(connection: Any, value: str, before: int) -> None:
        failure = http(b"", "400 Bad Request")
        connection.sendall(
            failure if value in fails else response_of([{"n": 10 * int(value) + before + 1, "text": "x"}])
        )

    return give


@pytest.mark.fault("S13")
def test_a_snapshot_that_was_broken_off_is_completed(connect: Any, tmp_path: Path) -> None:
    fails = {"2"}
    with responding(numbered(fails)) as server:
        scan = by_value(connect(server.base_url, concurrency=1), ["1", "2", "3"])
        with pytest.raises(da.ScanIncompleteError):
            scan.to_folder(tmp_path)
        fails.clear()
        assert (scan.to_folder(tmp_path).kept, rows_of(tmp_path)) == (2, [11, 22, 31])
        fails.add("3")
        with pytest.raises(da.ScanIncompleteError, check=lambda error: len(error.failed) == 1):
            scan.to_folder(tmp_path)
        assert rows_of(tmp_path) == [12, 23, 31]
        fails.clear()
        asked = len(values_asked(server))
        report = scan.to_folder(tmp_path)
        assert (values_asked(server)[asked:], report.kept, report.refreshed) == (["3"], 2, 1)
        assert rows_of(tmp_path) == [12, 23, 33]
        asked = len(values_asked(server))
        assert scan.to_folder(tmp_path).refreshed == 3
        assert values_asked(server)[asked:] == ["1", "2", "3"]


def test_a_refresh_of_all_resumes_no_snapshot(connect: Any, tmp_path: Path) -> None:
    fails = {"2", "3"}
    with responding(numbered(fails)) as server:
        scan = by_value(connect(server.base_url, concurrency=1), ["1", "2", "3"])
        with pytest.raises(da.ScanIncompleteError):
            scan.to_folder(tmp_path)
        fails.clear()
        fails.add("1")
        with pytest.raises(da.ScanIncompleteError):
            scan.to_folder(tmp_path, refresh="all")
        fails.clear()
        report = scan.to_folder(tmp_path)
        # The file of the first run is of another snapshot than those of the second.
        assert (report.kept, report.refreshed, rows_of(tmp_path)[0]) == (2, 1, 13)
