"""Every Monday the codes of the week before are counted, unless a day is missing, too old or in doubt."""

from datetime import datetime, timedelta

from airflow.sdk import dag, task
from airflow.timetables.interval import CronDataIntervalTimetable

from dataaccess.airflow import DataAccessCheckOperator


@dag(schedule=CronDataIntervalTimetable("0 6 * * 1", timezone="UTC"), start_date=datetime(2024, 1, 1), catchup=False)
def weekly_codes():
    """Reads the folder that `daily_codes` fills."""
    complete = DataAccessCheckOperator(
        task_id="complete",
        folder="{{ var.value.warehouse }}/codes",
        max_age=timedelta(days=30),
        min_rows=100,
        fail_on_empty=True,
        # Waits for the last night's run.
        retries=3,
        retry_delay=timedelta(minutes=20),
    )

    @task
    def count(checked: dict) -> str:
        text = f"{checked['rows']} codes from {checked['first_day']} to {checked['last_day']}"
        print(text)
        return text

    count(complete.output)


weekly_codes()
