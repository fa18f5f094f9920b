"""The search operators: XCom, files, templates, failures and kills."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from airflow.configuration import conf
from airflow.sdk import DAG, Asset
from dags import query, run, tries
from service import at_request, wait_until

import dataaccess as da
from dataaccess.airflow import (
    DataAccessHook,
    DataAccessScanOperator,
    DataAccessSearchOperator,
    DataAccessSegmentExportSensor,
    DataAccessSegmentExportTrigger,
)
from dataaccess.airflow.failures import is_permanent

pytestmark = pytest.mark.usefixtures("token")

ON_15 = da.on("2024-01-15")


def test_too_many_rows_for_xcom_fail(dag: DAG) -> None:
    with dag:
        DataAccessSearchOperator(task_id="codes", allocated_time=ON_15, max_xcom_rows=72, retries=3)
        DataAccessSearchOperator(task_id="fits", allocated_time=ON_15, max_xcom_rows=73)
        DataAccessSearchOperator(task_id="limited", allocated_time=ON_15, max_xcom_rows=72, limit=2)
    done = run(dag)

    assert done.states == {"codes": "failed", "fits": "success", "limited": "success"}
    assert tries(done, "codes") == 1
    assert (len(done.result("fits")), len(done.result("limited"))) == (73, 2)


def test_permission_and_validation_errors_are_not_retried(
    dag: DAG, sandbox: da.Sandbox, token: str, tmp_path: Path
) -> None:
    with dag:
        DataAccessSearchOperator(task_id="misspelled", attrs="{{ ['nmae'] }}", allocated_time=ON_15, retries=3)
        DataAccessSearchOperator(task_id="unknown", item_type_name="shop", attrs=["id"], retries=3)
        DataAccessSearchOperator(task_id="denied", allocated_time=ON_15, retries=3)
        DataAccessScanOperator(task_id="scan", folder=f"{tmp_path}/codes", allocated_time=ON_15, retries=3)
    sandbox.revoke(token)
    done = run(dag)

    assert set(done.states.values()) == {"failed"}
    assert [tries(done, task.task_id) for task in dag.tasks] == [1, 1, 1, 1]
    # Two are refused before they are sent.
    assert {request.status for request in sandbox.requests} == {403}
    assert {request.path for request in sandbox.requests} == {"/access/api/item/search"}


def test_a_connection_that_cannot_be_read_again_is_worth_a_retry(
    dag: DAG, sandbox: da.Sandbox, token: str, connect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(password=token, extra={"retry_for": 5})

    def lose() -> None:
        sandbox.revoke(token)
        monkeypatch.delenv("AIRFLOW_CONN_DATAACCESS_DEFAULT")

    with dag:
        DataAccessSearchOperator(task_id="codes", allocated_time=ON_15, retries=1)
    with at_request(sandbox, 1, lose):
        done = run(dag)
    assert (done.states, tries(done, "codes")) == ({"codes": "failed"}, 2)


def test_a_kill_ends_the_request_in_flight(dag: DAG, sandbox: da.Sandbox) -> None:
    with dag:
        DataAccessSearchOperator(task_id="codes", allocated_time=ON_15)
    previous = signal.getsignal(signal.SIGTERM)
    begun = datetime.now(UTC)
    with sandbox.fault("delay", seconds=50) as fault:
        killer = threading.Thread(target=kill_at_the_first_request, args=(fault,))
        killer.start()
        try:
            done = run(dag)
        finally:
            killer.join()
            signal.signal(signal.SIGTERM, previous)
    assert (fault.hits, len(sandbox.requests)) == (1, 1)
    assert done.states == {"codes": "failed"}
    assert datetime.now(UTC) - begun < timedelta(seconds=20)


def kill_at_the_first_request(held: Any) -> None:
    """What the supervisor does when a task is stopped; `dag.test()` runs the task in this process."""
    wait_until(lambda: held.hits, "a request")
    os.kill(os.getpid(), signal.SIGTERM)


def test_the_token_is_nowhere(
    dag: DAG, token: str, sandbox: da.Sandbox, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asset = Asset("secretless")
    with dag:
        DataAccessSearchOperator(task_id="xcom", attrs=["id"], allocated_time=ON_15)
        DataAccessSearchOperator(
            task_id="file", allocated_time=ON_15, path=f"{tmp_path}/codes.parquet", outlets=[asset]
        )
        DataAccessSearchOperator(task_id="wrong", attrs="{{ ['nmae'] }}", allocated_time=ON_15)
    run(dag)
    sandbox.revoke(token)
    run(dag)

    database = Path(conf.get("database", "sql_alchemy_conn").removeprefix("sqlite:///"))
    stored = b"".join(path.read_bytes() for path in database.parent.glob("airflow.db*"))
    assert b"nmae" in stored
    assert token.encode() not in stored
    logged = "".join(capfd.readouterr())
    assert "PermissionDeniedError" in logged
    assert token not in logged
    assert token not in repr(DataAccessHook().get_conn())
    assert query(f"select count(*) from '{tmp_path}/codes.parquet'") == [(73,)]


def test_a_refused_token_names_the_connection_that_has_it(
    dag: DAG, sandbox: da.Sandbox, connect: Callable[..., str], capfd: pytest.CaptureFixture[str]
) -> None:
    token = connect("cdp_eu")
    client = DataAccessHook("cdp_eu").get_conn()
    assert client.search_codes(["id"], allocated_time=ON_15, limit=1)
    sandbox.revoke(token)
    with dag:
        DataAccessSearchOperator(task_id="codes", allocated_time=ON_15, dataaccess_conn_id="{{ 'cdp_eu' }}")
        DataAccessSegmentExportSensor(task_id="ended", export_id=5637051, dataaccess_conn_id="cdp_eu")
    assert set(run(dag).states.values()) == {"failed"}
    logged = "".join(capfd.readouterr())
    (event,) = asyncio.run(events_of(DataAccessSegmentExportTrigger(5637051, 1, "cdp_eu")))
    named = r"PermissionDeniedError: .*\n? *.*\bAirflow connection 'cdp_eu'"
    assert len(re.findall(named, logged)) >= 2
    assert re.search(named, event["error"])
    assert token not in logged + event["error"]


async def events_of(trigger: Any) -> list[Any]:
    return [event.payload async for event in trigger.run()]


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [(400, None, True), (404, 404, True), (200, 404, True), (403, None, False), (409, None, False), (200, 300, False)],
)
def test_a_wrong_request_is_permanent(status: int, code: int | None, *, expected: bool) -> None:
    error = da.errors.ApiError("no", status=status, code=code)
    assert is_permanent(error) is expected
    several = {"2024-01-14": da.ServerError("down", status=503), "2024-01-15": error}
    assert is_permanent(da.ScanIncompleteError("no", failed=several)) is expected


@pytest.mark.parametrize(("reason", "expected"), [("mismatch", True), ("unusable", True), ("corrupt", False)])
def test_a_folder_of_another_query_is_permanent(reason: str, *, expected: bool) -> None:
    assert is_permanent(da.FolderError("no", reason=reason)) is expected
    assert not is_permanent(da.FolderLockedError("in use", reason="locked", retryable=True))


@pytest.mark.parametrize("with_connection", [True, False], ids=["connection", "environment"])
def test_a_process_that_a_task_forks_uses_its_client(
    connect: Callable[..., str], sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch, *, with_connection: bool
) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("DATAACCESS_TOKEN", connect())
    conn_id = "dataaccess_default" if with_connection else None
    client = DataAccessHook(conn_id).get_conn()
    search = DataAccessSearchOperator(
        task_id="again", attrs=["id"], allocated_time=da.on("2024-01-16"), dataaccess_conn_id=conn_id
    )
    assert len(client.search_codes(["id"], allocated_time=ON_15)) == 73
    if (pid := os.fork()) == 0:
        code = 1
        try:
            code = not (len(client.search_codes(["id"], allocated_time=ON_15)) == 73 and search.execute({}))
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
    assert len(client.search_codes(["id"], allocated_time=ON_15)) == 73
