"""The days of a run, from its data interval."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from dataaccess.airflow.compat import AirflowFailException, AirflowSkipException
from dataaccess.filters import days

if TYPE_CHECKING:
    from datetime import datetime

    from airflow.sdk import Context

    from dataaccess.filters._comparison import Days

_INSTEAD = "pass allocated_time=\"days('{{ params.start }}', '{{ params.stop }}')\""


def days_of_run(context: Context, timezone: str) -> Days:
    """The days that ended in the data interval of the run, in the time zone of the client.

    Each day ends in one interval, whatever the schedule: no day is requested twice, or before it is over.

    Raises:
        AirflowFailException: The run has no data interval, or an empty one.
        AirflowSkipException: No day ended in it, as in most runs of an hourly schedule.
    """
    start: datetime | None = context.get("data_interval_start")
    end: datetime | None = context.get("data_interval_end")
    if start is None or end is None:
        raise AirflowFailException(f"this run has no data interval, as it has no logical date: {_INSTEAD}")
    if start == end:
        raise AirflowFailException(
            f"the data interval of this run is empty ({start}), as schedule= is a cron trigger: "
            f"use schedule=CronDataIntervalTimetable(cron, timezone), or {_INSTEAD}"
        )
    zone = ZoneInfo(timezone)
    first, stop = start.astimezone(zone).date(), end.astimezone(zone).date()
    if first == stop:
        raise AirflowSkipException(f"no day of {timezone} ended in the data interval from {start} to {end}")
    return days(first.isoformat(), stop.isoformat())
