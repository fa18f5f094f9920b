"""One search to XCom, one into a file, and one in a task of your own."""

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
    """Some customers, and the codes of a day."""
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
    def count(rows: list[dict], params: dict) -> dict:
        client = DataAccessHook().get_conn()
        codes = client.search_codes(["id"], allocated_time=da.on(params["day"]))
        return {"customers": len(rows), "codes": len(codes)}

    count(rows=found.output)


customers()
