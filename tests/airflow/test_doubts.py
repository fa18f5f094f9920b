"""Doubts in XCom, asset events and the log; arguments in place of the connection's settings; rows that are too few."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG, Asset
from airflow.timetables.interval import CronDataIntervalTimetable
from dags import Run, extras, run, tries
from service import at_request
from structlog.testing import capture_logs

import dataaccess as da
from dataaccess.airflow import (
    DataAccessScanOperator,
    DataAccessSearchOperator,
)

ON_15 = da.on("2024-01-15")
ATTRS = ["id", "allocated_time"]
DOUBTS = ["maybe_capped", "warnings"]


@pytest.fixture(autouse=True)
def token(connect: Callable[..., str]) -> str:
    return connect()


@pytest.fixture
def capped(connect: Callable[..., str]) -> Iterator[da.Sandbox]:
    """A service that sends fifty rows at most."""
    with da.Sandbox.demo(until="2024-02-29", switches={"maximum_rows": 50}) as sandbox:
        connect(host=sandbox.base_url, password=sandbox.issue_token())
        yield sandbox


@pytest.fixture
def dag(request: pytest.FixtureRequest) -> DAG:
    return DAG(str(request.node.name).partition("[")[0], schedule=None)


def daily(name: str, **arguments: Any) -> DAG:
    """A DAG that scans one day into a folder."""
    schedule = CronDataIntervalTimetable("@daily", timezone="UTC")
    with DAG(name, schedule=schedule, start_date=datetime(2024, 1, 1, tzinfo=UTC)) as dag:
        DataAccessScanOperator(task_id="codes", attrs=ATTRS, outlets=[Asset(name)], **arguments)
    return dag


def nights(dag: DAG, first: int, stop: int) -> list[Run]:
    """The runs for some days of January."""
    return [run(dag, logical_date=datetime(2024, 1, day + 1, tzinfo=UTC)) for day in range(first, stop)]


@pytest.mark.usefixtures("capped")
def test_runs_of_one_day_see_that_all_days_are_capped(tmp_path: Path) -> None:
    results = [night.result("codes") for night in nights(daily("capped", folder=str(tmp_path)), 8, 13)]

    assert [result["rows"] for result in results] == [50] * 5
    # Two equal numbers may be chance.
    assert [result["maybe_capped"] for result in results] == [False, False, True, True, True]
    last = results[-1]
    (warning,) = last["warnings"]
    assert re.search(r"\b1 of 1\b.*\b4 of 4\b.*\b50\b.*\(2024-01-12\)", warning)
    assert last["doubtful_days"] == ["2024-01-12"]
    assert extras("capped") == last


def test_a_day_that_looks_capped_fails_where_doubts_are_errors(
    capped: da.Sandbox, connect: Callable[..., str], tmp_path: Path
) -> None:
    connect("known", host=capped.base_url, password=capped.issue_token(), extra={"known_row_cap": 50})
    of_known: dict[str, Any] = {"dataaccess_conn_id": "known", "on_doubt": "error"}
    known = nights(daily("known", folder=str(tmp_path / "known"), **of_known), 8, 9)
    beside = nights(daily("beside", folder=str(tmp_path / "beside"), on_doubt="error"), 8, 12)

    states = [night.states["codes"] for night in [*known, *beside]]
    assert states == ["failed", "success", "success", "failed", "failed"]
    assert not list(tmp_path.glob("known/day=*/*")), "nothing doubtful was written"
    assert len(list(tmp_path.glob("beside/day=*/*"))) == 2


def test_a_wrong_zone_is_in_xcom_and_fails_where_doubts_are_errors(
    dag: DAG, connect: Callable[..., str], tmp_path: Path
) -> None:
    connect(extra={"timezone": "Asia/Ho_Chi_Minh"})
    shared: dict[str, Any] = {"allocated_time": ON_15, "attrs": ATTRS}
    with dag:
        DataAccessScanOperator(task_id="folder", folder=str(tmp_path / "folder"), **shared)
        DataAccessSearchOperator(task_id="file", path=f"{tmp_path}/codes.parquet", **shared)
        DataAccessSearchOperator(task_id="rows", outlets=[Asset("rows")], **shared)
        DataAccessScanOperator(task_id="strict_folder", folder=str(tmp_path / "strict"), on_doubt="error", **shared)
        DataAccessSearchOperator(task_id="strict_file", path=f"{tmp_path}/strict.parquet", on_doubt="error", **shared)
        DataAccessSearchOperator(task_id="strict_rows", on_doubt="error", **shared)
    done = run(dag)

    assert {task: state for task, state in done.states.items() if state == "failed"} == dict.fromkeys(
        ["strict_folder", "strict_file", "strict_rows"], "failed"
    )
    assert [path.name for path in tmp_path.glob("strict*/day=*")] == []
    assert not (tmp_path / "strict.parquet").exists()
    found = [done.result("folder"), done.result("file"), extras("rows")]
    assert [figures["rows"] for figures in found] == [len(done.result("rows"))] * 3
    assert all("2024-01-14 00:00:00" in figures["warnings"][0] for figures in found)
    assert done.xcom("rows", "figures") == extras("rows")


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_each_operator_reports_its_doubts(
    dag: DAG, capped: da.Sandbox, connect: Callable[..., str], tmp_path: Path
) -> None:
    connect(host=capped.base_url, password=capped.issue_token(), extra={"known_row_cap": 50})
    with dag:
        DataAccessSearchOperator(task_id="file", allocated_time=ON_15, path=f"{tmp_path}/codes.parquet")
        DataAccessSearchOperator(
            task_id="items",
            item_type_name="customer",
            attrs=["customer_id"],
            path=f"{tmp_path}/customers.jsonl",
        )
        DataAccessSearchOperator(
            task_id="strict", allocated_time=ON_15, path=f"{tmp_path}/strict/codes.jsonl", on_doubt="error"
        )
    with capture_logs() as logged:
        done = run(dag)

    assert done.states == {"file": "success", "items": "success", "strict": "failed"}
    for task in ("file", "items"):
        result = done.result(task)
        assert sorted(result) == sorted(["path", "rows", *DOUBTS]), task
        assert (result["rows"], result["maybe_capped"]) == (50, True), task
        (line,) = [line for line in logged if result["path"] in line["event"]]
        assert line["log_level"] == "warning"
        assert line["event"].startswith("50 ")
        assert "known_row_cap" in line["event"]
    assert files_in(tmp_path / "strict") == []


def test_a_run_logs_one_line(dag: DAG, tmp_path: Path) -> None:
    with dag:
        DataAccessScanOperator(task_id="codes", folder=str(tmp_path), attrs=["id"], allocated_time=ON_15)
    with capture_logs() as logged:
        run(dag)
    (line,) = [line for line in logged if str(tmp_path) in line["event"] and line["event"].startswith("73 ")]
    assert line["log_level"] == "info"
    assert re.fullmatch(rf"73 .*\b2024-01-15\b.* {tmp_path}; 1 new, 0 kept, 0 refreshed", line["event"])


@pytest.fixture
def late(connect: Callable[..., str]) -> Iterator[Callable[[Callable[[], Run]], Run]]:
    """Runs what is retried once; the rows of the day are there from the second request on."""
    with da.Sandbox() as service:
        connect(host=service.base_url, password=service.issue_token())
        row = {"id": "a", "allocated_time": "2024-01-15 09:00:00"}

        def during(act: Callable[[], Run]) -> Run:
            with at_request(service, 2, lambda: service.load("promotion_code", [row])):
                return act()

        yield during


@pytest.mark.parametrize("kind", ["folder", "file", "rows"])
def test_rows_that_come_late_are_there_after_a_retry(
    dag: DAG, late: Callable[[Callable[[], Run]], Run], kind: str, tmp_path: Path
) -> None:
    shared: dict[str, Any] = {"task_id": "codes", "allocated_time": ON_15, "attrs": ["id"], "retries": 1}
    shared["fail_on_empty"] = True
    with dag:
        if kind == "folder":
            DataAccessScanOperator(folder=str(tmp_path / "codes"), **shared)
        elif kind == "file":
            DataAccessSearchOperator(path=f"{tmp_path}/codes.parquet", **shared)
        else:
            DataAccessSearchOperator(**shared)
    done = late(lambda: run(dag))

    assert (done.states, tries(done, "codes")) == ({"codes": "success"}, 2)
    result = done.result("codes")
    assert (len(result) if kind == "rows" else result["rows"]) == 1


def test_a_result_without_rows_fails_and_replaces_no_file(
    dag: DAG, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = tmp_path / "codes.parquet"
    before.write_text("of yesterday")
    none: dict[str, Any] = {"allocated_time": da.on("2023-01-15"), "attrs": ["id"], "fail_on_empty": True}
    with dag:
        DataAccessSearchOperator(task_id="file", path=str(before), **none)
        DataAccessSearchOperator(task_id="rows", **none)
        DataAccessScanOperator(task_id="folder", folder=str(tmp_path / "folder"), **none)
        DataAccessSearchOperator(task_id="some", **{**none, "allocated_time": ON_15})
    done = run(dag)

    assert {task for task, state in done.states.items() if state == "success"} == {"some"}
    assert before.read_text() == "of yesterday"
    assert "no rows of 2023-01-15, and fail_on_empty=True" in "".join(capfd.readouterr())
