"""After a segment export has ended: the codes of some days, in as many mapped tasks as there are days."""

from datetime import date, timedelta

from airflow.sdk import Asset, Param, dag, task

from dataaccess.airflow import DataAccessSearchOperator, DataAccessSegmentExportSensor


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
    def plan(params: dict, var: dict) -> list[dict]:
        start, stop = (date.fromisoformat(params[name]) for name in ("start", "stop"))
        days = [str(start + timedelta(days=number)) for number in range((stop - start).days)]
        folder = f"{var['value'].warehouse}/campaign"
        return [{"allocated_time": f"on('{day}')", "path": f"{folder}/{day}.parquet"} for day in days]

    codes = DataAccessSearchOperator.partial(
        task_id="codes", outlets=[Asset("campaign_codes")], retries=2
    ).expand_kwargs(plan())

    @task
    def report(files: list[dict]) -> int:
        rows: int = sum(file["rows"] for file in files)
        print(f"{rows} codes in {len(files)} files")
        return rows

    ended >> codes
    report(codes.output)


campaign()
