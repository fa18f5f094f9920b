"""A sensor, a scan into a folder and mapped searches, for a real scheduler; tasks of it are killed while they run."""

from datetime import timedelta
from typing import Any

from airflow.sdk import Asset, dag, task

import dataaccess as da
from dataaccess.airflow import (
    DataAccessScanOperator,
    DataAccessSearchOperator,
    DataAccessSegmentExportSensor,
)

FOLDER = "{{ var.value.warehouse }}"
RETRIES: dict[str, Any] = {"retries": 1, "retry_delay": timedelta(seconds=1)}


@dag(schedule=None, params={"export_id": 0})
def killed():
    """Ten days into one folder, three days as mapped tasks."""
    ended = DataAccessSegmentExportSensor(
        task_id="ended",
        export_id="{{ params.export_id }}",
        deferrable=True,
        poke_interval=1,
        timeout=120,
        **RETRIES,
    )

    scan = DataAccessScanOperator(
        task_id="scan",
        folder=f"{FOLDER}/scan",
        attrs=["id"],
        allocated_time=da.days("2024-01-08", "2024-01-18"),
        outlets=[Asset("scan")],
        **RETRIES,
    )

    @task
    def plan(var: dict) -> list[dict]:
        days = [f"2024-01-{day}" for day in (15, 16, 17)]
        folder = f"{var['value'].warehouse}/mapped"
        return [{"allocated_time": f"on('{day}')", "path": f"{folder}/day={day}/rows.parquet"} for day in days]

    requests = plan()
    ended >> scan >> requests
    DataAccessSearchOperator.partial(
        task_id="mapped", attrs=["id"], outlets=[Asset("mapped")], **RETRIES
    ).expand_kwargs(requests)


killed()
