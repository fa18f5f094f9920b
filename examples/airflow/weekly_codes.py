"""Every Monday the codes of the week before are counted, unless a day is missing or in doubt."""

from datetime import datetime, timedelta

from airflow.sdk import dag, task
from airflow.timetables.interval import CronDataIntervalTimetable

import dataaccess as da


@dag(schedule=CronDataIntervalTimetable("0 6 * * 1", timezone="UTC"), start_date=datetime(2024, 1, 1), catchup=False)
def weekly_codes():
    """Reads the folder that `daily_codes` fills."""

    # Retries wait for the last night's run.
    @task(retries=3, retry_delay=timedelta(minutes=20))
    def count(data_interval_start: datetime, data_interval_end: datetime, var: dict) -> str:
        first, last = str(data_interval_start.date()), str(data_interval_end.date() - timedelta(days=1))
        status = da.folder_status(f"{var['value'].warehouse}/codes", until=last)
        wrong = [*status.missing_days, *status.open_days, *status.doubtful_days]
        if wrong := [day for day in wrong if first <= day <= last]:
            raise ValueError(f"missing, open or in doubt: {', '.join(wrong)}")
        rows = sum(file.rows for file in status.files if file.day and first <= file.day <= last)
        text = f"{rows} codes from {first} to {last}"
        print(text)
        return text

    count()


weekly_codes()
