"""Reports of a run: its stats, its progress, and signs that rows are missing."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from support.raw_server import http, serving
from support.runs import (
    ROWS,
    ROWS_OF_DAYS,
    by_day,
    by_value,
    giving,
    numbers_in,
    parts,
    reasons,
    responding,
    some_days,
    tasks_done,
)
from support.streams import response_of

import dataaccess as da


def test_the_report_has_the_figures_of_each_task(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    scan = by_day(connect(service))
    with service.fault("status", status=503, times=2, after=3):
        report = scan.to_folder(tmp_path)
    assert [task.id for task in scan.tasks()] == tasks_done(tmp_path)
    assert [task.path for task in report.files] == parts(tmp_path)
    assert [task.day for task in report.files] == [f"2024-01-0{day}" for day in range(1, 9)]
    assert tuple(task.rows for task in report.files) == ROWS_OF_DAYS
    assert [task.bytes for task in report.files] == [path.stat().st_size for path in parts(tmp_path)]
    assert all(0 < task.seconds < 60 for task in report.files)
    assert sum(task.attempts for task in report.files) == len(service.requests) == 10
    assert (report.rows, report.requests, report.retries) == (ROWS, 10, 2)
    assert report.folder == tmp_path
    assert 0 < report.seconds < 60
    assert (report.maybe_capped, report.warnings, report.doubtful_days) == (False, [], [])
    assert repr(report) == f"FolderReport(107 rows in 8 files of {str(tmp_path)!r}: 8 new)"


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
    ((done, rows, size),) = [(progress.done, progress.rows, progress.bytes) for progress in seen]
    assert (done, rows, size) == (8, report.rows, last.bytes)


def test_a_run_is_reported_as_capped_by_its_counts(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    scan = by_day(connect(service, known_row_cap=41))
    with pytest.warns(da.IncompleteWarning) as caught:
        report = scan.to_folder(tmp_path)
    assert len(caught) == 1
    assert report.maybe_capped
    (reason,) = reasons(report)
    assert (numbers_in(reason), "known_row_cap" in reason) == (["1", "8", "41", "2024-01-02"], True)
    assert report.warnings == [str(caught[0].message)]
    assert repr(report).endswith("; maybe capped)")
    # What is suspected belongs to the report and not to the folder.
    assert not by_day(connect(service)).to_folder(tmp_path).maybe_capped
    with pytest.warns(da.IncompleteWarning):
        scan.to_folder(tmp_path)
    assert not by_day(connect(service, known_row_cap=42)).to_folder(tmp_path).maybe_capped


@pytest.mark.parametrize(
    ("counts", "figures"),
    [
        # How many of how many responses, their rows, and their requests.
        ([150, 150, 7, 150], ["3", "4", "150", "1", "2", "4"]),
        ([73, 73, 73], ["3", "3", "73", "1", "2", "3"]),
        ([1000, 7], ["1000", "1"]),
        ([150, 150, 151, 150], None),
        ([9, 9, 9, 9], None),
    ],
)
def test_counts_that_look_like_a_cap_are_reported(
    connect: Any, tmp_path: Path, counts: list[int], figures: list[str] | None
) -> None:
    def give(connection: Any, value: str, _before: int) -> None:
        connection.sendall(response_of([{"n": number, "text": "x"} for number in range(counts[int(value)])]))

    with responding(give) as server:
        scan = by_value(connect(server.base_url), [str(number) for number in range(len(counts))])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            report = scan.to_folder(tmp_path)
    assert [numbers_in(reason) for reason in reasons(report)] == ([] if figures is None else [figures])
    assert [warning.category for warning in caught] == ([] if figures is None else [da.IncompleteWarning])


def test_a_total_unlike_the_records_is_reported_by_its_task(connect: Any, tmp_path: Path) -> None:
    def give(connection: Any, value: str, _before: int) -> None:
        meta = {"meta": {"total": 500}} if value == "1" else {}
        connection.sendall(response_of([{"n": 1, "text": "x"}], **meta))

    with responding(give) as server:
        scan = by_value(connect(server.base_url), ["0", "1"])
        for _ in range(2):
            with pytest.warns(da.IncompleteWarning, match=r"\b500 .*\b1\b") as caught:
                report = scan.to_folder(tmp_path)
            assert len(caught) == 1
            assert [numbers_in(reason) for reason in reasons(report)] == [["2", "500", "1"]]


@pytest.mark.both_clients
def test_rows_of_another_day_are_warned_of_once(connect: Any, tmp_path: Path) -> None:
    with some_days([24 + day for day in range(8)], day_zone="Asia/Ho_Chi_Minh") as service:
        scan = by_day(connect(service))
        for _ in range(2):
            with pytest.warns(da.StrayDayWarning, match=r"\b7 of 8\b.*UTC\+07:00") as caught:
                report = scan.to_folder(tmp_path)
            assert len(caught) == 1
            assert caught[0].filename == __file__ or hasattr(scan, "client")
            # Of the day before the first there are no rows.
            assert report.doubtful_days == [task.day for task in report.files[1:]]
        assert by_day(connect(service, timezone="Asia/Ho_Chi_Minh")).to_folder(tmp_path / "right").warnings == []


def test_days_of_few_rows_show_the_zone_together(connect: Any, tmp_path: Path) -> None:
    # Those of the third day alone would fit UTC-07:00 as well.
    with some_days(day_zone="Asia/Ho_Chi_Minh") as service:
        with pytest.warns(da.StrayDayWarning, match=r"\b2 of 7\b.*UTC\+07:00"):
            report = by_day(connect(service)).to_folder(tmp_path)
        assert report.doubtful_days == ["2024-01-03", "2024-01-07"]


def test_an_attribute_is_absent_only_where_no_task_has_it(connect: Any, tmp_path: Path) -> None:
    records: dict[str, list[dict[str, Any]]] = {"0": [{"n": 1}], "1": [{"n": 2, "text": "x"}], "2": [{"n": 3}], "3": []}
    with responding(giving(records)) as server:
        client = connect(server.base_url)
        by_value(client, ["0", "1", "2", "3"]).to_folder(tmp_path / "some")
        for _ in range(2):
            with pytest.warns(da.AbsentAttributeWarning, match="'text'") as caught:
                report = by_value(client, ["0", "2", "3"]).to_folder(tmp_path / "none")
            assert len(caught) == 1
            assert report.warnings == [str(caught[0].message)]
        by_value(client, ["3"]).to_folder(tmp_path / "empty")


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
