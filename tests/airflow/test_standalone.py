"""A real scheduler, triggerer and web server: tasks are killed while they run, and their retries go on.

`pytest -m soak` runs it: about four minutes, and 1.5 GB of memory.
"""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dags import query
from scratch import READS_FORMS
from service import requested_days
from standalone import Airflow, standalone

import dataaccess as da

DAGS = Path(__file__).parent / "scheduled"
pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]

DAYS = [f"2024-01-{day:02}" for day in range(8, 18)]


def tasks(airflow: Airflow, run: str, dag: str = "killed") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = airflow.request("GET", f"/api/v2/dags/{dag}/dagRuns/{run}/taskInstances")[
        "task_instances"
    ]
    return found


def running(
    airflow: Airflow, run: str, task_id: str, try_number: int = 1, dag: str = "killed"
) -> dict[str, Any] | None:
    """A running task, once its process is known."""
    return next(
        (
            task
            for task in tasks(airflow, run, dag)
            if (task["task_id"], task["state"], task["try_number"]) == (task_id, "running", try_number) and task["pid"]
        ),
        None,
    )


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Airflow, da.Sandbox, Path]]:
    """Airflow, the service and the folder of both DAGs; at its end, the token is in no file of Airflow."""
    base = tmp_path_factory.mktemp("standalone")
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        token = sandbox.issue_token()
        extra = {"concurrency": 1, "timeout": 60}
        connection = {"conn_type": "dataaccess", "host": sandbox.base_url, "password": token, "extra": extra}
        settings = {
            "AIRFLOW_CONN_DATAACCESS_DEFAULT": json.dumps(connection),
            "AIRFLOW_VAR_WAREHOUSE": str(base / "warehouse"),
        }
        with standalone(base / "home", DAGS, settings) as airflow:
            airflow.wait_for("the DAGs", lambda: airflow.request("GET", "/api/v2/dags")["total_entries"] == 2, 60)
            yield airflow, sandbox, base / "warehouse"
        assert_nowhere(token, base)


def test_killed_tasks_go_on_and_every_row_is_there_once(scheduler: tuple[Airflow, da.Sandbox, Path]) -> None:
    airflow, sandbox, folder = scheduler
    meta = airflow.request("GET", "/ui/connections/hook_meta")
    form = next(entry for entry in meta if entry["connection_type"] == "dataaccess")
    if READS_FORMS:
        assert form["standard_fields"]["password"]["title"] == "Token"

    with sandbox.fault("delay", seconds=1.5, path="search"):
        body = {"logical_date": None, "conf": {"export_id": sandbox.start_export(seconds=4)}}
        run = airflow.request("POST", "/api/v2/dags/killed/dagRuns", json=body)["dag_run_id"]
        # In the middle: some days are done, others are not.
        airflow.wait_for("the third day", lambda: len(list(folder.glob("scan/*/*.parquet"))) >= 3, 600)
        scan = airflow.wait_for("the scan", lambda: running(airflow, run, "scan"), 60)
        os.kill(scan["pid"], signal.SIGKILL)
        done = {path.parent.name.removeprefix("day=") for path in folder.glob("scan/*/*.parquet")}
        before = len(requested_days(sandbox))
        airflow.wait_for("the retry", lambda: running(airflow, run, "scan", 2), 300)
        mapped = airflow.wait_for("a mapped task", lambda: running(airflow, run, "mapped"), 300)
        os.kill(mapped["pid"], signal.SIGKILL)
    wait(airflow, run, "killed")

    tries = {(task["task_id"], task["map_index"]): task["try_number"] for task in tasks(airflow, run)}
    assert (tries["scan", -1], tries["mapped", mapped["map_index"]]) == (2, 2)
    asset_events = airflow.request("GET", "/api/v2/assets/events")["asset_events"]
    # The mapped tasks ask for the later days.
    again = Counter(requested_days(sandbox)[before:])
    client = sandbox.client()
    expected = {day: len(client.search_codes(["id"], allocated_time=da.on(day))) for day in DAYS}
    assert 3 <= len(done) < len(DAYS)
    for name, days in (("scan", DAYS), ("mapped", DAYS[-3:])):
        found = query(
            "select day::varchar, count(*), count(distinct id) "
            f"from '{folder}/{name}/*/*.parquet' group by 1 order by 1"
        )
        assert found == [(day, expected[day], expected[day]) for day in days]
    extras = {event["name"]: event["extra"] for event in asset_events}
    assert extras["scan"]["rows"] == sum(expected.values())
    assert extras["scan"]["kept"] >= len(done)
    assert extras["mapped"]["rows"] in expected.values()
    assert again[DAYS[-4]] == 1
    assert not [day for day in done if day < DAYS[-3] and again[day]]


def test_days_are_requested_again_but_not_by_the_retry_of_a_task_that_was_killed(
    scheduler: tuple[Airflow, da.Sandbox, Path],
) -> None:
    airflow, sandbox, _ = scheduler

    def start(day: int) -> str:
        sandbox.clear_requests()
        body = {"logical_date": f"2024-01-{day}T00:15:00Z"}
        run: str = airflow.request("POST", "/api/v2/dags/daily/dagRuns", json=body)["dag_run_id"]
        return run

    def kill_after_two_days(run: str, try_number: int) -> None:
        airflow.wait_for("the third request", lambda: len(requested_days(sandbox)) > 2, 300)
        task = airflow.wait_for("the task", lambda: running(airflow, run, "scan", try_number, "daily"), 60)
        os.kill(task["pid"], signal.SIGKILL)
        wait(airflow, run, "daily")
        # The request in flight is sent twice.
        assert (sorted(set(requested_days(sandbox))), len(requested_days(sandbox))) == (days, 5)

    wait(airflow, start(16), "daily")
    assert sorted(requested_days(sandbox)) == [f"2024-01-{day}" for day in (12, 13, 14, 15)]

    days = [f"2024-01-{day}" for day in (13, 14, 15, 16)]
    with sandbox.fault("delay", seconds=3, path="search"):
        run = start(17)
        kill_after_two_days(run, 1)
        sandbox.clear_requests()
        body = {"dry_run": False, "task_ids": ["scan"], "dag_run_id": run, "only_failed": False}
        airflow.request("POST", "/api/v2/dags/daily/clearTaskInstances", json=body)
        kill_after_two_days(run, 3)


def wait(airflow: Airflow, run: str, dag: str) -> None:
    """Waits for the end of a run, which succeeds."""
    state = airflow.wait_for(
        "the end of the run", lambda: ended(airflow, run, dag), 300, lambda: states(airflow, run, dag)
    )
    assert state == "success", json.dumps(tasks(airflow, run, dag), indent=1)


def ended(airflow: Airflow, run: str, dag: str = "killed") -> str | None:
    state = airflow.request("GET", f"/api/v2/dags/{dag}/dagRuns/{run}")["state"]
    return state if state in ("success", "failed") else None


def states(airflow: Airflow, run: str, dag: str) -> list[tuple[str, int, str]]:
    """Each task with its index and its state."""
    return [(task["task_id"], task["map_index"], task["state"]) for task in tasks(airflow, run, dag)]


def assert_nowhere(token: str, folder: Path) -> None:
    """The token is in no log, no database and no file of Airflow."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(path.suffix == ".log" for path in files)
    assert any(path.name == "airflow.db" for path in files)
    assert [path for path in files if token.encode() in path.read_bytes()] == []
