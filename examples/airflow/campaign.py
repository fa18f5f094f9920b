"""After a segment export has ended: the codes of some days, in as many mapped tasks as there are days."""

from airflow.sdk import Asset, Param, dag, task

import dataaccess as da
from dataaccess.airflow import (
    DataAccessHook,
    DataAccessScanRequestOperator,
    DataAccessSegmentExportSensor,
    scan_requests,
)


@dag(
    schedule=None,
    params={
        "export_id": Param(5637051, type="integer"),
        "start": Param("2024-01-15", type="string", format="date"),
        "stop": Param("2024-01-18", type="string", format="date"),
    },
)
def campaign():
    """Codes of the days from `start` to the day before `stop`, once the export has ended."""
    ended = DataAccessSegmentExportSensor(
        task_id="ended", export_id="{{ params.export_id }}", deferrable=True, poke_interval=30, timeout=6 * 3600
    )

    @task
    def plan(params: dict) -> list[dict]:
        scan = DataAccessHook().get_conn().scan_codes(allocated_time=da.days(params["start"], params["stop"]))
        return scan_requests(scan)

    codes = DataAccessScanRequestOperator.partial(
        task_id="codes",
        folder="{{ var.value.warehouse }}/campaign",
        outlets=[Asset("campaign_codes")],
        retries=2,
    ).expand(request=plan())

    @task
    def report(files: list[dict]) -> int:
        rows: int = sum(file["rows"] for file in files)
        print(f"{rows} codes in {len(files)} files")
        return rows

    ended >> codes
    report(codes.output)


campaign()
