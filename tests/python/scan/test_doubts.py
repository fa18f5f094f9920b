"""Doubts: what has less replaces nothing (S12), and a day stays in doubt until it was requested without one (S16).

`on_doubt=` decides before anything is written (S17). Scans without days make a new snapshot each time (S13).
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime
from logging import WARNING
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from support.raw_server import http, serving
from support.runs import by_value, parts, responding, values_asked
from support.streams import response_of

import dataaccess as da


def row(identity: str, day: str = "2024-01-01", **values: Any) -> dict[str, Any]:
    return {"id": identity, "allocated_time": f"{day} 09:00:00", **values}


@pytest.fixture
def service() -> Iterator[da.Sandbox]:
    """A service whose days are not ours: a request for a day returns rows of another one."""
    with da.Sandbox(switches={"day_zone": "Asia/Tokyo"}) as service:
        service.load("promotion_code", [row(f"a-{n}") for n in range(5)])
        service.load("promotion_code", [{"id": "late", "allocated_time": "2023-12-31 16:00:00"}])
        yield service


async def refuses(_found: Any) -> bool:
    return False


# What `on_doubt` is, and what is raised.
REFUSALS: list[tuple[Any, type[BaseException]]] = [
    ("warn", da.StrayDayWarning),
    ("error", da.DoubtfulDataError),
    (lambda stats: stats.rows > 6, da.DoubtfulDataError),
    (lambda stats: stats.rows / 0, ZeroDivisionError),
    (lambda _stats: "no", da.ValidationError),
    (refuses, da.ValidationError),
]


@pytest.mark.both_clients
@pytest.mark.parametrize("method", ["to_parquet", "to_csv", "to_jsonl"])
@pytest.mark.parametrize(("on_doubt", "error"), REFUSALS)
def test_a_file_is_replaced_by_what_looks_right_or_is_accepted(
    connect: Any, service: da.Sandbox, tmp_path: Path, method: str, on_doubt: Any, error: Any
) -> None:
    scan = connect(service).scan_codes(["id", "allocated_time"], allocated_time=da.on("2024-01-01"))
    write = getattr(scan, method)
    path, target = tmp_path / f"codes.{method.removeprefix('to_')}", io.BytesIO()
    path.write_bytes(b"before")
    for place in (path, target):
        # A warning that is an error decides before a function is asked.
        action: Any = "ignore" if callable(on_doubt) else "error"
        with warnings.catch_warnings(action=action), pytest.raises(error) as caught:
            write(place, on_doubt=on_doubt)
        # Also while somebody keeps the error.
        assert list(tmp_path.iterdir()) == [path]
    assert (path.read_bytes(), target.getvalue()) == (b"before", b"")
    if error is da.DoubtfulDataError:
        assert (caught.value.exit_code, caught.value.retryable) == (65, False)
    seen: list[Any] = []

    def accept(stats: da.ScanStats) -> Any:
        seen.append((stats.rows, path.read_bytes()))
        return np.bool_(True)

    with pytest.warns(da.StrayDayWarning):
        write(path, on_doubt=accept)
    assert seen == [(6, b"before")]
    assert path.read_bytes() != b"before"
    # A function is asked about what looks right too.
    service.switch(day_zone="UTC")
    with pytest.raises(da.DoubtfulDataError):
        write(path, on_doubt=lambda stats: stats.rows > 5)


@pytest.mark.fault("S17")
@pytest.mark.both_clients
@pytest.mark.parametrize("how", ["warn", "error", lambda task: not task.doubts], ids=["warnings", "error", "function"])
def test_a_run_replaces_no_file_by_a_doubtful_one(connect: Any, service: da.Sandbox, tmp_path: Path, how: Any) -> None:
    days = da.days("2024-01-01", "2024-01-03")
    scan = connect(service).scan_codes(["id", "allocated_time"], allocated_time=days)
    service.switch(day_zone="UTC")
    scan.to_folder(tmp_path)
    before = [path.read_bytes() for path in parts(tmp_path)]
    service.switch(day_zone="Asia/Tokyo")
    # Warnings are errors here.
    with pytest.raises(da.ScanIncompleteError) as caught:
        scan.to_folder(tmp_path, refresh="all", on_doubt=how)
    ((name, error),) = caught.value.failed.items()
    assert isinstance(error, da.DoubtfulDataError)
    assert (name[:10], caught.value.exit_code) == ("2024-01-01", 65)
    assert caught.value.report is not None
    assert [task.state for task in caught.value.report.files] == ["kept", "refreshed"]
    assert parts(tmp_path)[0].read_bytes() != before[0], "it remembers its doubt"
    with pytest.warns(da.StrayDayWarning):
        assert [row["id"] for row in scan.read_folder(tmp_path).to_pylist()] == [f"a-{n}" for n in range(5)]
    with pytest.warns(da.StrayDayWarning):
        assert scan.to_folder(tmp_path, refresh="all").rows == 6


def test_a_function_sees_every_task_of_a_run(connect: Any, sandbox: da.Sandbox, tmp_path: Path) -> None:
    scan = connect(sandbox).scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-06"))
    accept = Mock(return_value=True)
    scan.to_folder(tmp_path, on_doubt=accept)
    seen = [task for ((task,), _) in accept.call_args_list]
    assert sorted(task.day for task in seen) == [f"2024-01-0{day}" for day in range(1, 6)]
    assert {task.path for task in seen} == {None}
    with pytest.raises(da.ScanIncompleteError) as caught:
        scan.to_folder(tmp_path / "other", on_doubt=lambda _: False)
    assert [type(error) for error in caught.value.failed.values()] == [da.DoubtfulDataError] * 5
    for on_doubt, error in REFUSALS[3:]:
        with pytest.raises(error):
            scan.to_folder(tmp_path / "third", on_doubt=on_doubt)
    assert list((tmp_path / "third").rglob("*.parquet")) == []


def numbered(*numbers: int | None, text: str | None = "x") -> bytes:
    return response_of([{"n": number, "text": text} for number in numbers])


def contents(folder: Path) -> list[Any]:
    return [pq.read_table(path, partitioning=None).to_pylist() for path in parts(folder)]


WORSE: dict[str, tuple[bytes, str]] = {
    "nothing": (numbered(), r"\b0 .*\b10 "),
    "an empty object": (http({"code": 200, "message": "ok", "data": {}}), r"\b0 .*\b10 "),
    "less than half": (numbered(1, 2, 3, 4), r"\b4 .*\b10 "),
    "one of nulls": (numbered(None, text=None), r"\b1 .*\b10 "),
    "a column of nulls": (numbered(*range(10), text=None), r"\btext\b"),
    "a column that is absent": (response_of([{"n": n} for n in range(10)]), r"\btext\b"),
}


@pytest.mark.both_clients
@pytest.mark.filterwarnings("ignore::dataaccess.AbsentAttributeWarning")
@pytest.mark.parametrize("name", WORSE)
def test_a_good_file_is_not_replaced_by_less(
    connect: Any, tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    response, lacks = WORSE[name]
    responses = dict.fromkeys(["1", "2", "3"], numbered(*range(10)))
    with responding(lambda connection, value, _: connection.sendall(responses[value])) as server:
        scan = by_value(connect(server.base_url), ["1", "2", "3"])
        scan.to_folder(tmp_path)
        before = contents(tmp_path)
        responses["2"] = response
        with pytest.warns(da.ShrunkWarning, match=lacks) as caught:
            report = scan.to_folder(tmp_path)
        (warning,) = [each for each in caught if each.category is da.ShrunkWarning]
        # A job at night has the log alone.
        logged = [text for name, level, text in caplog.record_tuples if (name, level) == ("dataaccess.run", WARNING)]
        assert any(re.search(lacks, text) for text in logged)
        assert contents(tmp_path)[1] == before[1]
        (doubt,) = report.files[1].doubts
        assert re.search(lacks, doubt)
        assert (report.files[1].rows, report.files[1].rows_before) == (10, 10)
        assert [task.state for task in report.files] == ["refreshed", "kept", "refreshed"]
        assert str(warning.message) in str(report)
        with pytest.raises(da.ScanIncompleteError, check=lambda error: len(error.failed) == 1):
            scan.to_folder(tmp_path, on_doubt="error")
        assert contents(tmp_path)[1] == before[1]
        report = scan.to_folder(tmp_path, accept="all")
        assert (report.files[1].doubts, report.files[1].rows_before) == ([], 10)
        assert contents(tmp_path)[1] != before[1]


Day = list[dict[str, Any]]


def days_of(counts: list[int]) -> list[Day]:
    return [codes_of(day, count) for day, count in enumerate(counts, 1)]


def codes_of(day: int, count: int, **values: Any) -> Day:
    return [row(f"{day}-{number}", f"2024-01-{day:02}", name="x") | values for number in range(count)]


FEW = [12, 14, 16, 18]
# The days, those in doubt, and the class of the warning.
DOUBTS: dict[str, tuple[list[Day], list[int], type[Warning] | None]] = {
    "different numbers": (days_of(FEW), [], None),
    "hardly any rows beside neighbors": (days_of([*range(40, 50), 9, *range(50, 53)]), [11], da.IncompleteWarning),
    "a day that is free each week": (days_of([*range(41, 47), 0, *range(47, 53), 0, 53, 54]), [], None),
    "equal highest numbers": (days_of([150, 150, 7, 150]), [1, 2, 4], da.IncompleteWarning),
    "three equal numbers": (days_of([73, 73, 73]), [1, 2, 3], da.IncompleteWarning),
    "a higher number": (days_of([150, 150, 151, 150]), [], None),
    "small equal numbers": (days_of([9, 9, 9, 9]), [], None),
    "a round number": (days_of([1_000, 7]), [1], da.IncompleteWarning),
    "no id": ([*days_of(FEW), [*codes_of(5, 12), *codes_of(5, 1, id=None)]], [5], da.DataAccessWarning),
    "an id twice": ([*days_of(FEW), codes_of(5, 13)[:12] * 2], [5], da.DataAccessWarning),
    "no value in a column": ([*days_of(FEW), codes_of(5, 13, name=None)], [5], da.AbsentAttributeWarning),
    "a row of another day": ([*days_of(FEW), [*codes_of(5, 13), *codes_of(7, 1)]], [5], da.StrayDayWarning),
}


@pytest.mark.parametrize("name", DOUBTS)
def test_what_looks_wrong_in_a_run_is_named_refused_or_accepted(connect: Any, tmp_path: Path, name: str) -> None:
    found, wrong, category = DOUBTS[name]
    doubtful_days = [f"2024-01-{day:02}" for day in wrong]

    def give(connection: Any, number: int) -> None:
        milliseconds = server.requests[number].json["filters"]["OR"][0]["AND"][-1]["value"]
        connection.sendall(response_of(found[datetime.fromtimestamp(milliseconds / 1000, UTC).day - 1]))

    with serving(give) as server:
        days = da.days("2024-01-01", f"2024-01-{len(found) + 1:02}")
        scan = connect(server.base_url).scan_codes(["id", "allocated_time", "name"], allocated_time=days)
        with warnings.catch_warnings(record=True, action="always") as caught:
            report = scan.to_folder(tmp_path)
        assert [each.category for each in caught] == ([] if category is None else [category])
        assert report.doubtful_days == da.folder_status(tmp_path).doubtful_days == doubtful_days
        if category is None:
            assert scan.to_folder(tmp_path, refresh="all", on_doubt="error").refreshed == len(found)
            return
        # What only all days together show is no error of one of them.
        with pytest.raises((da.ScanIncompleteError, da.DoubtfulDataError)) as refused:
            scan.to_folder(tmp_path, refresh="all", on_doubt="error")
        assert (refused.value.exit_code, refused.value.report is not None) == (65, True)
        assert {task[:10] for task in getattr(refused.value, "failed", {})} <= set(doubtful_days)
        # Warnings are errors here.
        assert scan.to_folder(tmp_path, accept=doubtful_days, on_doubt="error").doubtful_days == []
        assert scan.to_folder(tmp_path, refresh="all", on_doubt="error").doubtful_days == []
        assert da.folder_status(tmp_path).doubtful_days == []


# Nights: the values whose requests fail, those without rows, `refresh`, the values that are asked for, how many files
# are kept, new and refreshed, and the rows then, each with its value and the number of the request for it: 23.
NIGHTS: dict[str, list[tuple[str, str, Any, str, tuple[int, int, int], list[int]]]] = {
    "broken off": [
        ("2", "", None, "123", (0, 2, 0), [11, 31]),
        ("", "", None, "2", (2, 1, 0), [11, 22, 31]),
        ("3", "", None, "123", (1, 0, 2), [12, 23, 31]),
        ("", "", None, "3", (2, 0, 1), [12, 23, 33]),
        ("", "", None, "123", (0, 0, 3), [13, 24, 34]),
    ],
    "not resumed by a refresh": [
        ("23", "", None, "123", (0, 1, 0), [11]),
        ("1", "", "all", "231", (1, 2, 0), [11, 22, 32]),
        # The file of the first night and the files of the second are of two snapshots.
        ("", "", None, "1", (2, 0, 1), [13, 22, 32]),
    ],
    "one that keeps a task": [
        ("", "", None, "123", (0, 3, 0), [11, 21, 31]),
        ("", "2", None, "123", (1, 0, 2), [12, 21, 32]),
        ("", "2", None, "123", (1, 0, 2), [13, 21, 33]),
        ("", "", None, "123", (0, 0, 3), [14, 24, 34]),
    ],
}


@pytest.mark.fault("S13")
@pytest.mark.filterwarnings("ignore::dataaccess.ShrunkWarning")
@pytest.mark.parametrize("name", NIGHTS)
def test_a_snapshot_is_completed_and_then_made_anew(connect: Any, tmp_path: Path, name: str) -> None:
    fails = is_empty = ""

    def give(connection: Any, value: str, before: int) -> None:
        rows = [] if value in is_empty else [{"n": 10 * int(value) + before + 1, "text": "x"}]
        connection.sendall(http(b"", "400 Bad Request") if value in fails else response_of(rows))

    with responding(give) as server:
        scan = by_value(connect(server.base_url, concurrency=1), ["1", "2", "3"])
        for fails, is_empty, refresh, values, counts, rows in NIGHTS[name]:
            asked = len(values_asked(server))
            try:
                report: Any = scan.to_folder(tmp_path, refresh=refresh)
            except da.ScanIncompleteError as error:
                report, failed = error.report, len(error.failed)
            else:
                failed = 0
                assert [bool(task.doubts) for task in report.files] == [value in is_empty for value in "123"]
            assert (failed, "".join(values_asked(server)[asked:])) == (len(fails), values)
            assert (report.kept, report.new, report.refreshed) == counts
            assert sorted(pl.read_parquet(tmp_path)["n"].to_list()) == rows
