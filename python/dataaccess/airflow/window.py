"""The days of a run, from its data interval, and which of them its folder requests again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from dataaccess._core.checks import count, invalid
from dataaccess.airflow.compat import AirflowFailException, AirflowSkipException
from dataaccess.filters import Days, days

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from airflow.sdk import Context

_INSTEAD = "name the days, as \"days('{{ params.start }}', '{{ params.stop }}')\""


def days_of_run(context: Context, timezone: str, lookback: int = 0) -> Days:
    """The days that ended in the data interval of the run, in the time zone of the client, and the days before.

    Each day ends in one interval, whatever the schedule: no day is requested twice, or before it is over.

    Raises:
        AirflowFailException: The run has no data interval, or an empty one.
        AirflowSkipException: No day ended in it, as in most runs of an hourly schedule.
    """
    first, stop = _bounds(context, timezone, lookback)
    return days(first.isoformat(), stop.isoformat())


class RunDays:
    """The days of a run for templates, as `{{ dataaccess.days }}`. The connection is read at the first use."""

    def __init__(self, context: Context, timezone: Callable[[], str], lookback: int) -> None:
        """Reads nothing yet."""
        self._of_run = context, timezone, lookback

    @cached_property
    def _bounds(self) -> tuple[date, date]:
        context, timezone, lookback = self._of_run
        return _bounds(context, timezone(), lookback)

    @property
    def days(self) -> str:
        """The days as text for a condition: `days('2024-01-15', '2024-01-16')`, without the second day."""
        return "days('{}', '{}')".format(*self._bounds)

    @property
    def first_day(self) -> str:
        """The first day, as `2024-01-15`."""
        return self._bounds[0].isoformat()

    @property
    def last_day(self) -> str:
        """The last day, which belongs to the run."""
        return (self._bounds[1] - timedelta(days=1)).isoformat()


def checked_lookback(lookback: int, item_type_name: str | None, *conditions: object) -> int:
    """The number of days, if the task requests the days of the run.

    Raises:
        ValidationError: It is no number of days, or would change nothing.
    """
    has_default = item_type_name is None and all(condition is None for condition in conditions)
    if count("lookback", lookback, least=0) and not has_default and "dataaccess." not in str(conditions):
        message = "is for the days of the run: write {{ dataaccess.days }} into the condition"
        raise invalid("lookback", message, lookback)
    return lookback


def refresh_since(context: Context, retries: int, lookback: int) -> datetime | None:
    """The time since which the files of a task must have been requested, in the future for none of them.

    A task that looks back, or that was cleared, requests all of its days. Its retry keeps what was requested since its
    DAG run began.
    """
    task = context["task_instance"]
    # Clearing sets `max_tries` to the tries until then and the retries of the task.
    first_try = max(task.max_tries - retries + 1, 1)
    if first_try == 1 and not lookback:
        return None
    begin: datetime | None = context["dag_run"].start_date
    # A DAG run that still runs when its task is cleared keeps its begin, so the first try requests everything.
    return datetime.max.replace(tzinfo=UTC) if begin is None or task.try_number <= first_try else begin


def _bounds(context: Context, timezone: str, lookback: int) -> tuple[date, date]:
    """The first day, and the day after the last."""
    start: datetime | None = context.get("data_interval_start")
    end: datetime | None = context.get("data_interval_end")
    if start is None or end is None:
        raise AirflowFailException(f"this run has no data interval, as it has no logical date: {_INSTEAD}")
    if start == end:
        raise AirflowFailException(
            f"the data interval of this run is empty ({start}), as schedule is a cron trigger: "
            f"use schedule=CronDataIntervalTimetable(cron, timezone), or {_INSTEAD}"
        )
    zone = ZoneInfo(timezone)
    first, stop = start.astimezone(zone).date(), end.astimezone(zone).date()
    if first == stop:
        raise AirflowSkipException(f"no day of {timezone} ended in the data interval from {start} to {end}")
    return first - timedelta(days=lookback), stop
