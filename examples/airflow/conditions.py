"""Conditions from templates, from the output of a task, and one mapped task for each condition."""

from airflow.sdk import Param, dag, task

import dataaccess as da
from dataaccess.airflow import DataAccessSearchOperator


@dag(
    schedule=None,
    params={
        "customers": Param(["demo-customer-0001", "demo-customer-0002"], type="array"),
        "day": Param("2024-01-15", type="string", format="date"),
    },
)
def conditions():
    """Searches whose conditions are known when they run."""
    # A template: a text, in which a list needs no quotes.
    DataAccessSearchOperator(
        task_id="of_params",
        item_type_name="customer",
        attrs=["customer_id", "name"],
        where="col('customer_id').matches({{ params.customers }})",
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


conditions()
