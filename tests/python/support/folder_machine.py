"""A folder at a service that changes and fails: runs, and how each is compared with the model.

The folder is on this machine or in a bucket, and a run is a call or a command.
"""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from io import BytesIO
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pyarrow.parquet as pq
from support import kinds
from support.folder_model import FolderModel, Order, Part
from support.objects import Store
from support.runs import record_of
from support.service_machine import ATTRS, ServiceMachine, as_row, assert_hidden

import dataaccess as da

LOCK = ".dataaccess/lock"


class LocalPlace:
    """A folder of this machine."""

    def __init__(self, path: Path) -> None:
        self.path, self.url = path, str(path)

    def files(self) -> dict[str, bytes]:
        paths = [path for path in self.path.rglob("*") if path.is_file()]
        return {path.relative_to(self.path).as_posix(): path.read_bytes() for path in paths}

    def write(self, name: str, content: bytes | None) -> None:
        if content is None:
            (self.path / name).unlink()
        else:
            (self.path / name).write_bytes(content)

    def exists(self) -> bool:
        return self.path.exists()

    def unlock(self) -> None:
        """Removes the lock of a run that was killed: here it ends with its process."""

    def is_locked(self) -> bool:
        """Whether a run holds the lock."""
        from fcntl import LOCK_EX, LOCK_NB, flock

        lock = self.path / LOCK
        if not lock.exists():
            return False
        with lock.open() as file:
            try:
                flock(file, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                return True
        return False


class BucketPlace:
    """The same in an object store, whose settings are in the environment."""

    def __init__(self, store: Store, name: str) -> None:
        self.store, self.name, self.url = store, name, store.url(name)

    def files(self) -> dict[str, bytes]:
        names = [name for name in self.store.names() if name.startswith(f"{self.name}/")]
        return {name.removeprefix(f"{self.name}/"): self.store.get(name) for name in names}

    def write(self, name: str, content: bytes | None) -> None:
        if content is None:
            self.store.delete(f"{self.name}/{name}")
        else:
            self.store.put(f"{self.name}/{name}", content)

    def exists(self) -> bool:
        return bool(self.files())

    def unlock(self) -> None:
        if self.is_locked():
            self.write(LOCK, None)

    def is_locked(self) -> bool:
        return LOCK in self.files()


Place = LocalPlace | BucketPlace


def parts_of(place: Place) -> dict[str, bytes]:
    return {name: content for name, content in place.files().items() if name.endswith(".parquet")}


def wait_until_unlocked(place: Place) -> None:
    """Waits for the tasks in flight of a run that was stopped: until they end, its folder is locked."""
    until = monotonic() + 30
    while place.is_locked():
        assert monotonic() < until
        sleep(0.001)


# Runs a command: its exit code, its output, and its standard error.
Command = Callable[..., tuple[int, str, str]]
# A report and an error, one of which may be none.
Ended = tuple[da.FolderReport | None, BaseException | None]


class Stopped(Exception):
    """What the callback of a run raises."""


class FolderMachine(ServiceMachine):
    def __init__(self, place: Place, command: Command) -> None:
        super().__init__()
        self.place, self.command, self.model = place, command, FolderModel()
        # The bytes of each file, as the last run left them.
        self.contents: dict[date, bytes] = {}
        self.warned: set[type[Warning]] = set()

    def scan(self, days: tuple[date, ...], client: da.Client | None = None, attrs: list[str] = ATTRS) -> da.Scan:
        stop = days[-1] + timedelta(days=1)
        chosen = da.on(days[0]) if len(days) == 1 else da.days(days[0], stop)
        return (client or self.client).scan_codes(attrs, allocated_time=chosen)

    def run(self, order: Order, progress: Any = None) -> Ended:
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
        client = self.client if order.cap is None else self.connect({**self.zone, "known_row_cap": order.cap})
        try:
            report = self.scan(order.days, client).to_folder(
                self.place.url,
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
        replaced, contents = set(), parts_of(self.place)
        for day, wanted in expected.items():
            found = before = self.model.parts.get(day)
            content = contents.get(name_of(day))
            if content is not None and content != self.contents.get(day):
                found = self.read(content)
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

    def read(self, content: bytes) -> Part:
        record = record_of(BytesIO(content))
        rows = pq.read_table(BytesIO(content), partitioning=None).to_pylist()
        time = datetime.fromtimestamp(record["requested_at"] / 1000, UTC)
        doubt: Any = "kept" if record.get("is_refused") else "less" if record.get("doubts") else "none"
        return Part(tuple(map(as_row, rows)), time, doubt, record.get("is_accepted", False))

    def check_report(
        self, order: Order, before: dict[date, Part], report: da.FolderReport | dict[str, Any], replaced: set[date]
    ) -> None:
        """The report says what the folder has of the days, and what the run did."""
        shown = report.to_dict() if isinstance(report, da.FolderReport) else report
        parts = self.model.readable(order)
        days, broken = sorted(parts), [str(day) for day in order.days if day in self.model.parts and day not in parts]
        assert [file["day"] for file in shown["files"] if file["state"] == "damaged"] == broken
        files = [file for file in shown["files"] if file["state"] != "damaged"]
        assert [file["day"] for file in files] == [str(day) for day in days]
        assert [file["rows"] for file in files] == [len(parts[day].rows) for day in days]
        assert [datetime.fromisoformat(file["requested_at"]) for file in files] == [
            parts[day].requested_at for day in days
        ]
        opened = {str(day) for day in days if not order.is_over(day, parts[day])}
        # A day is one thing: open, in doubt or unsettled.
        doubtful = [str(day) for day in days if order.doubts(parts[day]) and str(day) not in opened]
        unsettled = [str(day) for day in days if not order.is_final(day, parts[day])]
        assert [day for day in shown["open_days"] if day in set(map(str, days))] == sorted(opened)
        assert shown["doubtful_days"] == sorted(doubtful + broken)
        assert shown["unsettled_days"] == [day for day in unsettled if day not in {*opened, *doubtful}]
        new = replaced - set(before)
        counts = (len(new), len(replaced - new), len(days) - len(replaced))
        assert (shown["new"], shown["refreshed"], shown["kept"]) == counts

    def is_empty(self, order: Order) -> bool:
        """Whether several days were found, none of which has rows."""
        parts = self.model.readable(order)
        return len(order.days) > 1 and len(parts) == len(order.days) and not any(part.rows for part in parts.values())

    def kill_a_run(self, order: Order, lines: int) -> None:
        """Runs in a process of its own, which is killed after so many reports of progress."""
        environment = {**os.environ, "DATAACCESS_BASE_URL": self.service.base_url, "DATAACCESS_TOKEN": self.tokens()}
        zone = self.zone.get("timezone", "UTC")
        words = [self.place.url, str(order.days[0]), str(order.days[-1] + timedelta(days=1)), zone]
        refresh = [] if order.refresh is None else [order.refresh.written]
        self.service.switch(latency=0.02)
        with subprocess.Popen(
            [sys.executable, "-c", CHILD, *words, *refresh], env=environment, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            for _ in range(lines):
                process.stdout.readline()
            process.kill()
        # What it had sent arrives.
        sleep(0.1)
        self.service.switch(latency=0)
        self.place.unlock()


CHILD = f"""
import os, sys, warnings
import dataaccess as da
from dataaccess._core.embedded import count_as_sandbox

warnings.simplefilter("ignore")
folder, start, stop, zone, *refresh = sys.argv[1:]
options = {{}} if zone == "UTC" else {{"timezone": zone}}
# A child process does not know that the service is a sandbox: its rows would be those of another service.
count_as_sandbox(os.environ["DATAACCESS_BASE_URL"], count_as_sandbox)
scan = da.Client(concurrency=2, **options).scan_codes({ATTRS!r}, allocated_time=da.days(start, stop))
scan.to_folder(folder, refresh=refresh or None, progress=lambda progress: print(progress.done, flush=True))
"""


def name_of(day: date) -> str:
    return f"day={day}/part-0.parquet"
