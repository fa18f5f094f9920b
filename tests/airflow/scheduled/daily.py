"""A scan with the days before it, for a real scheduler: its task is killed and cleared."""

from datetime import UTC, datetime, timedelta

from airflow.sdk import dag
from airflow.timetables.interval import CronDataIntervalTimetable

from dataaccess.airflow import DataAccessScanOperator


@dag(
    schedule=CronDataIntervalTimetable("15 0 * * *", timezone="UTC"),
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    end_date=datetime(2024, 2, 1, tzinfo=UTC),
    catchup=False,
)
def daily() -> None:
    """Four days a run."""
    DataAccessScanOperator(
        task_id="scan",
        folder="{{ var.value.warehouse }}/daily",
        attrs=["id"],
        lookback=3,
        retries=1,
        retry_delay=timedelta(seconds=1),
    )


daily()
