"""Promotion codes of some days, a mapped task for each day: what `engines.py airflow` runs."""

from airflow.sdk import dag, task

import dataaccess as da
from dataaccess.airflow import DataAccessHook, DataAccessScanRequestOperator, scan_requests


@dag(schedule=None, params={"start": "2024-01-01", "stop": "2024-01-02", "folder": ""})
def mapped_codes() -> None:
    """Codes from `start` to the day before `stop`."""

    @task
    def plan(params: dict) -> list[dict]:
        days = da.days(params["start"], params["stop"])
        return scan_requests(DataAccessHook().get_conn().scan_codes(allocated_time=days))

    DataAccessScanRequestOperator.partial(task_id="codes", folder="{{ params.folder }}").expand(request=plan())


mapped_codes()
