"""Sixty nights of one job, with a clock: after each, the folder is the service, or what is not is named.

Each fault that once ended with success and a wrong folder comes at least once, between nights that are killed, run
twice at once, or without a service.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dataaccess as da

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="processes are killed the POSIX way"),
    pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning"),
]

FIRST = date(2024, 3, 1)
NIGHTS = 60
ATTRS = ["id", "allocated_time", "code_status"]
# At a quarter past two, as cron has it.
BEGINS = datetime(2024, 3, 2, 2, 15, tzinfo=UTC)
CHILD = """
import sys
import dataaccess as da

base_url, folder, stop = sys.argv[1:]
client = da.Client(base_url, concurrency=1)
scan = client.scan_codes(["id", "allocated_time", "code_status"], allocated_time=da.days("2024-03-01", stop))
scan.run(folder, refresh="last 3 days", progress=lambda progress: print(progress.done, flush=True))
"""


class Story:
    """A platform that grows and changes, and the folder of a job."""

    def __init__(self, service: da.Sandbox, folder: Path) -> None:
        """The first day has rows."""
        self.service = service
        self.folder = folder
        self.client = service.client(concurrency=2, retry_for=2)
        self.rows: dict[str, dict[str, Any]] = {}
        self.night = 0

    def day(self, ago: int = 0) -> date:
        """The day that has just ended, or an earlier one."""
        return FIRST + timedelta(days=self.night - ago)

    def load(self, day: date, name: str, count: int, at: str = "09:00:00") -> None:
        """New codes of a day."""
        new = [{"id": f"{day}-{name}-{n}", "allocated_time": f"{day} {at}", "code_status": 3} for n in range(count)]
        self.put(new)

    def put(self, rows: list[dict[str, Any]]) -> None:
        """New or changed codes."""
        self.rows |= {row["id"]: row for row in rows}
        self.service.load("promotion_code", rows, replace=True)

    def change(self) -> None:
        """Some codes of the last three days were used."""
        days = {str(self.day(ago)) for ago in range(3)}
        recent = [row for row in self.rows.values() if row["allocated_time"][:10] in days]
        self.put([{**row, "code_status": 4} for row in recent[::5]])

    def scan(self, client: Any = None, ahead: int = 1) -> Any:
        """All days until last night; with `ahead`, as cron lines are that ask for today too."""
        days = da.days(str(FIRST), str(self.day() + timedelta(days=ahead)))
        return (client or self.client).scan_codes(ATTRS, allocated_time=days)

    def run(self, **options: Any) -> da.ScanReport:
        """The job."""
        report: da.ScanReport = self.scan(ahead=2).run(self.folder, refresh="last 4 days", **options)
        return report

    def differing(self) -> set[str]:
        """The days of which the folder has not what the service has."""
        wanted: dict[str, set[Any]] = {}
        for row in self.rows.values():
            wanted.setdefault(row["allocated_time"][:10], set()).add((row["id"], row["code_status"]))
        found: dict[str, set[Any]] = {}
        for part in self.folder.glob("day=*/*.parquet"):
            frame = pl.read_parquet(part, hive_partitioning=False)
            rows = found.setdefault(part.parent.name.removeprefix("day="), set())
            assert frame["id"].is_unique().all()
            rows |= set(zip(frame["id"], frame["code_status"], strict=True))
        until = str(self.day() + timedelta(days=1))
        return {
            day for day in wanted.keys() | found.keys() if day <= until and wanted.get(day, set()) != found.get(day)
        }

    def succeeds(self, **options: Any) -> da.ScanReport:
        """Runs the job: what differs is named."""
        report = self.run(**options)
        named = {*report.open_days, *(str(task.day) for task in report.tasks if task.doubts)}
        assert self.differing() <= named, (self.night, self.differing(), str(report))
        return report


@contextmanager
def answering(story: Story, body: dict[str, Any], times: int) -> Iterator[None]:
    """Responses in place of those of the service."""
    with story.service.fault("status", path="search", status=200, body=json.dumps(body), times=times):
        yield


def data(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """A body."""
    return {"code": 200, "message": "Search Business Object success", "data": {"status": True, "data": rows}}


def a_day_that_is_not_over(story: Story) -> None:
    story.service.advance(timedelta(hours=9, minutes=45))
    today = story.day(-1)
    story.load(today, "morning", 5, "08:00:00")
    report = story.succeeds()
    assert str(today) in report.open_days
    # The afternoon comes, and the next night requests the day again.
    story.load(today, "afternoon", 7, "15:00:00")
    assert str(today) in story.differing()


def a_refresh_by_nothing(story: Story) -> None:
    before = story.differing()
    with answering(story, data([]), times=5):
        report = story.run()
    assert story.differing() <= before | set(report.open_days)
    assert {task.day for task in report.tasks if task.doubts} >= {str(story.day(ago)) for ago in (1, 2)}
    assert any("kept" in text for text in report.warnings)


def a_response_without_data(story: Story) -> None:
    with answering(story, {"code": 200, "message": "ok"}, times=5), pytest.raises(da.ScanIncompleteError) as caught:
        story.run()
    assert caught.value.exit_code in (65, 69)
    assert story.differing() <= {str(story.day(-1)), str(story.day())}


def a_renamed_column(story: Story) -> None:
    renamed = [{"id": f"x-{n}", "allocatedTime": f"{story.day()} 09:00:00", "code_status": 3} for n in range(90)]
    with answering(story, data(renamed), times=1):
        report = story.run()
    (task,) = [task for task in report.tasks if task.doubts]
    assert "allocated_time" in " ".join([*task.doubts, *report.warnings])
    assert story.differing() <= {str(task.day), *report.open_days}


def doubt_before_the_rename(story: Story) -> None:
    files = {path: path.read_bytes() for path in story.folder.glob("day=*/*.parquet")}
    with pytest.raises(da.ScanIncompleteError) as caught:
        story.run(on_doubt=lambda task: task.rows > 10_000)
    assert caught.value.exit_code == 65
    assert {path: path.read_bytes() for path in files} == files


def another_platform(story: Story) -> None:
    with da.Sandbox(now=BEGINS) as other, other.client() as client:
        with pytest.raises(da.CheckpointMismatchError, match="has rows of"):
            story.scan(client).run(story.folder)
        assert other.requests == []


def ages(story: Story) -> None:
    oldest = story.succeeds().oldest
    assert oldest is not None
    # A code of the first week was used since: only a refresh of that age brings it.
    unused = [row for row in story.rows.values() if row["code_status"] == 3]
    early = next(row for row in unused if row["allocated_time"][:10] == str(FIRST + timedelta(days=3)))
    story.put([{**early, "code_status": 4}])
    report = story.scan(ahead=2).run(story.folder, refresh=["last 4 days", "older than 20 days"])
    assert report.rows_changed >= 1
    assert report.oldest > oldest


def a_snapshot(story: Story) -> None:
    folder = story.folder.parent / "snapshot"
    for _ in range(2):
        since = story.client.scan_codes(ATTRS, allocated_time=da.since(str(FIRST)))
        assert since.run(folder).rows == len(story.rows)
        story.load(story.day(), f"late-{len(story.rows)}", 2)


def damage(story: Story) -> None:
    path = story.folder / f"day={story.day(20)}" / "part-0.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(da.ScanIncompleteError) as caught:
        story.run()
    assert caught.value.exit_code == 65
    assert str(story.day(20)) in str(caught.value)
    assert da.folder_status(story.folder).damaged[0].day == str(story.day(20))
    story.scan(ahead=2).run(story.folder, refresh=[str(story.day(20)), "last 4 days"])


def an_outage(story: Story) -> None:
    with story.service.fault("status", path="search", status=503), pytest.raises(da.ThrottledError) as caught:
        story.run()
    assert (caught.value.exit_code, caught.value.retryable) == (75, True)


def two_at_once(story: Story) -> None:
    locked: list[int] = []

    def second(_progress: da.Progress) -> None:
        if not locked:
            with pytest.raises(da.CheckpointLockedError) as caught:
                story.run()
            locked.append(caught.value.exit_code)

    with story.service.fault("delay", path="search", seconds=4, times=1):
        story.run(progress=second)
    assert locked == [75]


def a_kill(story: Story) -> None:
    environment = {**os.environ, "DATAACCESS_TOKEN": story.service.issue_token()}
    stop = str(story.day(-1))
    command = [sys.executable, "-c", CHILD, story.service.base_url, str(story.folder), stop]
    with (
        story.service.fault("stall", path="search", after=2),
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process,  # noqa: S603 - our own
    ):
        time.sleep(0.8)
        process.send_signal(signal.SIGKILL)
    assert story.differing() <= {str(story.day(ago)) for ago in range(-1, 4)}


EVENTS: dict[int, Callable[[Story], None]] = {
    5: a_day_that_is_not_over,
    9: a_kill,
    12: a_refresh_by_nothing,
    15: a_response_without_data,
    18: two_at_once,
    21: a_renamed_column,
    25: another_platform,
    28: doubt_before_the_rename,
    30: a_kill,
    34: ages,
    38: a_snapshot,
    42: damage,
    46: an_outage,
    50: two_at_once,
    54: a_kill,
}


def test_after_each_night_the_folder_is_the_service_or_says_what_is_not(tmp_path: Path) -> None:
    with da.Sandbox(now=BEGINS) as service:
        story = Story(service, tmp_path / "codes")
        for night in range(NIGHTS):
            story.night = night
            story.load(story.day(), "usual", 3 + night * 7 % 11)
            story.change()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if night in EVENTS:
                    EVENTS[night](story)
                # Whatever the night was, the job that cron starts again makes it good.
                report = story.succeeds()
            assert str(story.day()) not in report.open_days
            now = BEGINS + timedelta(days=night + 1)
            service.advance((now - clock(service)).total_seconds())
        story.night = NIGHTS - 1
        assert story.differing() <= {str(story.day(-1))}
        assert story.succeeds().rows == len(story.rows)
        status = da.folder_status(tmp_path / "codes")
        assert (status.missing_days, status.damaged) == ([], [])


def clock(service: da.Sandbox) -> datetime:
    """The time of the service."""
    import urllib.error
    import urllib.request
    from email.utils import parsedate_to_datetime

    try:
        with urllib.request.urlopen(service.base_url) as response:  # noqa: S310 - our own
            return parsedate_to_datetime(response.headers["Date"])
    except urllib.error.HTTPError as error:
        return parsedate_to_datetime(error.headers["Date"])
