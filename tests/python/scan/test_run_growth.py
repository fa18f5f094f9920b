"""A folder that grows: more days, fewer days, days that are requested again, another service."""

from __future__ import annotations

import errno
import warnings
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from support import kinds
from support.arguments import about
from support.raw_server import always, http, serving
from support.runs import ROWS_OF_DAYS, by_value, code, parts, responding, rows_in, some_days, tasks_done
from support.streams import response_of

import dataaccess as da


@pytest.fixture
def service() -> Iterator[da.Sandbox]:
    with some_days() as service:
        yield service


def scan(client: Any, start: int, stop: int, **options: Any) -> Any:
    """A scan of some days of January 2024, `stop` excluded."""
    days = da.days(f"2024-01-{start:02}", f"2024-01-{stop:02}")
    return client.scan_codes(["id", "allocated_time"], allocated_time=days, **options)


def days_done(report: da.FolderReport) -> dict[int, bool]:
    """The days of a report, and whether each was done before."""
    return {int(str(task.day)[-2:]): task.state == "kept" for task in report.files}


def test_the_same_call_with_one_more_day_adds_it(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    client = connect(service)
    for stop in (3, 4, 6):
        service.clear_requests()
        report = scan(client, 1, stop).to_folder(tmp_path)
        assert report.rows == sum(ROWS_OF_DAYS[: stop - 1])
        assert len(service.requests) == {3: 2, 4: 1, 6: 2}[stop]
    assert days_done(report) == {1: True, 2: True, 3: True, 4: False, 5: False}
    assert len(parts(tmp_path)) == 5


def test_a_smaller_range_is_a_part_of_the_folder(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    client = connect(service)
    scan(client, 1, 9).to_folder(tmp_path)
    service.clear_requests()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = scan(client, 2, 4).to_folder(tmp_path)
        table = scan(client, 2, 4).read_folder(tmp_path)
        (one,) = (
            client.scan_codes(["id", "allocated_time"], allocated_time=da.on("2024-01-02")).to_folder(tmp_path).files
        )
    assert (report.rows, table.num_rows, one.rows) == (48, 48, 41)
    assert days_done(report) == {2: True, 3: True}
    assert service.requests == []
    assert len(parts(tmp_path)) == 8


def test_a_gap_is_filled(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    client = connect(service)
    scan(client, 1, 3).to_folder(tmp_path)
    scan(client, 5, 7).to_folder(tmp_path)
    with pytest.raises(da.ScanIncompleteError, match=r" 2 .*\(2024-01-03, 2024-01-04\).*\bmissing\b.*\bignore\b"):
        scan(client, 1, 7).read_folder(tmp_path)
    some = scan(client, 1, 7).read_folder(tmp_path, missing="ignore")
    assert some.num_rows == len(rows_in(tmp_path)) == 3 + 41 + 12 + 25
    assert (some.stats.rows, some.stats.requests) == (81, 4)
    assert days_done(scan(client, 1, 7).to_folder(tmp_path)) == {1: True, 2: True, 3: False, 4: False, 5: True, 6: True}
    assert scan(client, 1, 7).read_folder(tmp_path).num_rows == sum(ROWS_OF_DAYS[:6])


def test_what_is_read_is_what_was_requested(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    days = scan(connect(service), 1, 9)
    days.to_folder(tmp_path)
    expected = days.collect()
    service.clear_requests()
    table = days.read_folder(tmp_path)
    assert (table.schema, table.to_pylist()) == (expected.schema, expected.to_pylist())
    assert (table.stats.rows, table.stats.bytes) == (expected.stats.rows, expected.stats.bytes)
    assert days.last_stats == table.stats
    assert service.requests == []


@pytest.mark.parametrize("missing", ["raise", "ignore"])
def test_a_folder_that_does_not_exist_is_no_empty_one(
    connect: Any, service: da.Sandbox, tmp_path: Path, missing: Any
) -> None:
    days = scan(connect(service), 1, 9)
    with pytest.raises(da.FileError) as caught:
        days.read_folder(tmp_path / "none", missing=missing)
    assert (caught.value.errno, caught.value.path) == (errno.ENOENT, str(tmp_path / "none"))
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_lacks_every_day(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    days = scan(connect(service), 1, 9)
    with pytest.raises(da.ScanIncompleteError, match=r" 8 .*\(2024-01-01, .*2024-01-05, …\)"):
        days.read_folder(tmp_path)
    assert days.read_folder(tmp_path, missing="ignore").schema == days.head(0).schema
    with pytest.raises(da.ValidationError, check=about("missing")):
        days.read_folder(tmp_path, missing="skip")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("refresh", "days"),
    [
        (["2024-01-02"], [2]),
        ("2024-01-02", [2]),
        ([date(2024, 1, 2), datetime(2024, 1, 4, 15, 30)], [2, 4]),  # noqa: DTZ001 - in the client's zone
        (da.days("2024-01-01", "2024-01-03"), [1, 2]),
        ("days('2024-01-03', '2024-01-06')", [3, 4, 5]),
        ("all", [1, 2, 3, 4, 5]),
        ([], []),
        (None, []),
    ],
)
def test_days_are_requested_again(
    connect: Any, service: da.Sandbox, tmp_path: Path, refresh: Any, days: list[int]
) -> None:
    client = connect(service)
    scan(client, 1, 6).to_folder(tmp_path)
    service.load("promotion_code", [code(day, 900) for day in range(1, 7)])
    service.clear_requests()
    report = scan(client, 1, 6).to_folder(tmp_path, refresh=refresh)
    assert [day for day, was_done in days_done(report).items() if not was_done] == days
    assert len(service.requests) == len(days)
    assert report.rows == len(rows_in(tmp_path)) == sum(ROWS_OF_DAYS[:5]) + len(days)


@pytest.mark.parametrize(
    ("refresh", "named"),
    [
        (["2024-01-06"], "2024-01-06.*2024-01-01.*2024-01-05"),
        ("3 days", "`3 days`"),
        ([3], "3"),
        ([None], "None"),
    ],
)
def test_what_is_no_day_of_the_scan_is_refused(
    connect: Any, service: da.Sandbox, tmp_path: Path, refresh: Any, named: str
) -> None:
    with pytest.raises(da.ValidationError, match=named, check=about("refresh")):
        scan(connect(service), 1, 6).to_folder(tmp_path / "run", refresh=refresh)
    assert not (tmp_path / "run").exists()
    every = connect(service).scan_codes(["id"], allocated_time=da.after("2024-01-01"))
    with pytest.raises(da.ValidationError, match='"all"', check=about("refresh")):
        every.to_folder(tmp_path, refresh="2024-01-02")


def test_a_day_that_cannot_be_refreshed_keeps_its_file(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    client = connect(service, retry_for=0)
    scan(client, 1, 4).to_folder(tmp_path)
    before = {part: part.read_bytes() for part in parts(tmp_path)}
    with (
        service.fault("status", status=500),
        pytest.raises(da.ScanIncompleteError, match=r"\b3 of 4\b.*\(2024-01-02, 2024-01-03, 2024-01-04\)") as caught,
    ):
        scan(client, 1, 5).to_folder(tmp_path, refresh=["2024-01-02", "2024-01-03"])
    assert sorted(task[:10] for task in caught.value.failed) == ["2024-01-02", "2024-01-03", "2024-01-04"]
    assert {part: part.read_bytes() for part in parts(tmp_path)} == before
    report = caught.value.report
    assert report is not None
    # What is in the folder, as it was; a day without a file is missing.
    assert days_done(report) == {1: True, 2: True, 3: True}
    assert (report.rows, report.missing_days, report.open_days) == (sum(ROWS_OF_DAYS[:3]), ["2024-01-04"], [])


def test_other_days_keep_a_folder_to_its_types(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    client = connect(service)
    scan(client, 1, 4).to_folder(tmp_path)
    strings = {"allocated_time": "string"}
    with pytest.raises(
        kinds.Mismatch, match=r"`allocated_time`.*timestamp.*string", check=lambda error: error.field == "schema"
    ):
        scan(client, 4, 6, schema=strings).to_folder(tmp_path)
    with pytest.raises(kinds.Mismatch, check=lambda error: error.field == "schema"):
        scan(client, 2, 4, schema=strings).to_folder(tmp_path, refresh="all")
    as_strings = scan(client, 1, 4, schema=strings)
    as_strings.to_folder(tmp_path, refresh="all")
    assert str(as_strings.read_folder(tmp_path).to_pandas()["allocated_time"].dtype) in {"str", "string"}, (
        "the type of pandas 3 or 2"
    )


def test_inferred_types_hold_for_later_tasks_of_other_calls(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    service.declare("visit", 7, {"id": "string", "at": "datetime", "size": "number"})
    rows = [{"id": "a", "at": "2024-01-01 10:00:00", "size": 1}, {"id": "b", "at": "2024-01-02 10:00:00", "size": None}]
    service.load("visit", rows)
    client = connect(service)
    for day in ("2024-01-01", "2024-01-02", "2024-01-03"):
        visits = client.scan_items("visit", ["id", "size"], da.col("at").on(day), item_type_id=7)
        (task,) = visits.to_folder(tmp_path).files
        # Alone, the second would be of strings, and the third would have no file.
        assert visits.read_folder(tmp_path).schema == {"id": "string", "size": "int64"}
        assert task.path is not None


def test_nothing_binds_a_folder_before_the_first_finished_task(
    connect: Any, service: da.Sandbox, tmp_path: Path
) -> None:
    with pytest.raises(da.ConnectError, match=r"\b[12] of 2 \(2024-01-0[12]\)"):
        scan(connect("http://127.0.0.1:9", retry_for=0), 1, 3).to_folder(tmp_path)
    with pytest.raises(da.PermissionDeniedError):
        scan(connect(service.base_url, token="wrong"), 1, 3).to_folder(tmp_path)
    everything = connect(service).scan_codes(["id"], allocated_time=da.after("2024-01-01"))
    with service.fault("status", status=400), pytest.raises(da.ScanIncompleteError):
        everything.to_folder(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert scan(connect(service), 1, 3).to_folder(tmp_path).rows == 44


@pytest.mark.fault("S14")
@pytest.mark.both_clients
def test_rows_of_another_address_are_refused(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    scan(connect(service), 1, 3).to_folder(tmp_path)
    before = {path: path.read_bytes() for path in parts(tmp_path)}
    with some_days() as other:
        more = scan(connect(other), 1, 4)
        for refresh in (None, "all"):
            with pytest.raises(
                kinds.Mismatch,
                match=rf"{service.base_url}\b.*{other.base_url}\b.*\bsame_service\b",
            ):
                more.to_folder(tmp_path, refresh=refresh)
        assert other.requests == []
        assert {path: path.read_bytes() for path in parts(tmp_path)} == before
        assert more.to_folder(tmp_path, same_service=True).rows == 51
        assert more.read_folder(tmp_path).num_rows == 51


def test_synthetic_rows_are_never_mixed_with_others(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    synthetic, other = tmp_path / "synthetic", tmp_path / "other"
    scan(connect(service), 1, 3).to_folder(synthetic)
    record = {"id": "a", "allocated_time": "2024-01-01 12:00:00"}
    with serving(always(response_of([record]))) as server:
        platform = connect(server.base_url).scan_codes(["id", "allocated_time"], allocated_time=da.on("2024-01-01"))
        platform.to_folder(other)
        for client, folder in ((connect(server.base_url), synthetic), (connect(service), other)):
            with pytest.raises(kinds.Mismatch, match="synthetic"):
                client.scan_codes(["id", "allocated_time"], allocated_time=da.on("2024-01-02")).to_folder(
                    folder, same_service=True
                )


def test_a_task_without_rows_has_a_file_as_soon_as_there_are_types(connect: Any, tmp_path: Path) -> None:
    def give(connection: Any, value: str, _before: int) -> None:
        if value == "b" and is_failing:
            connection.sendall(http(b"", "500 Internal Server Error"))
        else:
            connection.sendall(response_of([] if value == "a" else [{"n": 1, "text": "x"}]))

    is_failing = True
    with responding(give) as server:
        values = by_value(connect(server.base_url, retry_for=0), ["a", "b"])
        with pytest.raises(da.ScanIncompleteError) as caught:
            values.to_folder(tmp_path)
        # The first task is done in this report; nothing says so in the folder, so it is requested again.
        assert caught.value.report is not None
        assert [task.path for task in caught.value.report.files] == [None]
        assert tasks_done(tmp_path) == []
        is_failing = False
        report = values.to_folder(tmp_path)
    assert [(task.rows, task.state == "kept") for task in report.files] == [(0, False), (1, False)]
    assert len(parts(tmp_path)) == 2


def test_a_report_counts_new_kept_and_refreshed_tasks(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    client = connect(service)
    first = scan(client, 1, 4).to_folder(tmp_path)
    assert (first.new, first.kept, first.refreshed) == (3, 0, 0)
    assert repr(first) == f"FolderReport(51 rows in 3 files of {str(tmp_path)!r}: 3 new)"
    grown = scan(client, 1, 6).to_folder(tmp_path, refresh="2024-01-03")
    assert (grown.new, grown.kept, grown.refreshed) == (2, 2, 1)
    assert [task.day for task in grown.files if task.state == "refreshed"] == ["2024-01-03"]
    assert [task.state == "kept" for task in grown.files] == [True, True, False, False, False]
    assert repr(grown).endswith(": 2 new, 2 kept, 1 refreshed)")
    again = scan(client, 1, 6).to_folder(tmp_path)
    assert (again.new, again.kept, again.refreshed) == (0, 5, 0)
    assert repr(again).endswith(": 5 kept)")


def test_days_before_1973_have_their_names(connect: Any, tmp_path: Path) -> None:
    rows = [
        {**code(1, 1), "id": "a", "allocated_time": "1969-12-31 12:00:00"},
        {**code(1, 2), "id": "b", "allocated_time": "1970-01-01 12:00:00"},
    ]
    with da.Sandbox() as early:
        early.load("promotion_code", rows)
        days = da.days("1969-12-31", "1970-01-02")
        old = connect(early).scan_codes(["id", "allocated_time"], allocated_time=days)
        report = old.to_folder(tmp_path)
        assert [task.day for task in report.files] == ["1969-12-31", "1970-01-01"]
        assert sorted(path.name for path in tmp_path.glob("day=*")) == ["day=1969-12-31", "day=1970-01-01"]
        assert old.read_folder(tmp_path)["id"] == ["a", "b"]


def test_the_last_days_are_refreshed_across_the_border_of_numbers_that_may_be_seconds(
    connect: Any, tmp_path: Path
) -> None:
    with da.Sandbox() as early:
        client = connect(early)
        scan = client.scan_codes(["id"], allocated_time=da.days("1973-03-01", "1973-03-06"))
        with pytest.warns(da.EmptyResultWarning):
            scan.to_folder(tmp_path)
        with pytest.warns(da.EmptyResultWarning):
            report = scan.to_folder(tmp_path, refresh=da.days("1973-03-03", "1973-03-06"))
        assert [task.day for task in report.files if task.state != "kept"] == ["1973-03-03", "1973-03-04", "1973-03-05"]
