"""Every night the codes of the day before, into one folder that pandas, polars, DuckDB and Spark read as one dataset.

The three days before are requested again, as their codes are used meanwhile. A backfill of a month fills the same
folder, and a task that was killed goes on where it was.
"""

from datetime import datetime, timedelta

from airflow.sdk import Asset, dag
from airflow.timetables.interval import CronDataIntervalTimetable

from dataaccess.airflow import DataAccessScanOperator


@dag(
    # In the time zone in which your platform cuts its days, as in the connection.
    schedule=CronDataIntervalTimetable("15 0 * * *", timezone="UTC"),
    start_date=datetime(2024, 1, 1),
    catchup=False,
)
def daily_codes():
    """The codes of each day, in the folder `codes` below that of the Airflow variable `warehouse`."""
    DataAccessScanOperator(
        task_id="codes",
        folder="{{ var.value.warehouse }}/codes",  # for this scan alone
        attrs=["id", "name", "code_status", "allocated_time"],
        code_status=["sent", "used"],
        lookback=3,  # days before, whose statuses may have changed
        outlets=[Asset("promotion_codes")],  # starts the DAGs that wait for it
        retries=3,
        retry_delay=timedelta(minutes=5),
    )


daily_codes()
