"""`DataAccessScanOperator`: folders that grow by the days of runs, retries that resume, locks."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from airflow.sdk import DAG, Asset, chain
from dags import NO_DOUBTS, extras, query, run, tries
from service import wait_until
from structlog.testing import capture_logs

import dataaccess as da
from dataaccess.airflow import DataAccessScanOperator, operators

ON_15 = da.on("2024-01-15")
WEEK = da.days("2024-01-08", "2024-01-15")


@pytest.fixture(autouse=True)
def token(connect: Callable[..., str]) -> str:
    return connect()


@pytest.fixture
def dag(request: pytest.FixtureRequest) -> DAG:
    return DAG(str(request.node.name).partition("[")[0], schedule=None)


def test_a_retry_requests_only_what_is_missing(
    dag: DAG, sandbox: da.Sandbox, connect: Callable[..., str], tmp_path: Path
) -> None:
    connect(extra={"retry_for": 0, "concurrency": 1})
    with dag:
        DataAccessScanOperator(
            task_id="week", folder=str(tmp_path), allocated_time=WEEK, retries=1, outlets=[Asset("week")]
        )
    with sandbox.fault("cut", after_bytes=2_000, after=4, times=1) as fault:
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


def test_a_folder_with_other_files_is_not_retried(dag: DAG, sandbox: da.Sandbox, tmp_path: Path) -> None:
    (tmp_path / "used.jsonl.gz").touch()
    with dag:
        DataAccessScanOperator(task_id="week", folder=str(tmp_path), allocated_time=WEEK, retries=2)
    done = run(dag)
    assert (done.states, tries(done, "week")) == ({"week": "failed"}, 1)
    assert not sandbox.requests


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
        ({"max_active_tis_per_dag": 4}, {}, 4),
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
