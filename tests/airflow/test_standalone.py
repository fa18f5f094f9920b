"""A real scheduler, triggerer and web server: tasks are killed while they run, and their retries go on.

`pytest -m soak` runs it: about four minutes, and 1.5 GB of memory.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from dags import query
from scratch import READS_FORMS, ROOT, install_provider
from service import requested_days
from support.programs import free_port

import dataaccess as da

DAGS = Path(__file__).parent / "scheduled"
pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]

DAYS = [f"2024-01-{day:02}" for day in range(8, 18)]


class Airflow(httpx.Client):
    """A running Airflow, by its REST API."""

    def is_up(self) -> bool:
        """Whether every part of it reports that it runs."""
        try:
            parts = self.get("/api/v2/monitor/health").json()
        except (httpx.TransportError, ValueError):
            return False
        return all(
            parts.get(name, {}).get("status") == "healthy" for name in ("scheduler", "triggerer", "dag_processor")
        )

    def ask(self, method: str, path: str, **options: Any) -> Any:
        """The JSON of a response; an error if it reports a failure."""
        if "Authorization" not in self.headers:
            self.headers["Authorization"] = f"Bearer {self.get('/auth/token').json()['access_token']}"
        response = self.request(method, path, **options)
        assert response.is_success, f"{method} {path}: {response.status_code} {response.text}"
        return response.json()


def wait_for(what: str, find: Callable[[], Any], seconds: float, seen: Callable[[], Any] = lambda: None) -> Any:
    """What a function finds, once it finds something. The failure has what another function sees instead."""
    deadline = time.monotonic() + seconds
    while not (found := find()):
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds} s: {seen()}"
        time.sleep(0.3)
    return found


@contextmanager
def standalone(home: Path, settings: dict[str, str]) -> Iterator[Airflow]:
    """Starts Airflow in a folder, and ends every process of it, however the test ends."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    install_provider(home / "site")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")}
    environment |= {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__CORE__DAGS_FOLDER": str(DAGS),
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__PARALLELISM": "4",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
        "AIRFLOW__CORE__TEST_CONNECTION": "Enabled",
        "AIRFLOW__SCHEDULER__SCHEDULER_HEARTBEAT_SEC": "1",
        # A busy machine.
        "AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT": "60",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), str(home / "site")]),
        **settings,
    }
    log = home / "standalone.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "airflow", "standalone"],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            with Airflow(base_url=url, timeout=30, trust_env=False) as airflow:
                wait_for("the start of Airflow", lambda: process.poll() is not None or airflow.is_up(), 300)
                assert process.poll() is None, log.read_text()[-3000:]
                yield airflow
        finally:
            # SIGTERM leaves some parts behind, so SIGKILL follows.
            process.terminate()
            deadline = time.monotonic() + 6
            while time.monotonic() < deadline and processes_of(process.pid):
                process.poll()
                time.sleep(0.2)
            for pid in processes_of(process.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()


def processes_of(session: int) -> list[int]:
    """The processes of a session: every part of this Airflow, whatever its parent is by now."""
    found = []
    for pid in (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()):
        with suppress(ProcessLookupError):
            if os.getsid(pid) == session:
                found.append(pid)
    return found


def tasks(airflow: Airflow, run: str, dag: str = "killed") -> Any:
    return airflow.ask("GET", f"/api/v2/dags/{dag}/dagRuns/{run}/taskInstances")["task_instances"]


def running(airflow: Airflow, run: str, task_id: str, try_number: int = 1, dag: str = "killed") -> Any:
    """A running task, once its process is known."""
    keys, wanted = ("task_id", "state", "try_number"), [task_id, "running", try_number]
    found = [task for task in tasks(airflow, run, dag) if task["pid"] and [task[key] for key in keys] == wanted]
    return found[0] if found else None


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
        with standalone(base / "home", settings) as airflow:
            wait_for("the DAGs", lambda: airflow.ask("GET", "/api/v2/dags")["total_entries"] == 2, 60)
            yield airflow, sandbox, base / "warehouse"
        assert_nowhere(token, base)


def test_killed_tasks_go_on_and_every_row_is_there_once(scheduler: tuple[Airflow, da.Sandbox, Path]) -> None:
    airflow, sandbox, folder = scheduler
    meta = airflow.ask("GET", "/ui/connections/hook_meta")
    form = next(entry for entry in meta if entry["connection_type"] == "dataaccess")
    if READS_FORMS:
        assert form["standard_fields"]["password"]["title"] == "Token"

    with sandbox.fault("delay", seconds=1.5, path="search"):
        body = {"logical_date": None, "conf": {"export_id": sandbox.start_export(seconds=4)}}
        run = airflow.ask("POST", "/api/v2/dags/killed/dagRuns", json=body)["dag_run_id"]
        # In the middle: some days are done, others are not.
        wait_for("the third day", lambda: len(list(folder.glob("scan/*/*.parquet"))) >= 3, 600)
        scan = wait_for("the scan", lambda: running(airflow, run, "scan"), 60)
        os.kill(scan["pid"], signal.SIGKILL)
        done = {path.parent.name.removeprefix("day=") for path in folder.glob("scan/*/*.parquet")}
        before = len(requested_days(sandbox))
        wait_for("the retry", lambda: running(airflow, run, "scan", 2), 300)
        mapped = wait_for("a mapped task", lambda: running(airflow, run, "mapped"), 300)
        os.kill(mapped["pid"], signal.SIGKILL)
    wait(airflow, run, "killed")

    tries = {(task["task_id"], task["map_index"]): task["try_number"] for task in tasks(airflow, run)}
    assert (tries["scan", -1], tries["mapped", mapped["map_index"]]) == (2, 2)
    asset_events = airflow.ask("GET", "/api/v2/assets/events")["asset_events"]
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
        run: str = airflow.ask("POST", "/api/v2/dags/daily/dagRuns", json=body)["dag_run_id"]
        return run

    def kill_after_two_days(run: str, try_number: int) -> None:
        wait_for("the third request", lambda: len(requested_days(sandbox)) > 2, 300)
        task = wait_for("the task", lambda: running(airflow, run, "scan", try_number, "daily"), 60)
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
        airflow.ask("POST", "/api/v2/dags/daily/clearTaskInstances", json=body)
        kill_after_two_days(run, 3)


def wait(airflow: Airflow, run: str, dag: str) -> None:
    """Waits for the end of a run, which succeeds."""

    def ended() -> str | None:
        state: str = airflow.ask("GET", f"/api/v2/dags/{dag}/dagRuns/{run}")["state"]
        return state if state in ("success", "failed") else None

    def states() -> list[tuple[str, int, str]]:
        return [(task["task_id"], task["map_index"], task["state"]) for task in tasks(airflow, run, dag)]

    state = wait_for("the end of the run", ended, 300, states)
    assert state == "success", json.dumps(tasks(airflow, run, dag), indent=1)


def assert_nowhere(token: str, folder: Path) -> None:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(path.suffix == ".log" for path in files)
    assert any(path.name == "airflow.db" for path in files)
    assert [path for path in files if token.encode() in path.read_bytes()] == []
