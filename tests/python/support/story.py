"""A platform that grows and changes, its clock, and the job that brings it into a folder night by night.

After each run the folder is the service, or the days that are not are named: in the report, in the log, in the status
of the folder and by the exit code of `dataaccess status --strict`.
"""

from __future__ import annotations

import json
import logging
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any

from support.changed_responses import ChangedResponses, day_of
from support.night_folders import NightFolder, Row

import dataaccess as da

FIRST = date(2024, 3, 1)
ATTRS = ["id", "allocated_time", "code_status"]
# At a quarter past two, as cron has it.
BEGINS = datetime(2024, 3, 2, 2, 15, tzinfo=UTC)
REFRESHED = 4
# Every run of a night requests so many days, the new one included; the first one of a night also the day before them.
SETTLE = timedelta(days=REFRESHED - 1, hours=3)
TOKEN = "token-of-the-sixty-nights"
# So many customers have codes: those of each are a request of the snapshot.
CUSTOMERS = ["customer-0", "customer-1", "customer-2"]

# Runs a command: its exit code, its output, and its standard error.
Command = Callable[..., tuple[int, str, str]]


class Records(logging.Handler):
    """The records of runs."""

    def __init__(self) -> None:
        """None yet."""
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps a record."""
        if record.name == "dataaccess.run":
            self.records.append(record)

    def name_doubt(self, day: str) -> bool:
        """Whether a warning has the day in its text or its fields."""
        doubts = [record for record in self.records if record.levelno >= logging.WARNING]
        return any(day in f"{record.getMessage()} {vars(record)}" for record in doubts)

    def name_open(self, day: str) -> bool:
        """Whether the end of the run has it among its open days."""
        return day in getattr(self.records[-1], "open_days", [])


class Story:
    """The nights of one job."""

    def __init__(self, service: da.Sandbox, folder: NightFolder, command: Command) -> None:
        """The night after the first day."""
        self.service, self.folder, self.command = service, folder, command
        self.platform = ChangedResponses(service)
        self.client = da.Client(self.platform.base_url, token=TOKEN, concurrency=2, retry_for=2)
        self.rows: dict[str, dict[str, Any]] = {}
        self.night = 0
        # How many days of those that are not over the job asks for, as some lines of cron do.
        self.open_days = 0
        self._started, self._advanced = time.monotonic(), timedelta()
        self._records = Records()

    def begin(self, night: int) -> None:
        """The next night: a day is over."""
        self.night, self.open_days = night, 0
        self.wait_until(BEGINS + timedelta(days=night))
        self.load(self.day(), "usual", 3 + night * 7 % 11)
        self.change()

    def wait_until(self, moment: datetime) -> None:
        """Moves the clock of the service."""
        passed = timedelta(seconds=time.monotonic() - self._started) + self._advanced
        by = max(moment - BEGINS - passed, timedelta())
        self.service.advance(by)
        self._advanced += by

    def day(self, ago: int = 0) -> str:
        """The day that has just ended, or an earlier one."""
        return str(FIRST + timedelta(days=self.night - ago))

    def refreshed_days(self) -> set[str]:
        """The days that the job requests again."""
        return {self.day(ago) for ago in range(min(REFRESHED, self.night + 1))}

    def load(self, day: str, name: str, count: int, at: str = "09:00:00") -> None:
        """New codes of a day."""
        new = [{"id": f"{day}-{name}-{n}", "allocated_time": f"{day} {at}", "code_status": 3} for n in range(count)]
        self.put([{**row, "allocated_audience": CUSTOMERS[n % 3]} for n, row in enumerate(new)])

    def put(self, rows: list[dict[str, Any]]) -> None:
        """New or changed codes."""
        self.rows |= {row["id"]: row for row in rows}
        self.service.load("promotion_code", rows, replace=True)

    def change(self, days: set[str] | None = None, *, every: int = 5) -> None:
        """Some codes of the last three days were used, or of these."""
        days = {self.day(ago) for ago in range(3)} if days is None else days
        chosen = [row for row in self.rows.values() if row["allocated_time"][:10] in days]
        self.put([{**row, "code_status": 7 - row["code_status"]} for row in chosen[::every]])

    def scan(self, client: Any = None) -> Any:
        """All days until last night, and those that are not over."""
        stop = self.day(-1 - self.open_days)
        return (client or self.client).scan_codes(ATTRS, allocated_time=da.days(str(FIRST), stop))

    def run(self, **options: Any) -> da.FolderReport:
        """The job."""
        report: da.FolderReport = self.scan().to_folder(self.folder.url, **{"settle": SETTLE, **options})
        return report

    def words(self) -> list[str]:
        """The job as a command."""
        days = ["--days", str(FIRST), self.day(-1 - self.open_days)]
        settle = f"{SETTLE / timedelta(hours=1):.0f}h"
        return ["codes", *days, "--attrs", ",".join(ATTRS), "--folder", self.folder.url, "--settle", settle]

    def strict(self) -> tuple[int, str]:
        """The job as a command with `--strict`: its exit code and what it reports."""
        code, _, reported = self.command(*self.words(), "--strict")
        return code, reported

    def wanted(self) -> dict[str, set[Row]]:
        """What the service has of each day."""
        found: dict[str, set[Row]] = {}
        for row in self.rows.values():
            values = (row["id"], row["allocated_time"], row["code_status"])
            found.setdefault(row["allocated_time"][:10], set()).add(values)
        return found

    def differing(self) -> set[str]:
        """The days of which the folder has not what the service has."""
        wanted, found = self.wanted(), self.folder.rows()
        until = self.day(-self.open_days)
        return {
            day
            for day in wanted.keys() | found.keys()
            if day <= until and wanted.get(day, set()) != found.get(day, set())
        }

    def succeeds(self, **options: Any) -> da.FolderReport:
        """Runs the job: each day that differs is named, and nothing is named that need not be."""
        with self.logged():
            report = self.run(**options)
        doubtful, opened = doubtful_days(report), set(report.open_days)
        where = (self.night, options, str(report))
        assert self.differing() <= doubtful | opened, (self.differing(), *where)
        assert [day for day in doubtful if not self._records.name_doubt(day)] == [], where
        assert [day for day in opened if not self._records.name_open(day)] == [], where
        code, output, _ = self.command("status", self.folder.url, "--strict", "--json")
        status = json.loads(output)
        assert opened <= set(status["open_days"]), where
        assert {part["day"] for part in status["files"] if part["doubts"]} == doubtful, where
        assert code == (65 if doubtful | set(status["open_days"]) else 0), where
        return report

    @contextmanager
    def logged(self) -> Iterator[list[logging.LogRecord]]:
        """The records of a run; what it warns of is no error."""
        logger, self._records = logging.getLogger("dataaccess"), Records()
        level = logger.level
        logger.addHandler(self._records)
        logger.setLevel(logging.INFO)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", da.DataAccessWarning)
                yield self._records.records
        finally:
            logger.setLevel(level)
            logger.removeHandler(self._records)

    def asked_by(self, act: Callable[[], object]) -> set[str]:
        """The days that requests are for, of what is done."""
        before = len(self.platform.asked)
        act()
        return set(map(day_of, self.platform.asked[before:]))

    def environment(self) -> Mapping[str, str]:
        """What commands and other processes need."""
        return {"DATAACCESS_BASE_URL": self.platform.base_url, "DATAACCESS_TOKEN": TOKEN}


def doubtful_days(report: da.FolderReport) -> set[str]:
    """The days in doubt."""
    return {str(task.day) for task in report.files if task.doubts}
