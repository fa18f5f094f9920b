"""Searches to XCom, into a file, for the output of a task, mapped over conditions, and in a task of your own."""

from airflow.sdk import Param, dag, task

import dataaccess as da
from dataaccess.airflow import DataAccessHook, DataAccessSearchOperator


@dag(
    schedule=None,
    params={
        "customers": Param(["demo-customer-0001", "demo-customer-0002"], type="array"),
        "day": Param("2024-01-15", type="string", format="date"),
    },
)
def customers():
    """Some customers, and the codes of some days."""
    found = DataAccessSearchOperator(
        task_id="customers",
        item_type_name="customer",
        attrs=["customer_id", "name"],
        where="col('customer_id').matches({{ params.customers }})",
    )

    DataAccessSearchOperator(
        task_id="used",
        attrs=["id", "allocated_time"],
        allocated_time="on('{{ params.day }}')",
        code_status="used",
        path="{{ var.value.warehouse }}/used-{{ params.day }}.jsonl.gz",
    )

    @task
    def ids() -> list[str]:
        return ["demo-customer-0003", "demo-customer-0004"]

    # The output of a task: `>>` makes this one wait for it.
    ids() >> DataAccessSearchOperator(
        task_id="of_output",
        item_type_name="customer",
        attrs=["customer_id", "name"],
        where="col('customer_id').matches({{ ti.xcom_pull('ids') }})",
    )

    @task
    def days(params: dict) -> list[str]:
        return [repr(da.on(params["day"])), "days('2024-01-16', '2024-01-18')"]

    # One task for each condition.
    DataAccessSearchOperator.partial(task_id="mapped", attrs=["id"], max_xcom_rows=5_000).expand(allocated_time=days())

    @task
    def count(rows: list[dict], params: dict) -> dict:
        client = DataAccessHook().get_conn()
        codes = client.search_codes(["id"], allocated_time=da.on(params["day"]))
        return {"customers": len(rows), "codes": len(codes)}

    count(rows=found.output)


customers()
