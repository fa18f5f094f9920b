"""Templates and outputs of tasks in arguments and conditions: lists, nothing, dependencies, mapped tasks and XCom."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from airflow.sdk import DAG, task
from dags import run, tries
from jinja2 import Undefined

import dataaccess as da
from dataaccess.airflow import DataAccessSearchOperator

# Of dozens of tasks each.
pytestmark = [pytest.mark.timeout(180), pytest.mark.usefixtures("token")]

CUSTOMERS = ["demo-customer-0001", "demo-customer-0002"]
ROWS = [{"customer_id": each} for each in CUSTOMERS]
NATIVE = pytest.mark.parametrize("is_native", [False, True], ids=["text", "native"])
PARAMS = {
    "customers": CUSTOMERS,
    "json": json.dumps(CUSTOMERS),
    "python": repr(CUSTOMERS),
    "set": repr(set(CUSTOMERS)),
    "csv": ",".join(CUSTOMERS),
    "empty": "",
    "none": None,
}


def a_dag(name: str, *, is_native: bool = False, **options: Any) -> DAG:
    return DAG(name, schedule=None, params=PARAMS, render_template_as_native_obj=is_native, **options)


def search(task_id: str, where: Any) -> DataAccessSearchOperator:
    return DataAccessSearchOperator(task_id=task_id, item_type_name="customer", attrs=["customer_id"], where=where)


def of_audience(task_id: str, audience: Any) -> DataAccessSearchOperator:
    since, attrs = "since('2024-01-01')", ["allocated_audience"]
    return DataAccessSearchOperator(
        task_id=task_id, attrs=attrs, allocated_time=since, audience_type="customer", allocated_audience=audience
    )


@task
def ids() -> list[str]:
    return CUSTOMERS


@task
def json_text() -> str:
    return json.dumps(CUSTOMERS)


@task
def nothing() -> None:
    return None


TEXTS = {
    "json": "{{ params.json }}",
    "tojson": "{{ params.customers | tojson }}",
    "python": "{{ params.python }}",
    "set": "{{ params.set }}",
    "pulled": "{{ ti.xcom_pull('ids') }}",
    "pulled_text": "{{ ti.xcom_pull('json_text') }}",
    "loop": "[{% for each in params.customers %}'{{ each }}', {% endfor %}]",
}


@NATIVE
def test_a_text_of_a_list_is_a_list(*, is_native: bool) -> None:
    with a_dag("texts", is_native=is_native) as dag:
        first = [ids(), json_text()]
        for name, text in TEXTS.items():
            first >> of_audience(f"audience_{name}", text)
            first >> search(f"where_{name}", f"col('customer_id').matches({text})")
        of_audience("audience_output", first[1])
    done = run(dag)
    for name in TEXTS:
        assert done.result(f"where_{name}") == ROWS, name
    for name in [*TEXTS, "output"]:
        found = {row["allocated_audience"] for row in done.result(f"audience_{name}")}
        assert found == set(CUSTOMERS), name


LISTED = {"OR": [{"AND": [{"attribute": "customer_id", "operator": "matches", "value": "{{ params.customers }}"}]}]}
EQUALS_EMPTY = {"OR": [{"AND": [{"column": "customer_id", "operator": "equals", "value": "{{ params.empty }}"}]}]}
WRONG_AUDIENCES = {
    "csv": "{{ params.csv }}",
    "nested": ["{{ params.python }}"],
    "empty": "{{ params.empty }}",
    "none": "{{ params.none }}",
    "pulled": "{{ ti.xcom_pull('nothing') }}",
    "missing": "{{ params.missing }}",
}
WRONG_CONDITIONS = {
    "none": "{{ params.none }}",
    "csv": "col('customer_id').matches('{{ params.csv }}')",
    "python": "col('customer_id').matches('{{ params.python }}')",
    "json": "col('customer_id').matches('{{ params.json }}')",
    "split": "col('customer_id').matches({{ params.python.split(',') }})",
    "set": 'col("customer_id").equals("{{ params.set }}")',
    "keys": "col('a').equals(\"{{ {'a': 1} }}\")",
    "empty": "col('customer_id').equals('{{ params.empty }}')",
    "no": "col('customer_id').equals('{{ params.none }}')",
    "filters": EQUALS_EMPTY,
    "filters_list": LISTED,
    "filters_text": json.dumps(LISTED),
    "pulled": "col('customer_id').matches({{ ti.xcom_pull('nothing') }})",
}


@NATIVE
def test_what_would_find_nothing_is_an_error(sandbox: da.Sandbox, *, is_native: bool) -> None:
    with a_dag("wrong", is_native=is_native, default_args={"retries": 2}, template_undefined=Undefined) as dag:
        DataAccessSearchOperator(task_id="attrs", item_type_name="customer", attrs="{{ params.csv }}")
        of_audience("output", nothing())
        for name, audience in WRONG_AUDIENCES.items():
            of_audience(f"audience_{name}", audience)
        for name, where in WRONG_CONDITIONS.items():
            search(f"where_{name}", where)
    done = run(dag)
    wrong = dag.task_ids
    wrong.remove("nothing")
    assert {name: (done.states[name], tries(done, name)) for name in wrong} == dict.fromkeys(wrong, ("failed", 1))
    assert sandbox.requests == []


def test_native_rendering_makes_no_number_of_an_id(sandbox: da.Sandbox) -> None:
    with a_dag("numbers", is_native=True) as dag:
        of_audience("template", "{{ params.id }}")
        of_audience("literal", "1_000")
        of_audience("list", ["{{ params.id }}", "1_000"])
    assert set(run(dag, conf={"id": "1e5"}).states.values()) == {"success"}
    sent = json.dumps([request.body["filters"] for request in sandbox.requests])
    assert (sent.count('"1e5"'), sent.count('"1_000"')) == (2, 2)


def test_outputs_are_arguments_or_in_texts() -> None:
    with a_dag("outputs") as dag:
        known = ids()
        found = search("found", "col('customer_id').matches({{ ti.xcom_pull('ids') }})")
        operator = of_audience("operator", known)
        known >> found
        several = search("several", "col('customer_id').matches([{{ params.csv.split(',')[0] | tojson }}])")
    assert [each.upstream_task_ids for each in (found, operator, several)] == [{"ids"}, {"ids"}, set()]
    done = run(dag)
    assert set(done.states.values()) == {"success"}
    assert done.result("found") == ROWS
    assert done.result("several") == ROWS[:1]
    assert {row["allocated_audience"] for row in done.result("operator")} == set(CUSTOMERS)


OUTPUTS: dict[str, Callable[[Any], Any]] = {
    "matches": lambda output: da.col("customer_id").matches(output),
    "list": lambda output: da.col("customer_id").matches([output]),
    "days": lambda output: da.col("opened").on(da.days(output, "2024-01-16")),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_in_a_condition_is_refused_when_the_dag_is_read(name: str) -> None:
    with a_dag("refused_outputs") as dag:
        for number, output in enumerate((ids(), dag.param("customers"))):
            condition = OUTPUTS[name](output)
            with pytest.raises(da.ValidationError) as refused:
                search(f"output_{number}", condition)
            assert [problem.argument for problem in refused.value.problems] == ["where"]
            with pytest.raises(da.ValidationError):
                DataAccessSearchOperator.partial(task_id="partial", item_type_name="customer", where=condition)


@pytest.mark.parametrize("days", ["days('2024-01-01', 'today')", da.days("2024-01-01", "today"), "2024-01-15"])
def test_a_day_that_is_none_is_refused_when_the_dag_is_read(days: Any) -> None:
    where = f"col('opened').on({days})" if isinstance(days, str) else da.col("opened").on(days)
    for given in ({"allocated_time": days}, {"item_type_name": "store", "where": where}):
        with pytest.raises(da.ValidationError) as refused:
            DataAccessSearchOperator(task_id="refused", attrs=["id"], **given)
        assert refused.value.problems[0].argument in given


@task
def texts() -> list[str]:
    return ["on('2024-01-15')", "days('2024-01-15', '2024-01-16')"]


@task
def customers_of() -> list[str]:
    return [repr(da.col("customer_id").matches([each])) for each in CUSTOMERS]


@task
def bare_days() -> list[str]:
    return ["2024-01-15", "2024-01-15"]


def test_conditions_map(capfd: pytest.CaptureFixture[str]) -> None:
    def mapped(task_id: str) -> Any:
        return DataAccessSearchOperator.partial(task_id=task_id, attrs=["id"])

    def mapped_items(task_id: str) -> Any:
        return DataAccessSearchOperator.partial(task_id=task_id, item_type_name="customer", attrs=["customer_id"])

    with a_dag("mapped") as dag:
        mapped("texts_of_days").expand(allocated_time=texts())
        mapped("mapped_days").expand(allocated_time=bare_days().map(da.on))
        mapped("literal").expand(allocated_time=[da.on("2024-01-15"), "on('{{ params.json[:0] }}2024-01-15')"])
        mapped("ambiguous").expand(allocated_time=bare_days.override(task_id="again")())
        mapped_items("items").expand(where=customers_of())
    done = run(dag)
    failed = {name for name, state in done.states.items() if state == "failed"}
    assert failed == {"ambiguous[0]", "ambiguous[1]"}
    for name in ("texts_of_days", "mapped_days", "literal"):
        assert [len(rows) for rows in done.result(name)] == [73, 73], name
    # The tasks of a mapped one run in any order.
    assert sorted(rows[0]["customer_id"] for rows in done.result("items")) == CUSTOMERS
    assert "on('2024-01-15')" in "".join(capfd.readouterr())


def test_a_mapped_value_that_is_none_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    with a_dag("mapped_none") as dag:

        @task
        def none() -> list[Any]:
            return [None]

        conditions = none()
        # Any rows would be those of a search without the condition.
        given: dict[str, Any] = {"item_type_name": "customer", "attrs": ["customer_id"], "retries": 2}
        DataAccessSearchOperator.partial(task_id="where", **given).expand(where=conditions)
        codes: dict[str, Any] = {"attrs": ["id"], "allocated_time": da.on("2024-01-15"), "retries": 2}
        DataAccessSearchOperator.partial(task_id="status", **codes).expand(code_status=conditions)
    done = run(dag)

    assert {name: state for name, state in done.states.items() if name != "none"} == {
        "where[0]": "failed",
        "status[0]": "failed",
    }
    assert [tries(done, name) for name in ("where", "status")] == [1, 1]
    assert re.search(r"\bAirflowFailException: ValidationError: where\b.*\bNone\b", "".join(capfd.readouterr()))
