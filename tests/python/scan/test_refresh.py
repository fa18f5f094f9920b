"""What a run requests again although it has it, how old its rows are, and what a refresh changed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from support import kinds
from support.arguments import about
from support.runs import parts

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


def asked(report: da.FolderReport) -> list[str | None]:
    """The days that this run requested."""
    return [task.day for task in report.files if task.state != "kept"]


@pytest.mark.both_clients
@pytest.mark.parametrize(
    ("refresh", "days"),
    [
        ("all", DAYS),
        (da.days("2024-01-03", "2024-01-06"), DAYS[2:5]),
        ("days('2024-01-03', '2024-01-04')", DAYS[2:3]),
        (["days('2024-01-09', '2024-01-11')", da.days("2024-01-01", "2024-01-03"), "2024-01-05"], [0, 1, 4, 8, 9]),
        ((date(2024, 1, 9), "2024-01-01"), [0, 8]),
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
        (da.days("2024-01-05", "2024-01-20"), "2024-01-11.*2024-01-01.*2024-01-10"),
        ("last 3 days", "`last 3 days`"),
        ("days('2024-01-05', 'soon')", "soon"),
        ("col('x') == 1", "col"),
        (["2024-01-01", "soon"], "`soon`"),
        (3, "3"),
        (True, "True"),
    ],
)
@pytest.mark.parametrize("argument", ["refresh", "accept"])
def test_what_names_no_days_is_refused(
    connect: Any, service: da.Sandbox, tmp_path: Path, argument: str, refresh: Any, named: str
) -> None:
    with pytest.raises(da.ValidationError, match=named, check=about(argument)):
        scan_of(connect(service)).to_folder(tmp_path / "run", **{argument: refresh})
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("settle", ["3 days", -1, 3600, True, timedelta(days=-1), timedelta(days=2_000)])
def test_a_wrong_time_to_settle_is_refused(connect: Any, service: da.Sandbox, tmp_path: Path, settle: Any) -> None:
    with pytest.raises(da.ConfigError, match=r"\bsettle\b.* 1000\b"):
        scan_of(connect(service)).to_folder(tmp_path / "run", settle=settle)
    assert not (tmp_path / "run").exists()


@pytest.mark.fault("S15")
def test_a_job_that_was_down_for_three_nights_catches_up_by_itself(connect: Any, tmp_path: Path) -> None:
    with da.Sandbox(now=datetime(2024, 1, 5, 6, tzinfo=UTC)) as service:
        service.load("promotion_code", [row(day, f"{day}") for day in range(1, 5)])
        client = connect(service)
        report = scan_of(client, "2024-01-05").to_folder(tmp_path, settle=3)
        # Of the first day the third night after its end is over.
        assert (report.open_days, report.unsettled_days) == ([], DAYS[1:4])
        service.advance(timedelta(days=3))
        # Rows that came late, while the job was down.
        service.load("promotion_code", [row(day, f"late-{day}") for day in range(1, 8)])
        report = scan_of(client, "2024-01-08").to_folder(tmp_path, settle=3)
        assert asked(report) == DAYS[1:7]
        assert [task.rows for task in report.files] == [1, 2, 2, 2, 1, 1, 1]
        service.advance(timedelta(days=4))
        assert asked(scan_of(client, "2024-01-08").to_folder(tmp_path, settle=3)) == DAYS[4:7]
        assert asked(scan_of(client, "2024-01-08").to_folder(tmp_path, settle=3)) == []


@pytest.mark.both_clients
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


def test_an_empty_file_has_the_column_too(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    service.clear("promotion_code")
    scan_of(connect(service), "2024-01-02").to_folder(tmp_path, requested_at=True)
    (path,) = parts(tmp_path)
    assert pq.read_schema(path).names[-1] == "requested_at"


def test_the_column_must_not_be_an_attribute_too(connect: Any, tmp_path: Path) -> None:
    scan = connect("http://127.0.0.1:1").scan_items("store", ["requested_at"], da.col("n").matches([1]), item_type_id=7)
    with pytest.raises(da.ValidationError, match=r"\battrs\b", check=about("requested_at")):
        scan.to_folder(tmp_path / "run", requested_at=True)
