"""Nights of one DAG, into one folder, with each fault that an operator handles; the folder machine has the others.

After each night a green task has what the service has, or its XCom names the day; and a green check has it in any case.
The ids are those of `docs/reliability.md`. `pytest -m soak` runs it: half a minute.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG, task
from airflow.timetables.interval import CronDataIntervalTimetable
from dags import Run, query, run, tries
from service import wait_until
from support.changed_responses import ChangedResponses, nothing

import dataaccess as da
from dataaccess.airflow import DataAccessScanOperator, operators

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

FIRST = date(2024, 3, 1)
NIGHTS = 19
# At a quarter past two, when the first day has settled.
BEGINS = datetime(2024, 3, 2, 2, 15, tzinfo=UTC)
ATTRS = ["id", "allocated_time", "code_status"]
CAP = 40
GREEN = {"codes": "success", "complete": "success"}
FAILED = {"codes": "failed", "complete": "upstream_failed"}
DOUBTFUL = {"codes": "success", "complete": "failed"}


class Month:
    """The service, its clock, and the DAG."""

    def __init__(self, folder: Path, connect: Callable[..., str], service: da.Sandbox) -> None:
        self.folder, self.service, self.night = folder, service, 0
        self.platform = ChangedResponses(service)
        self.rows: dict[str, dict[str, Any]] = {}
        self._connect = connect
        self.connect()

    def connect(self, **fields: Any) -> None:
        """Sets the connection, with a new token."""
        extra = {"retry_for": 0, "concurrency": 1, "known_row_cap": CAP}
        given = {"host": self.platform.base_url, "password": self.service.issue_token(), "extra": extra, **fields}
        self._connect(**given)

    def begin(self, night: int) -> None:
        """The next night: a day is over."""
        self.service.advance(timedelta(days=night - self.night))
        self.night = night
        self.load(self.day(), "usual", 10 + night * 7 % 23)

    def day(self, ago: int = 0) -> str:
        """The day that has just ended, or an earlier one."""
        return str(FIRST + timedelta(days=self.night - ago))

    def days(self, ago: int) -> str:
        """The condition for the days from one to the last."""
        return f"days('{self.day(ago)}', '{self.day(-1)}')"

    def load(self, day: str, name: str, count: int) -> None:
        new = [{"id": f"{day}-{name}-{n}", "allocated_time": f"{day} 09:00:00", "code_status": 3} for n in range(count)]
        self.put(new)

    def put(self, rows: list[dict[str, Any]]) -> None:
        self.rows |= {row["id"]: row for row in rows}
        self.service.load("promotion_code", rows, replace=True)

    def run(self, *, retries: int = 0, **arguments: Any) -> Run:
        """A run of this night, as it is each night but for these arguments. Its rows are compared."""
        schedule = CronDataIntervalTimetable("15 2 * * *", timezone="UTC")
        with DAG("month", schedule=schedule, start_date=datetime(2024, 3, 1, tzinfo=UTC)) as dag:
            given: dict[str, Any] = {
                "folder": str(self.folder),
                "attrs": ATTRS,
                "retries": retries,
                **arguments,
            }
            codes = DataAccessScanOperator(task_id="codes", **given)

            @task
            def complete(found: Any) -> None:
                status = da.folder_status(self.folder, known_row_cap=CAP)
                wrong = {*status.missing_days, *status.open_days, *status.doubtful_days}
                assert not [day for day in wrong if found["first_day"] <= day <= found["last_day"]]

            complete(codes.output)
        done = run(dag, logical_date=BEGINS + timedelta(days=self.night))
        self._compare(done)
        return done

    def _compare(self, done: Run) -> None:
        """No green task whose rows differ, unless its XCom says so; and no green check at all."""
        if done.states["codes"] != "success":
            return
        result = done.result("codes")
        here = {day for day in self.differing() if result["first_day"] <= day <= result["last_day"]}
        named = {*result["open_days"], *result["doubtful_days"]}
        assert here <= named, (self.night, here, result)
        assert done.states["complete"] == ("failed" if named else "success"), (self.night, result)

    def differing(self) -> set[str]:
        """The days of which the folder has not what the service has."""
        wanted: dict[str, set[Any]] = {}
        for row in self.rows.values():
            values = (row["id"], row["allocated_time"], row["code_status"])
            wanted.setdefault(row["allocated_time"][:10], set()).add(values)
        found: dict[str, set[Any]] = {}
        for file in self.folder.glob("day=*/*.parquet"):
            rows = query(f"select id, strftime(allocated_time, '%Y-%m-%d %H:%M:%S'), code_status from '{file}'")
            found.setdefault(file.parent.name.removeprefix("day="), set()).update(rows)
        return {day for day in wanted.keys() | found.keys() if wanted.get(day, set()) != found.get(day, set())}

    def parts(self) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in self.folder.glob("day=*/*.parquet")}

    def fails(self, **arguments: Any) -> Run:
        """A run that fails and replaces nothing."""
        before = self.parts()
        done = self.run(**arguments)
        assert done.states == FAILED
        assert {path: content for path, content in self.parts().items() if path in before} == before
        return done

    def succeeds(self, **arguments: Any) -> Run:
        """A run that brings what the service has."""
        done = self.run(**arguments)
        assert done.states == GREEN
        return done


def a_killed_task(month: Month) -> None:
    """S1. The days that were done are kept."""
    previous = signal.getsignal(signal.SIGTERM)
    with month.service.fault("stall") as held:

        def kill() -> None:
            wait_until(lambda: held.hits, "a request")
            os.kill(os.getpid(), signal.SIGTERM)

        # `dag.test()` runs the task in this process.
        killer = threading.Thread(target=kill)
        killer.start()
        try:
            month.fails()
        finally:
            killer.join()
            signal.signal(signal.SIGTERM, previous)


def another_query(month: Month) -> None:
    """S3. It is refused, and not retried."""
    assert tries(month.fails(attrs=["id"], retries=2), "codes") == 1


def two_at_once(month: Month) -> None:
    """S4. The second one gives up."""
    client = da.Client(month.platform.base_url, token=month.service.issue_token())
    scan = client.scan_codes(ATTRS, allocated_time=da.on(month.day()))
    with ExitStack() as holding:
        held = holding.enter_context(month.service.fault("stall", times=1))
        other = threading.Thread(target=lambda: scan.to_folder(month.folder))
        other.start()
        wait_until(lambda: held.hits, "a request of the other run")
        month.fails()
    other.join()


def a_refused_token(month: Month) -> None:
    """S6. The next run has another one."""
    month.connect(password="revoked")
    assert tries(month.fails(retries=2), "codes") == 1
    month.connect()


def a_response_that_is_cut_off(month: Month) -> None:
    """S7. The retry brings it."""
    with month.service.fault("cut", after_bytes=500, times=1):
        assert tries(month.succeeds(retries=1), "codes") == 2


def a_day_that_is_not_over(month: Month) -> None:
    """S11. Someone runs it for today too: the day is open until the next night requests it again."""
    today = month.day(-1)
    month.load(today, "early", 12)
    done = month.run(allocated_time=f"days('{month.day()}', '{month.day(-2)}')")
    assert (done.states, done.result("codes")["open_days"]) == (DOUBTFUL, [today])
    month.load(today, "late", 5)
    assert today in month.differing()


def a_refresh_without_rows(month: Month) -> None:
    """S12. The files are kept in doubt, until a response has rows again."""
    month.succeeds()
    month.put([{**row, "code_status": 4} for row in month.rows.values() if row["allocated_time"][:10] == month.day()])
    with month.platform.changed(nothing):
        done = month.run(refresh=month.day())
        assert (done.states, done.result("codes")["doubtful_days"]) == (DOUBTFUL, [month.day()])
        # The record of the file remembers it.
        assert month.run(on_doubt="error").states == FAILED
    assert month.differing() >= {month.day()}


def statuses_that_changed(month: Month) -> None:
    """S15. A refresh of the last days brings them."""
    month.succeeds()
    month.put([{**row, "code_status": 7 - row["code_status"]} for row in month.rows.values()][-40:])
    assert month.differing()
    done = month.succeeds(allocated_time=month.days(4), refresh="all")
    assert done.result("codes")["refreshed"] == 5


FAULTS: dict[int, Callable[[Month], None]] = {
    2: a_killed_task,
    4: another_query,
    5: two_at_once,
    7: a_refused_token,
    8: a_response_that_is_cut_off,
    10: a_day_that_is_not_over,
    12: a_refresh_without_rows,
    15: statuses_that_changed,
}


def test_no_green_task_of_a_month_has_other_rows_than_the_service(
    tmp_path: Path, connect: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operators, "_SECONDS_FOR_LOCK", 0.2)
    with da.Sandbox(now=BEGINS) as service:
        month = Month(tmp_path / "codes", connect, service)
        for night in range(NIGHTS):
            month.begin(night)
            if night in FAULTS:
                FAULTS[night](month)
            # Whatever the night was, the next run makes it good.
            month.succeeds()
        done = month.succeeds(allocated_time=month.days(NIGHTS - 1), refresh=month.day())
        result = done.result("codes")
        assert (result["files"], result["kept"]) == (NIGHTS, NIGHTS - 1)
        month.platform.close()
    assert month.differing() == set()
