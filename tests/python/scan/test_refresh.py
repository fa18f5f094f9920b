"""What a run requests again although it has it, how old its rows are, and what a refresh changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from support import kinds
from support.arguments import about
from support.runs import by_value, parts, responding
from support.streams import response_of

import dataaccess as da

DAYS = [f"2024-01-{day:02}" for day in range(1, 11)]


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


def asked(report: da.ScanReport) -> list[str | None]:
    """The days that this run requested."""
    return [task.day for task in report.tasks if not task.was_done]


@pytest.mark.both_clients
@pytest.mark.parametrize(
    ("refresh", "days"),
    [
        ("all", DAYS),
        (" All ", DAYS),
        ("2024-01-03 to 2024-01-05", DAYS[2:5]),
        ("2024-01-03 to 2024-01-03", DAYS[2:3]),
        (["2024-01-09 to 2024-01-10", da.days("2024-01-01", "2024-01-03"), "2024-01-05"], [0, 1, 4, 8, 9]),
        (["last 2 days", "last 1 day", "2024-01-01"], [0, 8, 9]),
        ([], []),
    ],
)
def test_days_and_ranges_are_requested_again(
    connect: Any, service: da.Sandbox, tmp_path: Path, refresh: Any, days: list[Any]
) -> None:
    scan = scan_of(connect(service))
    scan.to_folder(tmp_path)
    report = scan.to_folder(tmp_path, refresh=refresh)
    assert asked(report) == [DAYS[day] if isinstance(day, int) else day for day in days]


def test_days_without_a_file_come_before_those_that_are_requested_again(
    connect: Any, service: da.Sandbox, tmp_path: Path
) -> None:
    client = connect(service, concurrency=1)
    scan_of(client, "2024-01-06").to_folder(tmp_path)
    requested: list[str | None] = []
    scan_of(client).to_folder(tmp_path, refresh="all", progress=lambda progress: requested.append(progress.day))
    # A run that is ended early gets on with the next one.
    assert [day for day in requested if day] == [*DAYS[5:], *DAYS[:5]]


@pytest.mark.parametrize(
    ("refresh", "named"),
    [
        ("2024-01-05 to 2024-01-03", "2024-01-05.*2024-01-03"),
        ("2024-01-05 to 2024-01-20", "2024-01-11.*2024-01-01.*2024-01-10"),
        ("2024-01-05 to soon", "`soon`"),
        ("older than 0 days", "`older than 0 days`"),
        ("older than a week", "`older than a week`"),
        ("requested before lunch", "`lunch`"),
        ("1/0", "`1/0`"),
        ("1/x", "`1/x`"),
        (["all", "soon"], "`soon`"),
    ],
)
def test_what_names_no_days_is_refused(
    connect: Any, service: da.Sandbox, tmp_path: Path, refresh: Any, named: str
) -> None:
    with pytest.raises(da.ValidationError, match=named, check=about("refresh")):
        scan_of(connect(service)).to_folder(tmp_path / "run", refresh=refresh)
    assert not (tmp_path / "run").exists()


def test_what_is_old_is_requested_again(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    client = connect(service)
    scan_of(client, "2024-01-04").to_folder(tmp_path)
    service.advance(timedelta(days=95))
    scan_of(client, "2024-01-08").to_folder(tmp_path)
    service.advance(timedelta(days=5))
    scan = scan_of(client)
    assert asked(scan.to_folder(tmp_path, refresh="older than 7 days")) == [*DAYS[:3], *DAYS[7:]]
    assert asked(scan.to_folder(tmp_path, refresh="older than 7 days")) == []
    assert asked(scan.to_folder(tmp_path, refresh=["older than 7 days", "older than 100 hours"])) == DAYS[3:7]


def test_what_was_requested_before_a_time_is_requested_again(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    client = connect(service)
    now = datetime.now(UTC)
    # Five days before now, and three.
    service.advance(timedelta(days=95))
    scan_of(client, "2024-01-04").to_folder(tmp_path)
    service.advance(timedelta(days=2))
    scan = scan_of(client, "2024-01-08")
    scan.to_folder(tmp_path)
    between = f"requested before {(now - timedelta(days=4)).isoformat()}"
    assert asked(scan.to_folder(tmp_path, refresh=between)) == DAYS[:3]
    assert asked(scan.to_folder(tmp_path, refresh=between)) == []
    later = f"requested before {(now - timedelta(days=2)).date().isoformat()}"
    assert asked(scan.to_folder(tmp_path, refresh=[between, later])) == DAYS[:7]


def test_a_part_in_turn_takes_the_oldest_first(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    scan = scan_of(connect(service))
    scan.to_folder(tmp_path)
    seen: Counter[str | None] = Counter()
    for _ in range(4):
        service.advance(timedelta(hours=1))
        report = scan.to_folder(tmp_path, refresh="1/4")
        assert len(asked(report)) == 3
        seen.update(asked(report))
    # Twelve of ten: each once before any twice.
    assert set(seen) == set(DAYS)
    assert max(seen.values()) == 2


def test_parts_of_a_scan_without_days_are_refreshed_by_age(connect: Any, tmp_path: Path) -> None:
    with responding(
        lambda connection, value, _: connection.sendall(response_of([{"n": int(value), "text": "x"}]))
    ) as server:
        scan = by_value(connect(server.base_url), ["1", "2", "3"])
        scan.to_folder(tmp_path)
        for refresh, count in (("all", 3), ("1/3", 1), ("older than 1 hour", 0), (None, 0)):
            report = scan.to_folder(tmp_path, refresh=refresh, keep="all")
            assert (report.refreshed, report.kept) == (count, 3 - count)


@pytest.mark.both_clients
def test_files_have_the_time_of_their_request(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    scan = scan_of(connect(service), "2024-01-03", attrs=("id",))
    scan.to_folder(tmp_path, requested_at=True)
    service.advance(timedelta(days=3))
    report = scan.to_folder(tmp_path, requested_at=True, refresh="2024-01-02")
    for task, path in zip(report.tasks, parts(tmp_path), strict=True):
        table = pq.read_table(path, partitioning=None)
        assert table.column_names == ["id", "allocated_time", "requested_at"]
        assert str(table.schema.field("requested_at").type) == "timestamp[us, tz=UTC]"
        assert set(table["requested_at"].to_pylist()) == {task.requested_at}
    older, newer = (task.requested_at for task in report.tasks)
    assert timedelta(days=2) < newer - older < timedelta(days=4)
    assert (report.refreshed, report.kept) == (1, 1)
    read = scan.read_folder(tmp_path)
    assert read.to_pandas()["requested_at"].nunique() == 2
    assert read.column_names == ["id", "allocated_time", "requested_at"]
    assert read.to_pylist()[-1]["requested_at"] == newer
    with pytest.raises(kinds.Mismatch, check=lambda error: error.field == "requested_at"):
        scan.to_folder(tmp_path)


def test_an_empty_file_has_the_column_too(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    service.clear("promotion_code")
    scan_of(connect(service), "2024-01-02").to_folder(tmp_path, requested_at=True)
    (path,) = parts(tmp_path)
    assert pq.read_schema(path).names[-1] == "requested_at"


def test_the_column_must_not_be_an_attribute_too(connect: Any, tmp_path: Path) -> None:
    scan = connect("http://127.0.0.1:1").scan_items("store", ["requested_at"], da.col("n").matches([1]), item_type_id=7)
    with pytest.raises(da.ValidationError, match=r"\battrs\b", check=about("requested_at")):
        scan.to_folder(tmp_path / "run", requested_at=True)


def test_a_day_that_was_not_over_is_refreshed_where_all_are_kept(connect: Any, tmp_path: Path) -> None:
    # The last day has an hour left.
    with da.Sandbox(now=datetime(2024, 1, 10, 23, tzinfo=UTC)) as service:
        service.load("promotion_code", [row(day, f"{day}") for day in range(1, 11)])
        scan = scan_of(connect(service))
        assert scan.to_folder(tmp_path, keep="all").open_days == DAYS[-1:]
        assert asked(scan.to_folder(tmp_path, keep="all")) == []
        assert asked(scan.to_folder(tmp_path, keep="all", refresh="requested before 2024-02-01")) == DAYS


def test_the_last_days_are_those_that_have_begun(connect: Any, tmp_path: Path) -> None:
    with da.Sandbox() as service:
        today = datetime.now(UTC).date()
        days = da.days(today - timedelta(days=5), today + timedelta(days=5))
        scan = connect(service).scan_codes(["id"], allocated_time=days)
        report = scan.to_folder(tmp_path)
        begun = [task.day for task in report.tasks]
        assert asked(scan.to_folder(tmp_path, refresh="last 3 days")) == begun[-3:]
