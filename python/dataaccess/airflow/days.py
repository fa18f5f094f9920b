"""The days of a run, from its data interval, and which of them its folder requests again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from zoneinfo import ZoneInfo

from dataaccess.airflow.compat import Context, exceptions

_INSTEAD = "name the days, as \"days('{{ params.start }}', '{{ params.stop }}')\""


class RunDays:
    """The days that ended in the data interval of a run, in the time zone of the client, and the days before.

    Each day ends in one interval, whatever the schedule: no day is requested twice, or before it is over. In templates
    it is `dataaccess`, whose connection is read at the first use.
    """

    def __init__(self, context: Context, timezone: Callable[[], str], lookback: int) -> None:
        """Reads nothing yet."""
        self._of_run = context, timezone, lookback

    @cached_property
    def _bounds(self) -> tuple[date, date]:
        """The first day, and the day after the last. In most runs of an hourly schedule no day ended."""
        context, timezone, lookback = self._of_run
        start: datetime | None = context.get("data_interval_start")
        end: datetime | None = context.get("data_interval_end")
        if start is None or end is None:
            message = "this run has no data interval, as it has no logical date"
            raise exceptions.AirflowFailException(f"{message}: {_INSTEAD}")
        if start == end:
            raise exceptions.AirflowFailException(
                f"the data interval of this run is empty ({start}), as schedule is a cron trigger: "
                f"use schedule=CronDataIntervalTimetable(cron, timezone), or {_INSTEAD}"
            )
        zone = ZoneInfo(timezone())
        first, stop = start.astimezone(zone).date(), end.astimezone(zone).date()
        if first == stop:
            raise exceptions.AirflowSkipException(f"no day of {zone} ended in the data interval from {start} to {end}")
        return first - timedelta(days=lookback), stop

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
