"""The search operators: XCom, files, templates, failures and kills."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG, Asset
from airflow.timetables.interval import CronDataIntervalTimetable
from dags import query, run, tries
from service import at_request, wait_until

import dataaccess as da
from dataaccess.airflow import DataAccessHook, DataAccessSearchOperator

ON_15 = da.on("2024-01-15")


@pytest.fixture(autouse=True)
def token(connect: Callable[..., str]) -> str:
    return connect()


@pytest.fixture
def dag(request: pytest.FixtureRequest) -> DAG:
    return DAG(str(request.node.name).partition("[")[0], schedule=None, params={"day": "2024-01-15"})


def test_a_failed_search_leaves_no_file(dag: DAG, tmp_path: Path, sandbox: da.Sandbox, connect: Any) -> None:
    connect(extra={"retry_for": 0})
    with dag:
        DataAccessSearchOperator(task_id="codes", allocated_time=ON_15, path=f"{tmp_path}/codes.jsonl", retries=0)
    with sandbox.fault("cut", after_bytes=2_000) as fault:
        done = run(dag)

    assert (fault.hits, done.states) == (1, {"codes": "failed"})
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_kind_is_refused(dag: DAG, tmp_path: Path, sandbox: da.Sandbox) -> None:
    with dag:
        DataAccessSearchOperator(task_id="codes", allocated_time=ON_15, path=f"{tmp_path}/codes.xlsx", retries=3)
    assert tries(run(dag), "codes") == 1
    assert not sandbox.requests


def test_too_many_rows_for_xcom_fail(dag: DAG) -> None:
    with dag:
        DataAccessSearchOperator(task_id="codes", allocated_time=ON_15, max_xcom_rows=72, retries=3)
        DataAccessSearchOperator(task_id="fits", allocated_time=ON_15, max_xcom_rows=73)
        DataAccessSearchOperator(task_id="limited", allocated_time=ON_15, max_xcom_rows=72, limit=2)
    done = run(dag)

    assert done.states == {"codes": "failed", "fits": "success", "limited": "success"}
    assert tries(done, "codes") == 1
    assert (len(done.result("fits")), len(done.result("limited"))) == (73, 2)


def test_permission_and_validation_errors_are_not_retried(dag: DAG, sandbox: da.Sandbox, token: str) -> None:
    with dag:
        DataAccessSearchOperator(task_id="misspelled", attrs=["nmae"], allocated_time=ON_15, retries=3)
        DataAccessSearchOperator(task_id="unknown", item_type_name="shop", attrs=["id"], retries=3)
        DataAccessSearchOperator(task_id="denied", allocated_time=ON_15, retries=3)
    sandbox.revoke(token)
    done = run(dag)

    assert done.states == {"misspelled": "failed", "unknown": "failed", "denied": "failed"}
    assert [tries(done, task.task_id) for task in dag.tasks] == [1, 1, 1]
    # The other two are refused before they are sent.
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


def test_other_errors_are_retried(dag: DAG, sandbox: da.Sandbox, connect: Any) -> None:
    connect(extra={"retry_for": 0})
    with dag:
        DataAccessSearchOperator(task_id="codes", allocated_time=ON_15, retries=2)
    with sandbox.fault("status", status=502, times=2):
        done = run(dag)
    assert (done.states, tries(done, "codes")) == ({"codes": "success"}, 3)


def test_templates_are_rendered_in_conditions(dag: DAG, sandbox: da.Sandbox, capfd: pytest.CaptureFixture[str]) -> None:
    who = "col('customer_id')"
    with dag:
        DataAccessSearchOperator(
            task_id="customers",
            item_type_name="customer",
            attrs=["customer_id"],
            where=f"{who}.equals('demo-{{{{ params.day }}}}') | {who}.matches(['demo-customer-{{{{ '%04d' % 7 }}}}'])",
        )
        DataAccessSearchOperator(task_id="codes", allocated_time="days('{{ params.day }}', '2024-01-16')", attrs=["id"])
        DataAccessSearchOperator(
            task_id="object", item_type_name="customer", attrs=["customer_id"], where=da.col("customer_id").equals("x")
        )
        # A type checker takes templates as values too.
        DataAccessSearchOperator(
            task_id="used", allocated_time=ON_15, attrs=["{{ params.attr }}"], code_status="{{ params.status }}"
        )
        DataAccessSearchOperator(
            task_id="items",
            item_type_name="customer",
            item_type_id="{{ params.id }}",
            attrs=["customer_{{ params.attr }}"],
            where=da.col("customer_id").equals("demo-customer-0007"),
        )
    done = run(dag, conf={"attr": "id", "status": "used", "id": "-1003"})
    assert "Unable to check if the value" not in "".join(capfd.readouterr())

    assert done.result("customers") == done.result("items") == [{"customer_id": "demo-customer-0007"}]
    assert len(done.result("codes")) == 73
    assert 0 < len(done.result("used")) < 73
    assert list(done.result("used")[0]) == ["id"]
    conditions = [request.body["filters"]["OR"] for request in sandbox.requests]
    assert "demo-2024-01-15" in json.dumps(conditions)


OF_CUSTOMERS = (
    '{"column": "customer_id", "operator": "matches", "data_type": "string", "value": {{ params.customers | tojson }}}'
)
CUSTOMERS = ["demo-customer-0001", "demo-customer-0002"]


@pytest.mark.parametrize("is_native", [False, True], ids=["text", "native"])
@pytest.mark.parametrize(
    "where",
    [
        "col('customer_id').matches({{ params.customers }})",
        "col('customer_id').matches({{ params.customers | tojson }})",
        f'{{"OR": [{{"AND": [{OF_CUSTOMERS}]}}]}}',
    ],
    ids=["python", "json", "filters"],
)
def test_a_template_that_renders_a_list_is_a_list(where: Any, *, is_native: bool) -> None:
    with DAG("lists", schedule=None, params={"customers": CUSTOMERS}, render_template_as_native_obj=is_native) as dag:
        DataAccessSearchOperator(task_id="found", item_type_name="customer", attrs=["customer_id"], where=where)
        DataAccessSearchOperator(
            task_id="codes",
            attrs=["allocated_audience"],
            allocated_time="since('2024-01-01')",
            audience_type="customer",
            allocated_audience="{{ params.customers }}",
        )
    done = run(dag)
    assert [row["customer_id"] for row in done.result("found")] == CUSTOMERS
    assert {row["allocated_audience"] for row in done.result("codes")} == set(CUSTOMERS)


@pytest.mark.parametrize("customers", [CUSTOMERS, [1, 2]], ids=["strings", "numbers"])
def test_a_list_in_quotes_is_an_error(customers: list[Any], sandbox: da.Sandbox) -> None:
    with DAG("quoted", schedule=None, params={"customers": customers}) as dag:
        DataAccessSearchOperator(
            task_id="found",
            item_type_name="customer",
            attrs=["customer_id"],
            where="col('customer_id').matches('{{ params.customers }}')",
            retries=3,
        )
    done = run(dag)
    assert (done.states, tries(done, "found"), sandbox.requests) == ({"found": "failed"}, 1, [])


@pytest.mark.parametrize("value", ["{{ params.customers }}", [object()]], ids=["template", "object"])
def test_a_condition_that_no_text_can_hold_is_refused_when_the_dag_is_read(value: Any) -> None:
    condition = da.col("customer_id").matches(value)
    with pytest.raises(da.ValidationError, match=r"^where: "):
        DataAccessSearchOperator(task_id="found", item_type_name="customer", attrs=["customer_id"], where=condition)


def test_the_days_of_the_data_interval_are_the_default(sandbox: da.Sandbox, connect: Any) -> None:
    connect(extra={"timezone": "Asia/Ho_Chi_Minh"})
    schedule = CronDataIntervalTimetable("0 3 * * *", timezone="Asia/Ho_Chi_Minh")
    with DAG("interval", schedule=schedule, start_date=datetime(2024, 1, 1, tzinfo=UTC)) as dag:
        DataAccessSearchOperator(task_id="codes", attrs=["id"])
    done = run(dag, logical_date=datetime(2024, 1, 16, 3, tzinfo=UTC))

    assert done.states == {"codes": "success"}
    (request,) = sandbox.requests
    (condition,) = request.body["filters"]["OR"][0]["AND"]
    # 2024-01-15 in Ho Chi Minh City, which had ended at three in the morning.
    assert datetime.fromtimestamp(condition["value"] / 1000, UTC) == datetime(2024, 1, 14, 17, tzinfo=UTC)


def test_a_run_without_a_data_interval_fails_clearly(dag: DAG, capfd: pytest.CaptureFixture[str]) -> None:
    with dag:
        DataAccessSearchOperator(task_id="codes", retries=3)
    done = run(dag)
    assert tries(done, "codes") == 1
    assert "days('{{ params.start }}', '{{ params.stop }}')" in "".join(capfd.readouterr())


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
        DataAccessSearchOperator(task_id="wrong", attrs=["nmae"], allocated_time=ON_15)
    run(dag)
    sandbox.revoke(token)
    run(dag)

    from airflow.configuration import conf

    database = Path(conf.get("database", "sql_alchemy_conn").removeprefix("sqlite:///"))
    stored = b"".join(path.read_bytes() for path in database.parent.glob("airflow.db*"))
    assert b"nmae" in stored
    assert token.encode() not in stored
    logged = "".join(capfd.readouterr())
    assert "PermissionDeniedError" in logged
    assert token not in logged
    assert token not in repr(DataAccessHook().get_conn())
    assert query(f"select count(*) from '{tmp_path}/codes.parquet'") == [(73,)]
