"""`DataAccessCheckOperator`: which days of a folder are not as its readers expect."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG
from airflow.timetables.interval import CronDataIntervalTimetable
from dags import Run, run, tries

import dataaccess as da
from dataaccess.airflow import DataAccessCheckOperator

ATTRS = ["id", "allocated_time"]
WEEK = da.days("2024-01-08", "2024-01-15")


@pytest.fixture
def dag(request: pytest.FixtureRequest) -> DAG:
    return DAG(str(request.node.name).partition("[")[0], schedule=None, params={"stop": "2024-01-15"})


@pytest.fixture
def fill(sandbox: da.Sandbox, tmp_path: Path, connect: Callable[..., str]) -> Callable[..., str]:
    """Fills the folder. The connection leads nowhere: a check needs none."""
    connect(host="http://127.0.0.1:9", password=None)

    def fill(days: Any, client: Any = None, **options: Any) -> str:
        scan = (client or sandbox.client()).scan_codes(ATTRS, allocated_time=days)
        scan.to_folder(tmp_path / "codes", **options)
        sandbox.requests.clear()
        return str(tmp_path / "codes")

    return fill


@pytest.fixture
def errors(capfd: pytest.CaptureFixture[str]) -> Callable[[Run, str], str]:
    """What is logged until a task has failed."""
    logged = ""

    def error(done: Run, task_id: str) -> str:
        nonlocal logged
        assert done.states[task_id] == "failed"
        logged += "".join(capfd.readouterr())
        return logged

    return error


def test_a_complete_folder_passes(dag: DAG, fill: Callable[..., str]) -> None:
    folder = fill(WEEK)
    with dag:
        DataAccessCheckOperator(
            task_id="week",
            folder=folder,
            days="days('2024-01-08', '{{ params.stop }}')",
            max_age=timedelta(days=1),
            min_rows=400,
            fail_on_empty=True,
        )
        DataAccessCheckOperator(task_id="day", folder=folder, days=da.on("2024-01-09"))
    done = run(dag)

    assert done.states == {"week": "success", "day": "success"}
    result = done.result("week")
    assert datetime.now(UTC) - datetime.fromisoformat(result.pop("oldest")) < timedelta(hours=1)
    assert result.pop("bytes") > 0
    none = ["missing_days", "damaged_days", "open_days", "unsettled_days", "old_days", "doubtful_days", "warnings"]
    rows = len(da.Sandbox.demo(until="2024-02-29").client().search_codes(["id"], allocated_time=WEEK))
    assert result == {
        "folder": folder,
        "rows": rows,
        "first_day": "2024-01-08",
        "last_day": "2024-01-14",
        **{name: [] for name in none},
    }
    assert (done.result("day")["first_day"], done.result("day")["last_day"]) == ("2024-01-09", "2024-01-09")


def test_each_problem_fails_and_names_the_days(dag: DAG, fill: Callable[..., str], errors: Any) -> None:
    with da.Sandbox(now="2024-01-14T12:00") as early:
        days = [f"2024-01-{day:02}" for day in range(8, 15)]
        early.load("promotion_code", [{"id": day, "allocated_time": f"{day} 09:00:00"} for day in days])
        folder = fill(WEEK, early.client())
    damaged, missing = (Path(folder, f"day=2024-01-{day}", "part-0.parquet") for day in ("10", "12"))
    damaged.write_bytes(damaged.read_bytes()[:-9])
    missing.unlink()
    missing.parent.rmdir()
    expected: dict[str, tuple[str, dict[str, Any]]] = {
        "missing": ("missing: 2024-01-07, 2024-01-12", {"days": da.days("2024-01-07", "2024-01-15")}),
        "damaged": ("damaged: 2024-01-10", {"days": WEEK}),
        "open": ("open: 2024-01-14", {"days": WEEK}),
        "old": ("old: 2024-01-08, 2024-01-09, 2024-01-11", {"days": WEEK, "max_age": 0}),
        "few": ("min_rows=10000", {"days": WEEK, "min_rows": 10_000}),
        "empty": ("2024-01-10, and fail_on_empty=True", {"days": WEEK, "fail_on_empty": True}),
    }
    with dag:
        for task, (_, arguments) in expected.items():
            DataAccessCheckOperator(task_id=task, folder=folder, retries=1, **arguments)
    done = run(dag)

    for task, (message, _) in expected.items():
        assert message in errors(done, task), task
        # Another task may fill the folder meanwhile.
        assert tries(done, task) == 2


def test_a_cap_that_no_run_could_see_fails_the_days(dag: DAG, fill: Callable[..., str], errors: Any) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"maximum_rows": 50}) as capped:
        for day in range(8, 12):
            folder = fill(da.on(f"2024-01-{day:02}"), capped.client())
    with dag:
        DataAccessCheckOperator(task_id="strict", folder=folder, days=da.on("2024-01-08"))
        DataAccessCheckOperator(task_id="lenient", folder=folder, days=da.on("2024-01-08"), on_doubt="warn")
    done = run(dag)

    text = errors(done, "strict")
    assert "doubtful: 2024-01-08" in text
    assert re.search(r"\b4 of 4\b.*\b50\b", text)
    assert done.states["lenient"] == "success"
    assert done.result("lenient")["doubtful_days"] == ["2024-01-08"]


def test_the_days_of_the_run_are_those_of_the_zone_of_the_folder(
    fill: Callable[..., str], sandbox: da.Sandbox, errors: Any
) -> None:
    zone = "Asia/Ho_Chi_Minh"
    folder = fill(da.on("2024-01-15"), sandbox.client(timezone=zone))
    schedule = CronDataIntervalTimetable("15 0 * * *", timezone=zone)
    with DAG("zone", schedule=schedule, start_date=datetime(2024, 1, 1, tzinfo=UTC)) as dag:
        DataAccessCheckOperator(task_id="day", folder=folder, on_doubt="warn")
    # A quarter past midnight of the 16th and of the 17th there.
    there, missing = (run(dag, logical_date=datetime(2024, 1, day, 17, 15, tzinfo=UTC)) for day in (15, 16))

    assert there.states == {"day": "success"}
    assert there.result("day")["first_day"] == "2024-01-15"
    assert "missing: 2024-01-16" in errors(missing, "day")


def test_a_folder_without_days_is_checked_as_a_whole(
    dag: DAG, sandbox: da.Sandbox, tmp_path: Path, errors: Any
) -> None:
    folder = tmp_path / "customers"
    sandbox.client().scan_items("customer", ["customer_id"]).to_folder(folder)
    with dag:
        DataAccessCheckOperator(task_id="all", folder=str(folder), min_rows=1)
        DataAccessCheckOperator(task_id="old", folder=str(folder), max_age=0)
        DataAccessCheckOperator(task_id="none", folder=str(tmp_path / "none"), days=WEEK)
    done = run(dag)

    assert done.states == {"all": "success", "old": "failed", "none": "failed"}
    assert "part-00000.parquet" in errors(done, "old")


@pytest.mark.parametrize("days", ["since('2024-01-08')", "last_day(7)"], ids=["since", "misspelled"])
def test_what_names_no_days_is_not_retried(dag: DAG, fill: Callable[..., str], errors: Any, days: str) -> None:
    folder = fill(da.on("2024-01-08"))
    with dag:
        DataAccessCheckOperator(task_id="check", folder=folder, days=days, retries=2)
    done = run(dag)
    assert "ValidationError: days: " in errors(done, "check")
    assert tries(done, "check") == 1


def test_a_known_cap_needs_no_comparison(dag: DAG, fill: Callable[..., str], errors: Any) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"maximum_rows": 50}) as capped:
        folder = fill(da.on("2024-01-08"), capped.client())
    with dag:
        for cap in (49, 50):
            DataAccessCheckOperator(task_id=f"of_{cap}", folder=folder, days=da.on("2024-01-08"), known_row_cap=cap)
    done = run(dag)
    assert done.states["of_49"] == "success"
    assert re.search(r"\b50\b.*\bknown_row_cap\b", errors(done, "of_50"))
