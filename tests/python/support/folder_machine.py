"""A folder at a service that changes and fails: runs, and how each is compared with the model."""

from __future__ import annotations

import json
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pyarrow.parquet as pq
from support import kinds
from support.changing_codes import ATTRS, as_row
from support.folder_model import FolderModel, Order, Part
from support.machines import assert_hidden
from support.service_machine import ServiceMachine

import dataaccess as da

# A report and an error, one of which may be none.
Ended = tuple[da.FolderReport | None, BaseException | None]


class Stopped(Exception):
    """What the callback of a run raises."""


class FolderMachine(ServiceMachine):
    """The folder and its model."""

    def __init__(self, folder: Path) -> None:
        """No folder yet."""
        super().__init__()
        self.folder, self.model = folder, FolderModel()
        # The bytes of each file, as the last run left them.
        self.contents: dict[date, bytes] = {}
        self.warned: set[type[Warning]] = set()

    def scan(self, days: tuple[date, ...], client: da.Client | None = None, attrs: list[str] = ATTRS) -> da.Scan:
        """The scan of some days."""
        stop = days[-1] + timedelta(days=1)
        chosen = da.on(days[0]) if len(days) == 1 else da.days(days[0], stop)
        return (client or self.client).scan_codes(attrs, allocated_time=chosen)

    def path(self, day: date) -> Path:
        """The file of a day."""
        return self.folder / f"day={day}" / "part-0.parquet"

    def run(self, order: Order, progress: Any = None) -> Ended:
        """Runs."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ended = self._run(order, progress)
        self.warned = {each.category for each in caught}
        assert all(issubclass(kind, da.DataAccessWarning) for kind in self.warned), self.warned
        assert_hidden(self.tokens.issued, *ended, *(each.message for each in caught))
        return ended

    def at_once(self, order: Order) -> list[Ended]:
        """Two runs in two threads: one waits for the other, for two seconds at most."""
        with warnings.catch_warnings(), ThreadPoolExecutor(2) as pool:
            warnings.simplefilter("ignore")
            return list(pool.map(self._run, [order, order]))

    def _run(self, order: Order, progress: Any = None) -> Ended:
        refresh, accept = (None if one is None else one.written for one in (order.refresh, order.accept))
        on_doubt: Any = (lambda task: task.rows > 0) if order.on_doubt == "rows" else order.on_doubt
        try:
            report = self.scan(order.days).to_folder(
                self.folder,
                refresh=refresh,
                accept=accept,
                settle=timedelta(hours=order.settle),
                on_doubt=on_doubt,
                progress=progress or False,
            )
        except (da.DataAccessError, Stopped) as error:
            return getattr(error, "report", None), error
        return report, None

    def expected(self, order: Order) -> dict[date, Part | None]:
        """The file of each requested day after a run that ends. Its time is the present step's."""
        return {day: self._expected(order, day) for day in self.model.requested(order)}

    def _expected(self, order: Order, day: date) -> Part | None:
        if self.faults.fails(day) is not None:
            return self.model.parts.get(day)
        response = self.faults.left(day, self.codes.of_day(day))
        return self.model.after(order, day, response, self.clock.now)

    def failures(self, order: Order) -> dict[date, type[BaseException]]:
        """The days that fail, with the class of each error."""
        failed: dict[date, type[BaseException]] = dict.fromkeys(self.model.damaged(order), kinds.Corrupt)
        for day in self.model.requested(order):
            kind, response = self.faults.fails(day), self.faults.left(day, self.codes.of_day(day))
            if kind is not None:
                failed[day] = kind
            elif self.model.outcome(order, day, response) == "failed":
                failed[day] = kinds.Corrupt if self._has_damaged_rows(order, day) else da.DoubtfulDataError
            elif self.model.outcome(order, day, response) == "kept" and self._has_damaged_rows(order, day):
                failed[day] = kinds.Corrupt
        return failed

    def _has_damaged_rows(self, order: Order, day: date) -> bool:
        """Whether a file is readable at first, and its rows are damaged: it cannot remember what was refused."""
        return day in self.model.readable(order) and self.model.parts[day].damage != "none"

    def adopt(self, expected: dict[date, Part | None], *, is_complete: bool = True) -> set[date]:
        """Reads the files of these days: as expected, or if a run was cut short as before. Gives the replaced."""
        replaced = set()
        for day, wanted in expected.items():
            found = before = self.model.parts.get(day)
            content = self.path(day).read_bytes() if self.path(day).exists() else None
            if content is not None and content != self.contents.get(day):
                found = self.read(day)
                self.contents[day] = content
                if found.doubt != "kept":
                    replaced.add(day)
            allowed = [self._at(found, wanted), *([] if is_complete else [before])]
            assert found in allowed, f"{day}: {found} is none of {allowed}"
            if found is not None:
                self.model.parts[day] = found
        return replaced

    def _at(self, found: Part | None, wanted: Part | None) -> Part | None:
        """What is expected, with the time of a file if that is of the present step."""
        if found is None or wanted is None or wanted.requested_at != self.clock.now:
            return wanted
        is_now = self.clock.is_now(found.requested_at)
        return replace(wanted, requested_at=found.requested_at) if is_now else wanted

    def read(self, day: date) -> Part:
        """What a file has."""
        record = json.loads(pq.read_metadata(self.path(day)).metadata[b"dataaccess.task"])["record"]
        rows = pq.read_table(self.path(day), partitioning=None).to_pylist()
        time = datetime.fromtimestamp(record["requested_at"] / 1000, UTC)
        doubt: Any = "kept" if record.get("is_refused") else "less" if record.get("doubts") else "none"
        return Part(tuple(map(as_row, rows)), time, doubt, record.get("is_accepted", False))

    def check_report(
        self,
        order: Order,
        before: dict[date, Part],
        parts: dict[date, Part],
        report: da.FolderReport,
        replaced: set[date],
    ) -> None:
        """The report says what the folder has of the days, and what the run did."""
        days = sorted(parts)
        assert [task.day for task in report.files] == [str(day) for day in days]
        assert [task.rows for task in report.files] == [len(parts[day].rows) for day in days]
        assert [task.requested_at for task in report.files] == [parts[day].requested_at for day in days]
        doubtful = [day for day in days if parts[day].doubt != "none"]
        assert report.doubtful_days == [str(day) for day in doubtful]
        is_open = {day: not order.is_over(day, parts[day]) for day in days}
        assert [day for day in report.open_days if day in map(str, days)] == [str(day) for day in days if is_open[day]]
        unsettled = [day for day in days if not is_open[day] and not order.is_final(day, parts[day])]
        assert report.unsettled_days == [str(day) for day in unsettled if day not in doubtful]
        new = replaced - set(before)
        assert (report.new, report.refreshed, report.kept) == (len(new), len(replaced - new), len(days) - len(replaced))


def wait_until_unlocked(folder: Path) -> None:
    """Waits for the tasks in flight of a run that was stopped: until they end, its folder is locked."""
    from fcntl import LOCK_EX, LOCK_NB, flock

    lock = folder / ".dataaccess" / "lock"
    until = monotonic() + 30
    while lock.exists():
        with lock.open() as file:
            try:
                flock(file, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                assert monotonic() < until
                sleep(0.001)
            else:
                return
