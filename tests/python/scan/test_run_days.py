"""Days of a folder: which are requested again, when they are final, and rows of another service."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from support import kinds
from support.raw_server import always, serving
from support.runs import parts, rows_in, some_days
from support.streams import response_of

import dataaccess as da

DAYS = [f"2024-01-{day:02}" for day in range(1, 11)]
WEEK = da.days("2024-01-01", "2024-01-06")


def row(day: int, name: str, **values: Any) -> dict[str, Any]:
    """A code of January."""
    return {"id": name, "allocated_time": f"2024-01-{day:02} 09:00:00", "code_status": 3, **values}


@pytest.fixture
def service() -> Iterator[da.Sandbox]:
    """Ten days, whose clock begins long ago."""
    with da.Sandbox(now=datetime.now(UTC) - timedelta(days=100)) as service:
        service.load("promotion_code", [row(day, f"{day}-{n}") for day in range(1, 11) for n in range(3)])
        yield service


def scan_of(client: Any, stop: str = "2024-01-11", attrs: tuple[str, ...] = ("id", "code_status")) -> Any:
    """Some days."""
    return client.scan_codes([*attrs, "allocated_time"], allocated_time=da.days("2024-01-01", stop))


def asked(report: da.FolderReport) -> list[str | None]:
    """The days that this run requested."""
    return [task.day for task in report.files if task.state != "kept"]


@pytest.mark.parametrize(
    ("refresh", "days"),
    [
        ("all", range(10)),
        ("2024-01-02", [1]),
        ([date(2024, 1, 2), datetime(2024, 1, 4, 15, 30)], [1, 3]),  # noqa: DTZ001 - in the client's zone
        (da.days("2024-01-03", "2024-01-06"), [2, 3, 4]),
        ("days('2024-01-03', '2024-01-04')", [2]),
        (["days('2024-01-09', '2024-01-11')", da.days("2024-01-01", "2024-01-03"), "2024-01-05"], [0, 1, 4, 8, 9]),
        ((date(2024, 1, 9), "2024-01-01"), [0, 8]),
        ([], []),
        (None, []),
    ],
)
def test_days_and_ranges_are_requested_again(
    connect: Any, service: da.Sandbox, tmp_path: Path, refresh: Any, days: Any
) -> None:
    scan = scan_of(connect(service))
    scan.to_folder(tmp_path)
    service.load("promotion_code", [row(day, f"{day}-late") for day in range(1, 11)])
    service.clear_requests()
    report = scan.to_folder(tmp_path, refresh=refresh)
    assert asked(report) == [DAYS[day] for day in days]
    assert len(service.requests) == len(days)
    assert report.rows == len(rows_in(tmp_path)) == 30 + len(days)


def test_days_without_a_file_come_before_those_that_are_requested_again(
    connect: Any, service: da.Sandbox, tmp_path: Path
) -> None:
    client = connect(service, concurrency=1)
    scan_of(client, "2024-01-06").to_folder(tmp_path)
    requested: list[str | None] = []
    scan_of(client).to_folder(tmp_path, refresh="all", progress=lambda progress: requested.append(progress.day))
    # A run that is ended early gets on with the next one.
    assert [day for day in requested if day] == [*DAYS[5:], *DAYS[:5]]


@pytest.mark.both_clients
@pytest.mark.filterwarnings("ignore::dataaccess.EmptyResultWarning")
def test_files_have_the_time_of_their_request(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    scan = scan_of(connect(service), "2024-01-03", attrs=("id",))
    scan.to_folder(tmp_path, requested_at=True)
    service.advance(timedelta(days=3))
    report = scan.to_folder(tmp_path, requested_at=True, refresh="2024-01-02")
    for task, path in zip(report.files, parts(tmp_path), strict=True):
        table = pq.read_table(path, partitioning=None)
        assert table.column_names == ["id", "allocated_time", "requested_at"]
        assert str(table.schema.field("requested_at").type) == "timestamp[us, tz=UTC]"
        assert set(table["requested_at"].to_pylist()) == {task.requested_at}
    older, newer = (task.requested_at for task in report.files)
    assert timedelta(days=2) < newer - older < timedelta(days=4)
    assert (report.refreshed, report.kept) == (1, 1)
    read = scan.read_folder(tmp_path)
    assert read.to_pandas()["requested_at"].nunique() == 2
    assert read.column_names == ["id", "allocated_time", "requested_at"]
    assert read.to_pylist()[-1]["requested_at"] == newer
    with pytest.raises(kinds.Mismatch, check=lambda error: error.field == "requested_at"):
        scan.to_folder(tmp_path)
    service.clear("promotion_code")
    scan.to_folder(tmp_path / "empty", requested_at=True)
    assert pq.read_schema(parts(tmp_path / "empty")[0]).names[-1] == "requested_at"


def test_days_of_codes_that_have_not_begun_are_not_requested(connect: Any, tmp_path: Path) -> None:
    today = datetime.now(UTC).date()
    days = [today + timedelta(days=number) for number in range(-2, 4)]
    with da.Sandbox() as service:
        scan = connect(service).scan_codes(["id"], allocated_time=da.days(days[0], days[-1] + timedelta(days=1)))
        report = scan.to_folder(tmp_path)
        # It may be midnight by now.
        assert [task.day for task in report.files] == [str(day) for day in days[: len(report.files)]]
        assert len(report.files) == len(service.requests) in (3, 4)
        assert report.open_days[-4:] == [str(day) for day in days[-4:]]
        assert len(scan.read_folder(tmp_path, missing="ignore")) == 0


def test_the_plan_names_days_that_are_not_over(connect: Any) -> None:
    # The clock of this machine counts before anything is sent.
    today = datetime.now(UTC).date()
    client = connect("https://cdp.example.com", token="tok", timezone="Etc/GMT+12")
    scan = client.scan_codes(["id"], allocated_time=da.days(today - timedelta(days=3), today + timedelta(days=2)))
    assert re.search(rf"not over: +[23] days: .*{today}, {today + timedelta(days=1)}$", scan.explain())
    assert f"{today}" in scan._repr_html_()
    old = client.scan_codes(["id", "allocated_time"], allocated_time=WEEK)
    assert "not over" not in old.explain() + old._repr_html_()


@pytest.mark.filterwarnings("ignore::dataaccess.EmptyResultWarning")
def test_the_earlier_clock_counts(connect: Any, tmp_path: Path) -> None:
    """The clock of the service may be years ahead, and that of this machine too."""
    today = datetime.now(UTC).date()
    with da.Sandbox(now=datetime.now(UTC) + timedelta(days=700)) as service:
        days = da.days(today - timedelta(days=3), today + timedelta(days=1))
        report = connect(service).scan_codes(["id"], allocated_time=days).to_folder(tmp_path, settle=0)
        assert report.open_days in ([], [str(today)])
        assert abs(report.files[0].requested_at - datetime.now(UTC)) < timedelta(minutes=5)


# Rows of another service.


@pytest.fixture
def store() -> Iterator[da.Sandbox]:
    """Some days."""
    with some_days() as service:
        yield service


def scan(client: Any, start: int, stop: int, **options: Any) -> Any:
    """A scan of some days of January 2024, `stop` excluded."""
    days = da.days(f"2024-01-{start:02}", f"2024-01-{stop:02}")
    return client.scan_codes(["id", "allocated_time"], allocated_time=days, **options)


def test_nothing_binds_a_folder_before_the_first_finished_task(connect: Any, store: da.Sandbox, tmp_path: Path) -> None:
    with pytest.raises(da.ConnectError, match=r"\b[12] of 2\b"):
        scan(connect("http://127.0.0.1:9", retry_for=0), 1, 3).to_folder(tmp_path)
    with pytest.raises(da.PermissionDeniedError):
        scan(connect(store.base_url, token="wrong"), 1, 3).to_folder(tmp_path)
    everything = connect(store).scan_codes(["id"], allocated_time=da.after("2024-01-01"))
    with store.fault("status", status=400), pytest.raises(da.ScanIncompleteError):
        everything.to_folder(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert scan(connect(store), 1, 3).to_folder(tmp_path).rows == 44


@pytest.mark.both_clients
def test_rows_of_another_address_are_refused(connect: Any, store: da.Sandbox, tmp_path: Path) -> None:
    scan(connect(store), 1, 3).to_folder(tmp_path)
    before = {path: path.read_bytes() for path in parts(tmp_path)}
    with some_days() as other:
        more = scan(connect(other), 1, 4)
        for refresh in (None, "all"):
            with pytest.raises(kinds.Mismatch):
                more.to_folder(tmp_path, refresh=refresh)
        assert other.requests == []
        assert {path: path.read_bytes() for path in parts(tmp_path)} == before
        assert more.to_folder(tmp_path, same_service=True).rows == 51
        assert more.read_folder(tmp_path).num_rows == 51


def test_synthetic_rows_are_never_mixed_with_others(connect: Any, store: da.Sandbox, tmp_path: Path) -> None:
    synthetic, other = tmp_path / "synthetic", tmp_path / "other"
    scan(connect(store), 1, 3).to_folder(synthetic)
    record = {"id": "a", "allocated_time": "2024-01-01 12:00:00"}
    with serving(always(response_of([record]))) as server:
        platform = connect(server.base_url).scan_codes(["id", "allocated_time"], allocated_time=da.on("2024-01-01"))
        platform.to_folder(other)
        for client, folder in ((connect(server.base_url), synthetic), (connect(store), other)):
            with pytest.raises(kinds.Mismatch):
                client.scan_codes(["id", "allocated_time"], allocated_time=da.on("2024-01-02")).to_folder(
                    folder, same_service=True
                )
