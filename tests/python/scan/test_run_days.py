"""Days of a folder: which are requested again, when they are final, and rows of another service."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from support import kinds
from support.raw_server import Close, always, http, serving
from support.runs import by_value, giving, parts, responding, rows_in, tasks_done, values_asked
from support.streams import HEAD, response_of

import dataaccess as da

DAYS = [f"2024-01-{day:02}" for day in range(1, 11)]


def row(day: int, name: str) -> dict[str, Any]:
    return {"id": name, "allocated_time": f"2024-01-{day:02} 09:00:00", "code_status": 3}


@pytest.fixture
def service() -> Iterator[da.Sandbox]:
    """Ten days, whose clock begins long ago."""
    with da.Sandbox(now=datetime.now(UTC) - timedelta(days=100)) as service:
        service.load("promotion_code", [row(day, f"{day}-{n}") for day in range(1, 11) for n in range(3)])
        yield service


def scan_of(client: Any, stop: str = "2024-01-11", attrs: tuple[str, ...] = ("id", "code_status")) -> Any:
    return client.scan_codes([*attrs, "allocated_time"], allocated_time=da.days("2024-01-01", stop))


@pytest.mark.parametrize(
    ("refresh", "days"),
    [
        ("all", range(10)),
        ((date(2024, 1, 2), datetime(2024, 1, 4, 15, 30)), [1, 3]),  # noqa: DTZ001 - in the client's zone
        (["days('2024-01-09', '2024-01-11')", da.days("2024-01-01", "2024-01-03"), "2024-01-05"], [0, 1, 4, 8, 9]),
        ([], []),
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
    assert [task.day for task in report.files if task.state != "kept"] == [DAYS[day] for day in days]
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
        assert "\nopen: " in str(report)
        assert len(scan.read_folder(tmp_path, missing="ignore")) == 0


def test_the_plan_names_days_that_are_not_over(connect: Any) -> None:
    # The clock of this machine counts before anything is sent.
    today = datetime.now(UTC).date()
    client = connect("https://cdp.example.com", token="tok", timezone="Etc/GMT+12")
    scan = client.scan_codes(["id"], allocated_time=da.days(today - timedelta(days=3), today + timedelta(days=2)))
    assert re.search(rf"not over: +[23] days: .*{today}, {today + timedelta(days=1)}$", scan.explain())
    assert f"{today}" in scan._repr_html_()
    old = client.scan_codes(["id", "allocated_time"], allocated_time=da.days("2024-01-01", "2024-01-06"))
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


def scan(client: Any, start: int, stop: int) -> Any:
    """A scan of some days of January 2024, `stop` excluded."""
    days = da.days(f"2024-01-{start:02}", f"2024-01-{stop:02}")
    return client.scan_codes(["id", "allocated_time"], allocated_time=days)


@pytest.mark.both_clients
def test_nothing_binds_a_folder_before_the_first_finished_task(connect: Any, store: da.Sandbox, tmp_path: Path) -> None:
    with pytest.raises(da.ConnectError, match=r"\b[12] of 2\b"):
        scan(connect("http://127.0.0.1:9", retry_for=0), 1, 3).to_folder(tmp_path)
    with pytest.raises(da.PermissionDeniedError):
        scan(connect(store.base_url, token="wrong"), 1, 3).to_folder(tmp_path)
    everything = connect(store).scan_codes(["id"], allocated_time=da.after("2024-01-01"))
    with store.fault("status", status=400), pytest.raises(da.ScanIncompleteError):
        everything.to_folder(tmp_path)
    # Warnings are errors here.
    assert scan(connect(store), 1, 3).to_folder(tmp_path).rows == 44
    # The same service may have another address.
    with da.Sandbox() as other:
        other.load("promotion_code", [row(3, "other")])
        more = scan(connect(other), 1, 4)
        assert more.to_folder(tmp_path, same_service=True).rows == more.read_folder(tmp_path).num_rows == 45


def test_synthetic_rows_are_never_mixed_with_others(connect: Any, store: da.Sandbox, tmp_path: Path) -> None:
    with serving(always(response_of([{"id": "a", "allocated_time": "2024-01-01 12:00:00"}]))) as server:
        clients = connect(store), connect(server.base_url)
        for number, (first, second) in enumerate([clients, clients[::-1]]):
            scan(first, 1, 2).to_folder(tmp_path / str(number))
            with pytest.raises(kinds.Mismatch):
                scan(second, 2, 3).to_folder(tmp_path / str(number), same_service=True)


# Types of runs over objects: the first task with rows decides for all, in later runs too.


BIG = 70_001


def numbered(**numbers: list[Any]) -> dict[str, list[dict[str, Any]]]:
    return {value: [{"n": number, "text": "x"} for number in each] for value, each in numbers.items()}


def types_of(folder: Path) -> list[dict[str, Any]]:
    return [dict(pl.read_parquet_schema(part)) for part in parts(folder)]


def test_the_first_task_with_rows_sets_the_types_of_all(connect: Any, tmp_path: Path) -> None:
    records: dict[str, list[dict[str, Any]]] = {
        **{"a": [], "b": [{"n": 1, "text": "x"}], "c": [{"n": None, "text": None}], "d": []},
        "e": [{"n": 2, "text": "y", "more": 1}],
    }
    with responding(giving(records)) as server:
        report = by_value(connect(server.base_url), list(records)).to_folder(tmp_path)
        # One by one, until there are types.
        assert values_asked(server)[:2] == ["a", "b"]
    # The first was asked before there were types: its file is written once there are.
    assert types_of(tmp_path) == [{"n": pl.Int64, "text": pl.String}] * 5
    assert [(task.rows, task.bytes > 0) for task in report.files] == [(rows, True) for rows in (0, 1, 1, 0, 1)]
    assert pyarrow.dataset.dataset(tmp_path).to_table().to_pylist() == rows_in(tmp_path)
    assert [row["n"] for row in rows_in(tmp_path)] == [1, None, 2]


def test_a_value_of_another_type_fails_its_task_alone_and_says_what_to_write(connect: Any, tmp_path: Path) -> None:
    records = numbered(a=[1], b=[2, "two"], c=[3])
    with responding(giving(records)) as server:
        scan = by_value(connect(server.base_url), list(records))
        with pytest.raises(da.ScanIncompleteError) as caught:
            scan.to_folder(tmp_path)
        (error,) = caught.value.failed.values()
        assert isinstance(error, kinds.Record)
        assert (error.row, error.column, kinds.fixed_by(error)[0]) == (1, "n", "n")
        assert [row["n"] for row in rows_in(tmp_path)] == [1, 3]
        # As it says.
        mended = by_value(connect(server.base_url), list(records), schema={"n": "json"})
        assert mended.to_folder(tmp_path).rows == 4
        assert [json.loads(row["n"]) for row in rows_in(tmp_path)] == [1, 2, "two", 3]
        # A complete run is not requested again in other types.
        with pytest.raises(kinds.Mismatch) as refused:
            by_value(connect(server.base_url), list(records), schema={"n": "int64"}).to_folder(tmp_path)
        assert refused.value.field == "schema"


def test_a_schema_that_changes_a_column_asks_again_for_the_tasks_with_files(connect: Any, tmp_path: Path) -> None:
    records = numbered(a=[], b=[1], c=[2.5])
    with responding(giving(records)) as server:
        with pytest.raises(da.ScanIncompleteError):
            by_value(connect(server.base_url), list(records)).to_folder(tmp_path)
        changed = by_value(connect(server.base_url), list(records), schema={"n": "float64"})
        assert [task.state == "kept" for task in changed.to_folder(tmp_path).files] == [False, False, False]
    assert types_of(tmp_path) == [{"n": pl.Float64, "text": pl.String}] * 3
    assert [row["n"] for row in rows_in(tmp_path)] == [1.0, 2.5]


def test_where_no_task_has_rows_there_are_no_files(connect: Any, tmp_path: Path) -> None:
    with responding(giving({"a": [], "b": []})) as server:
        for asked in (2, 4):
            empty = by_value(connect(server.base_url), ["a", "b"])
            report = empty.to_folder(tmp_path)
            assert len(server.requests) == asked
    assert (report.rows, [file.bytes for file in report.files]) == (0, [0, 0])
    assert [(task.path, task.state == "kept") for task in report.files] == [(None, False)] * 2
    with pytest.raises(da.ScanIncompleteError):
        empty.read_folder(tmp_path)
    assert empty.read_folder(tmp_path, missing="ignore").column_names == ["n", "text"]
    assert parts(tmp_path) == []


def breaking_off(first: list[dict[str, Any]], then: list[dict[str, Any]]) -> Any:
    """Cuts off after many records, and sends others on a retry."""

    def give(connection: Any, _value: str, before: int) -> None:
        whole = response_of(first if before == 0 else then)
        connection.sendall(HEAD + whole.partition(b"\r\n\r\n")[2][: -3 if before == 0 else None])
        raise Close

    return give


def test_rows_that_were_taken_back_leave_neither_rows_nor_types(connect: Any, tmp_path: Path) -> None:
    with responding(breaking_off(numbered(a=[*range(BIG)])["a"], [])) as server:
        report = by_value(connect(server.base_url), ["a"]).to_folder(tmp_path)
        assert (len(server.requests), report.rows, report.retries) == (2, 0, 1)
    assert parts(tmp_path) == []
    assert report.files[0].bytes == 0


def test_rows_that_were_taken_back_are_not_twice_in_the_file(connect: Any, tmp_path: Path) -> None:
    # Others are of another type, which what is void does not decide.
    many, others = numbered(many=[*range(BIG)], others=[f"n-{number}" for number in range(BIG)]).values()
    for number, then in enumerate([many[::-1], others]):
        with responding(breaking_off(many, then)) as server:
            report = by_value(connect(server.base_url), ["a"]).to_folder(tmp_path / f"{number}")
            assert (len(server.requests), report.rows) == (2, BIG)
        assert rows_in(tmp_path / f"{number}") == then


def test_a_task_without_rows_has_a_file_as_soon_as_there_are_types(connect: Any, tmp_path: Path) -> None:
    responses = {"a": response_of([]), "b": http(b"", "500 Internal Server Error")}
    with responding(lambda connection, value, _: connection.sendall(responses[value])) as server:
        values = by_value(connect(server.base_url, retry_for=0), ["a", "b"])
        with pytest.raises(da.ScanIncompleteError) as caught:
            values.to_folder(tmp_path)
        # The first task is done in this report; nothing says so in the folder, so it is requested again.
        assert caught.value.report is not None
        assert [task.path for task in caught.value.report.files] == [None]
        assert tasks_done(tmp_path) == []
        responses["b"] = response_of([{"n": 1, "text": "x"}])
        report = values.to_folder(tmp_path)
    assert [(task.rows, task.state == "kept") for task in report.files] == [(0, False), (1, False)]
    assert len(parts(tmp_path)) == 2


def test_types_hold_for_other_days_of_other_calls(connect: Any, tmp_path: Path) -> None:
    rows = [{"id": "a", "at": "2024-01-01 10:00:00", "size": 1}, {"id": "b", "at": "2024-01-02 10:00:00", "size": None}]
    with da.Sandbox() as service:
        service.declare("visit", 7, {"id": "string", "at": "datetime", "size": "number"})
        service.load("visit", rows)
        client = connect(service)

        def visits(day: str, **options: Any) -> Any:
            where = da.col("at").on(day)
            return client.scan_items("visit", ["id", "size"], where, item_type_id=7, **options)

        for day in ("2024-01-01", "2024-01-02", "2024-01-03"):
            (task,) = visits(day).to_folder(tmp_path).files
            # Alone, the second would be of strings, and the third would have no file.
            assert visits(day).read_folder(tmp_path).schema == {"id": "string", "size": "int64"}
            assert task.path == tmp_path / f"day={day}" / "part-0.parquet"
        assert visits("2024-01-01", schema={"size": "int64"}).to_folder(tmp_path).kept == 1, "it changes no column"
        for day, refresh in (("2024-01-04", None), ("2024-01-01", "all")):
            with pytest.raises(kinds.Mismatch, check=lambda error: error.field == "schema"):
                visits(day, schema={"size": "string"}).to_folder(tmp_path, refresh=refresh)
