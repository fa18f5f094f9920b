"""Responses with less than the file that they would replace: the good file is kept, and the task is doubtful."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.raw_server import http
from support.runs import by_value, parts, responding, tasks_done
from support.streams import response_of

import dataaccess as da

Response = Callable[[str], bytes]


def rows(*numbers: int | None, text: str | None = "x") -> bytes:
    """A response with these numbers."""
    return response_of([{"n": number, "text": text} for number in numbers])


class Nights:
    """A service whose response for the value 2 changes from night to night."""

    def __init__(self) -> None:
        """Ten rows for each value."""
        self.second = rows(*range(10))

    def give(self, connection: Any, value: str, _before: int) -> None:
        """Responds."""
        connection.sendall(self.second if value == "2" else rows(*range(10)))


@pytest.fixture
def nights() -> Nights:
    """A service after whose first night all is there."""
    return Nights()


def contents(folder: Path) -> list[Any]:
    """The rows of the files."""
    return [pq.read_table(path, partitioning=None).to_pylist() for path in parts(folder)]


WORSE: dict[str, tuple[bytes, str]] = {
    "nothing": (rows(), r"\b0 .*\b10 "),
    "an empty object": (http({"code": 200, "message": "ok", "data": {}}), r"\b0 .*\b10 "),
    "less than half": (rows(1, 2, 3, 4), r"\b4 .*\b10 "),
    "one of nulls": (rows(None, text=None), r"\b1 .*\b10 "),
    "a column of nulls": (rows(*range(10), text=None), r"\btext\b"),
    "a column that is absent": (response_of([{"n": n} for n in range(10)]), r"\btext\b"),
}


@pytest.mark.fault("S12")
@pytest.mark.both_clients
@pytest.mark.filterwarnings("ignore::dataaccess.AbsentAttributeWarning")
@pytest.mark.parametrize("name", WORSE)
def test_a_good_file_is_not_replaced_by_less(connect: Any, nights: Nights, tmp_path: Path, name: str) -> None:
    response, lacks = WORSE[name]
    with responding(nights.give) as server:
        scan = by_value(connect(server.base_url), ["1", "2", "3"])
        scan.to_folder(tmp_path)
        before = contents(tmp_path)
        nights.second = response
        with pytest.warns(da.ShrunkWarning, match=lacks) as caught:
            report = scan.to_folder(tmp_path)
        (warning,) = [each for each in caught if each.category is da.ShrunkWarning]
        assert contents(tmp_path)[1] == before[1]
        task = report.files[1]
        (doubt,) = task.doubts
        assert re.search(lacks, doubt)
        assert (task.rows, task.rows_before, task.state == "kept") == (10, 10, True)
        assert [task.state == "refreshed" for task in report.files] == [True, False, True]
        assert str(warning.message) in str(report)
        with pytest.raises(da.ScanIncompleteError, check=lambda error: len(error.failed) == 1):
            scan.to_folder(tmp_path, on_doubt="error")
        assert contents(tmp_path)[1] == before[1]
        report = scan.to_folder(tmp_path, accept="all")
        assert (report.files[1].doubts, report.files[1].rows_before) == ([], 10)
        assert contents(tmp_path)[1] != before[1]


@pytest.mark.parametrize("response", [rows(*range(10, 20)), rows(*range(9)), rows(*range(500))])
def test_other_rows_replace_the_file(connect: Any, nights: Nights, tmp_path: Path, response: bytes) -> None:
    with responding(nights.give) as server:
        scan = by_value(connect(server.base_url), ["1", "2", "3"])
        scan.to_folder(tmp_path)
        nights.second = response
        # Warnings are errors here.
        report = scan.to_folder(tmp_path)
        assert (report.refreshed, report.files[1].rows_before, report.files[1].doubts) == (3, 10, [])


def test_a_file_that_loses_a_tenth_is_replaced_and_doubtful_until_it_is_accepted(
    connect: Any, nights: Nights, tmp_path: Path
) -> None:
    with responding(nights.give) as server:
        scan = by_value(connect(server.base_url), ["1", "2"])
        scan.to_folder(tmp_path)
        nights.second = rows(*range(6))
        with pytest.warns(da.ShrunkWarning):
            report = scan.to_folder(tmp_path)
        assert [task.rows for task in report.files] == [10, 6]
        assert [len(task.doubts) for task in report.files] == [0, 1]
        assert [len(part.doubts) for part in da.folder_status(tmp_path).files] == [0, 1]
        with pytest.warns(da.ShrunkWarning):
            scan.read_folder(tmp_path)
        # Warnings are errors here. Accepted rows are no news as long as they are as many.
        assert scan.to_folder(tmp_path, accept="all").doubtful_days == []
        assert scan.to_folder(tmp_path).doubtful_days == []
        nights.second = rows(*range(5))
        with pytest.warns(da.ShrunkWarning):
            scan.to_folder(tmp_path)


def test_days_that_are_refreshed_keep_what_they_have(connect: Any, tmp_path: Path) -> None:
    """As a service that loses its index: 200 and no rows."""
    with da.Sandbox() as service:
        codes = [
            {"id": f"{day}-{n}", "allocated_time": f"2024-01-0{day} 09:00:00"} for day in (1, 2) for n in range(9 + day)
        ]
        service.load("promotion_code", codes)
        scan = connect(service).scan_codes(["id", "allocated_time"], allocated_time=da.days("2024-01-01", "2024-01-03"))
        scan.to_folder(tmp_path)
        service.clear("promotion_code")
        with pytest.warns(da.ShrunkWarning, match=r"2024-01-01: .*\b0 .* 10 .*2024-01-02: .*\b0 .* 11 "):
            report = scan.to_folder(tmp_path, refresh=["2024-01-01", "2024-01-02"])
        assert (report.rows, report.kept) == (21, 2)
        with pytest.warns(da.ShrunkWarning, match="2024-01-01"):
            assert len(scan.read_folder(tmp_path)) == 21


def test_a_damaged_file_may_be_replaced_by_anything(connect: Any, tmp_path: Path) -> None:
    with da.Sandbox() as service:
        service.load("promotion_code", [{"id": "a", "allocated_time": "2024-01-01 09:00:00"}])
        scan = connect(service).scan_codes(["id", "allocated_time"], allocated_time=da.on("2024-01-01"))
        scan.to_folder(tmp_path)
        (path,) = parts(tmp_path)
        path.write_bytes(path.read_bytes()[:-30])
        service.clear("promotion_code")
        report = scan.to_folder(tmp_path, refresh="2024-01-01")
        assert (report.rows, report.refreshed, report.files[0].rows_before) == (0, 1, None)


def test_a_response_without_data_finishes_no_task(connect: Any, tmp_path: Path) -> None:
    """Other uses warn of it."""
    with responding(
        lambda connection, _value, _before: connection.sendall(http({"code": 200, "message": "ok"}))
    ) as server:
        scan = by_value(connect(server.base_url), ["1", "2"])
        with pytest.warns(da.IncompleteWarning, match="2 of 2 .*`data`"):
            assert scan.to_dicts() == []
        with pytest.raises(da.ScanIncompleteError, match="`data`", check=lambda error: len(error.failed) == 2):
            scan.to_folder(tmp_path)
    assert tasks_done(tmp_path) == []


@pytest.mark.slow
def test_what_is_replaced_has_at_least_half(tmp_path_factory: pytest.TempPathFactory) -> None:
    counts = st.integers(0, 12)

    @settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
    @given(counts, counts)
    def check(before: int, now: int) -> None:
        nights = Nights()
        nights.second, folder = rows(*range(before)), tmp_path_factory.mktemp("nights")
        with responding(nights.give) as server:
            scan = by_value(da.Client(server.base_url, token="tok-test"), ["1", "2"])
            scan.to_folder(folder)
            nights.second = rows(*range(now))
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                report = scan.to_folder(folder)
        assert report.files[1].rows == (before if now * 2 < before else now)
        assert any(each.category is da.ShrunkWarning for each in caught) == (now * 10 < before * 9)

    check()
