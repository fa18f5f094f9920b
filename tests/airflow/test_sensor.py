"""`DataAccessSegmentExportSensor`, in its task and in the triggerer."""

from __future__ import annotations

import asyncio
import logging
import re
import resource
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG
from dags import run, tries
from service import at_request

import dataaccess as da
from dataaccess.airflow import DataAccessSegmentExportSensor, DataAccessSegmentExportTrigger
from dataaccess.airflow.compat import exceptions

pytestmark = pytest.mark.usefixtures("token")


def sensor(dag: DAG, export_id: Any, **options: Any) -> None:
    with dag:
        DataAccessSegmentExportSensor(task_id="ended", export_id=export_id, poke_interval=0.2, timeout=20, **options)


@contextmanager
def export(sandbox: da.Sandbox, *, ends_at: int, succeeds: bool = True) -> Iterator[int]:
    """An export that the request of this number finds ended, and no earlier one."""
    export_id = sandbox.start_export(seconds=600, succeeds=succeeds)
    end = partial(sandbox.start_export, seconds=0, entries=2, export_id=export_id, succeeds=succeeds)
    with at_request(sandbox, ends_at, end):
        yield export_id


@pytest.mark.parametrize("deferrable", [False, True])
def test_it_waits_until_the_export_has_ended(dag: DAG, sandbox: da.Sandbox, *, deferrable: bool) -> None:
    sensor(dag, "{{ params.export_id }}", deferrable=deferrable)
    with export(sandbox, ends_at=3) as export_id:
        done = run(dag, conf={"export_id": export_id})

    assert done.states == {"ended": "success"}
    assert len([entry for entry in done.result("ended")["entries"] if entry["endTime"]]) == 2
    assert len(sandbox.requests) == 3


@pytest.mark.parametrize("deferrable", [False, True])
@pytest.mark.parametrize(
    ("options", "state"),
    [({}, "failed"), ({"success_codes": [200, 500]}, "success"), ({"check": False}, "success")],
)
def test_an_export_that_failed_is_judged_by_its_codes_and_not_retried(
    dag: DAG, sandbox: da.Sandbox, options: dict[str, Any], state: str, *, deferrable: bool
) -> None:
    with export(sandbox, ends_at=2, succeeds=False) as export_id:
        sensor(dag, export_id, deferrable=deferrable, retries=3, **options)
        done = run(dag)
    assert (done.states, tries(done, "ended")) == ({"ended": state}, 1)


def test_a_refused_token_ends_the_trigger_without_a_retry(dag: DAG, sandbox: da.Sandbox, token: str) -> None:
    sensor(dag, sandbox.start_export(seconds=600), deferrable=True, retries=3)
    # The task asks once; then the trigger is refused.
    with sandbox.fault("status", path="download", status=401, after=1):
        done = run(dag)
    assert (done.states, tries(done, "ended")) == ({"ended": "failed"}, 1)
    assert token not in str(done.dag_run)


def test_a_token_that_is_replaced_while_the_trigger_waits(
    dag: DAG, sandbox: da.Sandbox, token: str, connect: Callable[..., str]
) -> None:
    replaced = []

    def replace() -> None:
        replaced.append(connect())
        sandbox.revoke(token)

    with export(sandbox, ends_at=4) as export_id, at_request(sandbox, 2, replace):
        sensor(dag, export_id, deferrable=True)
        done = run(dag)

    assert done.states == {"ended": "success"}
    last = [token[-4:], token[-4:], replaced[0][-4:], replaced[0][-4:]]
    assert [request.headers["authorization"][-4:] for request in sandbox.requests] == last
    assert [request.status for request in sandbox.requests] == [200, 403, 200, 200]


def test_a_secrets_backend_that_is_down_does_not_end_the_trigger(
    dag: DAG, sandbox: da.Sandbox, token: str, connect: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(password=token, extra={"retry_for": 5})
    backend_is_up_again = threading.Timer(0.5, connect)

    def lose() -> None:
        sandbox.revoke(token)
        monkeypatch.delenv("AIRFLOW_CONN_DATAACCESS_DEFAULT")
        backend_is_up_again.start()

    with export(sandbox, ends_at=4) as export_id, at_request(sandbox, 2, lose):
        sensor(dag, export_id, deferrable=True)
        done = run(dag)
    assert done.states == {"ended": "success"}
    assert [request.status for request in sandbox.requests] == [200, 403, 200, 200]


MODES: list[dict[str, Any]] = [{"mode": "poke"}, {"mode": "reschedule"}, {"deferrable": True}]


@pytest.mark.parametrize("options", MODES)
@pytest.mark.parametrize("after", [0, 1])
def test_an_outage_is_not_yet(
    dag: DAG, sandbox: da.Sandbox, connect: Callable[..., str], options: dict[str, Any], after: int
) -> None:
    connect(extra={"retry_for": 0})
    outage = sandbox.fault("status", path="download", status=502, after=after, times=2)
    with export(sandbox, ends_at=5) as export_id, outage:
        sensor(dag, export_id, retries=1, **options)
        done = run(dag)
    assert (done.states, tries(done, "ended"), outage.hits) == ({"ended": "success"}, 1, 2)


@pytest.mark.parametrize("options", MODES)
@pytest.mark.parametrize("status", [400, 404])
def test_a_request_that_is_wrong_is_not_retried(
    dag: DAG, sandbox: da.Sandbox, options: dict[str, Any], status: int
) -> None:
    # The sandbox does not know the export, by default with a 404.
    fault = sandbox.fault("status", path="download", status=400) if status == 400 else nullcontext()
    with fault:
        sensor(dag, 999_999_999, retries=3, **options)
        done = run(dag)
    assert (done.states, tries(done, "ended")) == ({"ended": "failed"}, 1)
    assert [request.status for request in sandbox.requests] == [status]


def test_the_log_has_each_change_of_an_entry(
    dag: DAG, sandbox: da.Sandbox, connect: Callable[..., str], caplog: pytest.LogCaptureFixture, monkeypatch: Any
) -> None:
    connect(extra={"retry_for": 0})
    export_id = sandbox.start_export(seconds=600, entries=2)
    sensor(dag, export_id)
    (task,) = dag.tasks
    # Airflow's loggers do not propagate.
    monkeypatch.setattr(type(task), "log", logging.getLogger("sensor"))
    with caplog.at_level("INFO", "sensor"):
        for change in (lambda: None, lambda: None, lambda: sandbox.advance(400)):
            change()
            assert not task.poke({})
        with sandbox.fault("status", path="download", status=503):
            assert not task.poke({})
        sandbox.advance(600)
        assert task.poke({}).xcom_value["entries"]
    lines = [re.sub(r"\d{4}-\S+", "TIME", line) for line in caplog.messages if line.startswith(f"export {export_id}: ")]
    assert [re.findall(r"\bentry \d\b|\bTIME\b|\b200 'OK'|\bThrottledError\b", line) for line in lines] == [
        ["entry 1", "TIME"],
        ["entry 2", "TIME"],
        ["entry 1", "TIME", "200 'OK'"],
        ["ThrottledError"],
        ["entry 2", "TIME", "200 'OK'"],
    ]


class FirstPoke:
    """A task instance whose first request was an hour ago."""

    def get_first_reschedule_date(self, _context: Any) -> datetime:
        return datetime.now(UTC) - timedelta(hours=1)


def timed_out(task: Any) -> None:
    """Executes a sensor whose timeout is over after its first request."""
    task.timeout = 0
    if not task.deferrable:
        task.execute({"ti": FirstPoke()})
        return
    with pytest.raises(exceptions.TaskDeferred) as deferred:
        task.execute({})
    # Airflow's own timeout comes later, for a triggerer that is down.
    assert deferred.value.timeout.total_seconds() == 60
    _, stored = deferred.value.trigger.serialize()

    async def event() -> Any:
        return [event.payload async for event in DataAccessSegmentExportTrigger(**stored).run()]

    (payload,) = asyncio.run(event())
    task.resume_execution(deferred.value.method_name, {"event": payload}, {})


@pytest.mark.parametrize("options", MODES)
def test_a_time_out_names_the_open_entries(
    dag: DAG, sandbox: da.Sandbox, connect: Callable[..., str], options: dict[str, Any]
) -> None:
    connect(extra={"retry_for": 0})
    export_id = sandbox.start_export(seconds=600, entries=2)
    sandbox.advance(400)
    sensor(dag, export_id, **options)
    (task,) = dag.tasks
    with pytest.raises(
        exceptions.AirflowSensorTimeout, match=rf"\b{export_id}\b(?!.*entry 1).*\bentry 2\b.*\d{{4}}-\S+$"
    ):
        timed_out(task)
    task.soft_fail = True
    with (
        sandbox.fault("status", path="download", status=503),
        pytest.raises(exceptions.AirflowSkipException) as skipped,
    ):
        timed_out(task)
    assert re.search(rf"\b{export_id}\b.*\bHTTP 503\b", str(skipped.value.__cause__ or skipped.value))


def test_hundreds_of_waits_cost_one_process_little(sandbox: da.Sandbox) -> None:
    export_id = sandbox.start_export(seconds=600)

    async def wait() -> Any:
        trigger = DataAccessSegmentExportTrigger(export_id, 1, "dataaccess_default")
        return [event.payload["status"]["entries"][0]["endTime"] async for event in trigger.run()]

    async def all_of_them() -> list[Any]:
        waits = asyncio.gather(*(wait() for _ in range(300)))
        while len(sandbox.requests) < 900:
            await asyncio.sleep(0.1)
        sandbox.advance(600)
        return await asyncio.wait_for(waits, 60)

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * resource.getpagesize()

    before = resident()
    ends = asyncio.run(all_of_them())
    assert len(ends) == 300
    assert all(ends)
    assert resident() - before < 150 * 2**20
