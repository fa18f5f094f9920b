"""`DataAccessScanOperator`: the days of runs, retries that resume, locks; and doubts, of both operators."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
from airflow.sdk import DAG, Asset, chain
from airflow.timetables.interval import CronDataIntervalTimetable
from dags import NO_DOUBTS, extras, query, run, tries
from service import requested_days, wait_until
from structlog.testing import capture_logs

import dataaccess as da
from dataaccess.airflow import DataAccessScanOperator, DataAccessSearchOperator, operators
from dataaccess.airflow.compat import exceptions
from dataaccess.airflow.days import RunDays, refresh_since

pytestmark = pytest.mark.usefixtures("token")

BEGIN = datetime(2024, 2, 1, 6, tzinfo=UTC)
ON_15 = da.on("2024-01-15")
WEEK = da.days("2024-01-08", "2024-01-15")


def test_a_retry_requests_only_what_is_missing(
    dag: DAG, sandbox: da.Sandbox, connect: Callable[..., str], tmp_path: Path
) -> None:
    connect(extra={"retry_for": 0, "concurrency": 1})
    with dag:
        DataAccessScanOperator(
            task_id="week", folder=str(tmp_path), allocated_time=WEEK, retries=1, outlets=[Asset("week")]
        )
    with sandbox.fault("cut", after_bytes=2_000, after=4, times=1) as fault, capture_logs() as logged:
        done = run(dag)

    assert (done.states, tries(done, "week"), fault.hits) == ({"week": "success"}, 2, 1)
    assert len(sandbox.requests) == 8
    expected = sandbox.client().search_codes(["id"], allocated_time=WEEK)
    counts = query(f"select count(*), count(distinct id), count(distinct day) from '{tmp_path}/*/*.parquet'")
    assert counts == [(len(expected), len(expected), 7)]
    result = done.result("week")
    size = sum(path.stat().st_size for path in tmp_path.glob("*/*.parquet"))
    assert result | {"kept": 0} == {
        "folder": str(tmp_path),
        "rows": len(expected),
        "bytes": size,
        "files": 7,
        "new": 7 - result["kept"],
        "kept": 0,
        "refreshed": 0,
        "first_day": "2024-01-08",
        "last_day": "2024-01-14",
        "open_days": [],
        "doubtful_days": [],
        **NO_DOUBTS,
    }
    assert result["kept"] > 0
    assert extras("week") == result
    (line,) = [
        line for line in logged if str(tmp_path) in line["event"] and line["event"].startswith(f"{len(expected)} ")
    ]
    counts = f"{result['new']} new, {result['kept']} kept, 0 refreshed"
    assert (line["log_level"], line["event"].partition("; ")[2]) == ("info", counts)


def test_a_day_that_may_change_is_requested_again(dag: DAG, connect: Callable[..., str], tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"folder": str(tmp_path), "allocated_time": WEEK, "dataaccess_conn_id": "early"}
    with da.Sandbox(now="2024-01-14T12:00") as early, dag:
        days = [f"2024-01-{day:02}" for day in range(8, 15)]
        early.load("promotion_code", [{"id": day, "allocated_time": f"{day} 09:00:00"} for day in days])
        connect("early", host=early.base_url, password=early.issue_token())
        chain(
            DataAccessScanOperator(task_id="first", **arguments),
            DataAccessScanOperator(task_id="days", settle=2, **arguments),
            DataAccessScanOperator(task_id="duration", settle=timedelta(days=30), **arguments),
            DataAccessScanOperator(task_id="settled", **arguments),
        )
        done = run(dag)

    tasks = ("first", "days", "duration", "settled")
    assert [done.result(task)["open_days"] for task in tasks] == [["2024-01-14"]] * 4
    counts = [(done.result(task)["refreshed"], done.result(task)["kept"]) for task in tasks]
    assert counts == [(0, 0), (3, 4), (7, 0), (1, 6)]


def test_doubtful_rows_replace_nothing_until_they_are_accepted(
    dag: DAG, connect: Callable[..., str], tmp_path: Path
) -> None:
    shared: dict[str, Any] = {"folder": str(tmp_path), "allocated_time": ON_15, "attrs": ["id"], "requested_at": True}
    less: dict[str, Any] = {**shared, "dataaccess_conn_id": "less", "trigger_rule": "all_done", "same_service": True}
    with da.Sandbox() as other, dag:
        other.load("promotion_code", [{"id": "a", "allocated_time": "2024-01-15 09:00:00"}])
        connect("less", host=other.base_url, password=other.issue_token())
        chain(
            DataAccessScanOperator(task_id="first", **shared),
            DataAccessScanOperator(task_id="elsewhere", **{**less, "same_service": False}),
            DataAccessScanOperator(task_id="keep", refresh="all", **less),
            DataAccessScanOperator(task_id="doubt", on_doubt="error", **less),
            DataAccessScanOperator(task_id="again", **less),
            DataAccessScanOperator(task_id="accept", accept="{{ '2024-01-15' }}", on_doubt="error", **less),
            DataAccessScanOperator(task_id="after", on_doubt="error", **less),
        )
        done = run(dag)

    failed = dict.fromkeys(("elsewhere", "doubt"), "failed")
    succeeded = ("first", "keep", "again", "accept", "after")
    assert done.states == {**dict.fromkeys(succeeded, "success"), **failed}
    assert [done.result(task)["rows"] for task in succeeded] == [73, 73, 73, 1, 1]
    doubtful = [[], ["2024-01-15"], ["2024-01-15"], [], []]
    assert [done.result(task)["doubtful_days"] for task in succeeded] == doubtful
    assert query(f"select count(*), count(requested_at) from '{tmp_path}/*/*.parquet'") == [(1, 1)]


def test_a_condition_that_is_not_given_is_nothing_that_airflow_cannot_store() -> None:
    task = DataAccessScanOperator(task_id="codes", folder="/data")
    # The process that reads DAG files sends them so.
    assert msgspec.msgpack.encode({name: getattr(task, name) for name in task.template_fields})


@contextmanager
def in_use(sandbox: da.Sandbox, folder: Path) -> Iterator[ExitStack]:
    """A folder that a run holds, in the middle of a request, until the stack is closed."""
    codes = sandbox.client(concurrency=1).scan_codes(["id"], allocated_time=WEEK)
    other = threading.Thread(target=lambda: codes.to_folder(folder))
    with ExitStack() as holding:
        held = holding.enter_context(sandbox.fault("stall", times=1))
        other.start()
        wait_until(lambda: held.hits, "a request of the other run")
        yield holding
    other.join()


def test_a_run_waits_for_a_folder_in_use(
    dag: DAG, sandbox: da.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operators, "_SECONDS_BETWEEN_TRIES", 0.1)
    with dag:
        DataAccessScanOperator(task_id="waits", folder=str(tmp_path), allocated_time=WEEK, attrs=["id"])
    in_use_by = f"process {os.getpid()}"
    with in_use(sandbox, tmp_path) as holding, capture_logs() as logged:

        def release() -> None:
            with holding:
                wait_until(lambda: any(in_use_by in each["event"] for each in logged), "the lock")

        releasing = threading.Thread(target=release)
        releasing.start()
        done = run(dag)
        releasing.join()

    assert done.states == {"waits": "success"}
    # The other run has requested all of it.
    result = done.result("waits")
    assert (result["kept"], result["new"], len(sandbox.requests)) == (7, 0, 7)


def test_the_log_shows_how_far_a_long_run_is(dag: DAG, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "_SECONDS_BETWEEN_LOGS", 0)
    with dag:
        DataAccessScanOperator(task_id="week", folder=str(tmp_path), allocated_time=WEEK, attrs=["id"])
    with capture_logs() as logged:
        run(dag)
    assert any(re.match(r"\d of 7 requests done, ", str(line["event"])) for line in logged)


def test_a_run_gives_up_on_a_folder_that_stays_in_use(
    dag: DAG,
    sandbox: da.Sandbox,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(operators, "_SECONDS_FOR_LOCK", 0.2)
    with dag:
        DataAccessScanOperator(task_id="week", folder=str(tmp_path), allocated_time=WEEK, attrs=["id"])
    with in_use(sandbox, tmp_path):
        done = run(dag)
        # That of the other run.
        assert len(sandbox.requests) == 1
    assert done.states == {"week": "failed"}
    assert "FolderLockedError: " in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    ("arguments", "defaults", "expected"),
    [
        ({}, {}, 1),
        ({"max_active_tis_per_dag": None}, {}, None),
        ({}, {"max_active_tis_per_dag": 2}, 2),
    ],
)
def test_mapped_scans_run_one_at_a_time_unless_an_argument_says_otherwise(
    arguments: dict[str, Any], defaults: dict[str, Any], expected: int | None
) -> None:
    with DAG("mapped", schedule=None, default_args=defaults) as dag:
        partial = DataAccessScanOperator.partial(task_id="mapped", folder="codes", **arguments)
        partial.expand(allocated_time=["on('2024-01-15')", "on('2024-01-16')"])
        DataAccessScanOperator(task_id="single", folder="codes", **arguments)
    found = [dag.get_task(name).max_active_tis_per_dag for name in ("mapped", "single")]
    assert found == [expected, expected]


IN_VIETNAM = "Asia/Ho_Chi_Minh"


def daily(name: str, zone: str = "UTC", cron: str = "15 0 * * *", **options: Any) -> DAG:
    schedule = CronDataIntervalTimetable(cron, timezone=zone)
    return DAG(name, schedule=schedule, start_date=datetime(2024, 1, 1, tzinfo=UTC), **options)


def days_of(sandbox: da.Sandbox, zone: tzinfo = UTC) -> list[str]:
    """The days that were requested since the last call, in the order of days."""
    days = requested_days(sandbox, zone)
    sandbox.clear_requests()
    return sorted(days)


def test_the_days_before_are_requested_again(sandbox: da.Sandbox, connect: Callable[..., str], tmp_path: Path) -> None:
    connect(extra={"timezone": IN_VIETNAM})
    with daily("lookback", IN_VIETNAM) as dag:
        DataAccessScanOperator(task_id="codes", folder=str(tmp_path), attrs=["id"], lookback=3)
    results = []
    for day in (15, 16):
        results.append(run(dag, logical_date=datetime(2024, 1, day, 17, 15, tzinfo=UTC)).result("codes"))
        assert days_of(sandbox, ZoneInfo(IN_VIETNAM)) == [f"2024-01-{day - ago}" for ago in (3, 2, 1, 0)]
    keys = ("new", "refreshed", "kept", "first_day", "last_day")
    assert [[result[key] for key in keys] for result in results] == [
        [4, 0, 0, "2024-01-12", "2024-01-15"],
        [1, 3, 0, "2024-01-13", "2024-01-16"],
    ]


def test_the_retry_of_a_run_that_looks_back_keeps_what_its_run_has(connect: Callable[..., str], tmp_path: Path) -> None:
    # `dag.test()` begins a run at its logical date: the service has the clock of that time.
    monday = datetime(2024, 1, 16, tzinfo=UTC)
    with da.Sandbox.demo(now=monday - timedelta(hours=1)) as service:
        connect(host=service.base_url, password=service.issue_token(), extra={"retry_for": 0, "concurrency": 1})
        with daily("looks_back_and_retries", cron="15 0 * * MON") as dag:
            DataAccessScanOperator(task_id="codes", folder=str(tmp_path), attrs=["id"], lookback=3, retries=1)
        run(dag, logical_date=monday)
        assert len(days_of(service)) == 10
        service.advance(7200)
        with service.fault("cut", after_bytes=200, after=4, times=1) as fault:
            done = run(dag, logical_date=monday)
        # The retry requests the day that failed, and no other.
        assert (fault.hits, tries(done, "codes"), len(days_of(service))) == (1, 2, 11)
    assert done.result("codes")["kept"] == 9


@pytest.mark.parametrize("interval", [{}, {"data_interval_start": BEGIN, "data_interval_end": BEGIN}])
def test_a_run_whose_data_interval_has_no_length_fails_in_words(interval: Any) -> None:
    with pytest.raises(exceptions.AirflowFailException, match=r"days\('\{\{ params.start"):
        _ = RunDays(interval, lambda: "UTC", 0).days


EVERYTHING = datetime.max.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("try_number", "max_tries", "lookback", "expected"),
    [
        (1, 2, 0, None),
        (3, 2, 0, None),
        (1, 2, 3, EVERYTHING),
        (2, 2, 3, BEGIN),
        # Cleared after one try, and after three.
        (2, 3, 0, EVERYTHING),
        (3, 3, 0, BEGIN),
        (4, 5, 3, EVERYTHING),
        # A task that was cleared while it ran: its tries go on, and `max_tries` stays.
        (4, 2, 0, None),
        # `retries` was raised after the run began.
        (1, 0, 0, None),
        (1, 0, 3, EVERYTHING),
    ],
)
def test_what_a_try_requests_again(try_number: int, max_tries: int, lookback: int, expected: datetime | None) -> None:
    task = SimpleNamespace(try_number=try_number, max_tries=max_tries)
    context: Any = {"task_instance": task, "dag_run": SimpleNamespace(start_date=BEGIN)}
    assert refresh_since(context, retries=2, lookback=lookback) == expected
    operator = DataAccessScanOperator(task_id="codes", folder="codes", retries=2, lookback=lookback)
    scan = da.Client("http://127.0.0.1:9", token="tok").scan_codes(["id"], allocated_time=WEEK)
    assert (operator._refresh(context, scan, "no-folder", None) == "all") == (expected == EVERYTHING)


@pytest.mark.parametrize(
    "arguments",
    [
        {"lookback": -1},
        {"lookback": True},
        {"lookback": 3, "allocated_time": WEEK},
        {"lookback": 3, "allocated_time": "days('{{ params.start }}', '{{ params.stop }}')"},
        {"lookback": 3, "item_type_name": "customer", "where": da.col("opened").on(WEEK)},
        {"lookback": 3, "item_type_name": "customer"},
    ],
)
def test_a_lookback_that_would_change_nothing_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(da.ValidationError, match=r"^lookback: "):
        DataAccessScanOperator(task_id="codes", folder="codes", **arguments)


@pytest.mark.parametrize("is_native", [False, True], ids=["text", "native"])
def test_templates_have_the_days_of_the_run_in_the_zone_of_the_connection(
    sandbox: da.Sandbox, connect: Callable[..., str], tmp_path: Path, *, is_native: bool
) -> None:
    connect("vietnam", extra={"timezone": IN_VIETNAM})
    shared: dict[str, Any] = {"attrs": ["id"], "dataaccess_conn_id": "{{ 'vietnam' }}"}
    items: dict[str, Any] = {**shared, "item_type_name": "promotion_code"}
    where = "col('allocated_time').on({{ dataaccess.days }})"
    with daily("templates", IN_VIETNAM, render_template_as_native_obj=is_native) as dag:
        DataAccessSearchOperator(task_id="default", **shared)
        DataAccessSearchOperator(task_id="codes", allocated_time="{{ dataaccess.days }}", **shared)
        DataAccessSearchOperator(task_id="file", path=f"{tmp_path}/{{{{ dataaccess.first_day }}}}.parquet", **shared)
        DataAccessSearchOperator(task_id="items", where=where, **items)
        DataAccessScanOperator(
            task_id="scan", where=where, folder=f"{tmp_path}/scan", refresh="{{ dataaccess.first_day }}", **items
        )
        DataAccessScanOperator(
            task_id="back", where=where, folder=f"{tmp_path}/back-{{{{ dataaccess.last_day }}}}", lookback=1, **items
        )
        DataAccessSearchOperator.partial(task_id="mapped", **shared).expand(
            allocated_time=["{{ dataaccess.days }}", "on('{{ dataaccess.first_day }}')"]
        )
    done = run(dag, logical_date=datetime(2024, 1, 15, 17, 15, tzinfo=UTC))

    assert set(done.states.values()) == {"success"}
    assert days_of(sandbox, ZoneInfo(IN_VIETNAM)) == ["2024-01-14", *["2024-01-15"] * 8]
    assert (tmp_path / "2024-01-15.parquet").exists()
    assert sorted(path.name for path in tmp_path.glob("*/day=*")) == [
        "day=2024-01-14",
        "day=2024-01-15",
        "day=2024-01-15",
    ]
    assert (tmp_path / "back-2024-01-15").exists()


def test_a_template_without_a_day_skips_the_task_as_the_default_does(tmp_path: Path) -> None:
    with daily("hourly", cron="0 * * * *") as dag:
        DataAccessScanOperator(task_id="default", folder=str(tmp_path))
        DataAccessSearchOperator(task_id="template", allocated_time="{{ dataaccess.days }}")
    done = run(dag, logical_date=datetime(2024, 1, 15, 12, tzinfo=UTC))
    assert done.states == {"default": "skipped", "template": "skipped"}


ATTRS = ["id", "allocated_time"]


@pytest.fixture
def capped(connect: Callable[..., str]) -> Iterator[da.Sandbox]:
    """A service that sends fifty rows at most."""
    with da.Sandbox.demo(until="2024-02-29", switches={"maximum_rows": 50}) as sandbox:
        connect(host=sandbox.base_url, password=sandbox.issue_token())
        yield sandbox


@pytest.mark.usefixtures("token", "capped")
def test_runs_of_one_day_see_that_all_days_are_capped(tmp_path: Path) -> None:
    with daily("capped") as dag:
        DataAccessScanOperator(task_id="codes", folder=str(tmp_path), attrs=ATTRS, outlets=[Asset("capped")])
    nights = [run(dag, logical_date=datetime(2024, 1, day, 1, tzinfo=UTC)) for day in range(9, 14)]
    results = [night.result("codes") for night in nights]

    assert [result["rows"] for result in results] == [50] * 5
    # Two equal numbers may be chance.
    assert [result["maybe_capped"] for result in results] == [False, False, True, True, True]
    last = results[-1]
    (warning,) = last["warnings"]
    assert re.search(r"\b1 of 1\b.*\b4 of 4\b.*\b50\b.*\(2024-01-12\)", warning)
    assert last["doubtful_days"] == ["2024-01-12"]
    assert extras("capped") == last


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
    with capture_logs() as logged:
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
    for result in found[:2]:
        place = result.get("path", result.get("folder"))
        (line,) = [line for line in logged if f" {place}" in line["event"] and line["event"][0].isdigit()]
        assert line["log_level"] == "warning"
        assert "2024-01-14 00:00:00" in line["event"]


def test_a_result_without_rows_fails_replaces_no_file_and_is_requested_again_by_a_retry(
    dag: DAG, sandbox: da.Sandbox, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = tmp_path / "codes.parquet"
    before.write_text("of yesterday")
    none: dict[str, Any] = {"allocated_time": da.on("2023-01-15"), "attrs": ["id"], "fail_on_empty": True, "retries": 1}
    with dag:
        DataAccessSearchOperator(task_id="file", path=str(before), **none)
        DataAccessSearchOperator(task_id="rows", **none)
        DataAccessScanOperator(task_id="folder", folder=str(tmp_path / "folder"), **none)
        DataAccessSearchOperator(task_id="some", **{**none, "allocated_time": ON_15})
    done = run(dag)

    assert {task for task, state in done.states.items() if state == "success"} == {"some"}
    assert [tries(done, task) for task in ("file", "rows", "folder", "some")] == [2, 2, 2, 1]
    assert len(days_of(sandbox)) == 7
    assert before.read_text() == "of yesterday"
    assert "no rows of 2023-01-15, and fail_on_empty=True" in "".join(capfd.readouterr())
