"""Runs into a folder in any order of nights, changes, faults, stops, kills and damage: it is what the model says.

After each step each file has the bytes that the last run that was to write it wrote. So rows are as they were when they
were requested, a kept day is unchanged, and nothing is lost or replaced without an error or a doubt that names the day.
The folder is one of this machine or of an object store; a run is a call or a command.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date, timedelta
from io import BytesIO
from itertools import chain, count
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule
from support import folder_model as model
from support import kinds
from support.commands import run_here
from support.folder_machine import (
    BucketPlace,
    FolderMachine,
    LocalPlace,
    Place,
    Stopped,
    name_of,
    parts_of,
    wait_until_unlocked,
)
from support.folder_model import Order
from support.objects import forwarded, moto_server
from support.runs import damaged
from support.service_machine import (
    ATTRS,
    DAY_FAULTS,
    DAYS,
    MOST,
    PASSING,
    TIMES,
    as_row,
    days,
    pairs,
    run_machine,
    some_days,
    zones,
)

import dataaccess as da

__all__ = ["run_here"]

Draw = st.DataObject
named = st.one_of(
    st.none(),
    st.just(model.ALL),
    days.map(lambda day: model.days(day, day)),
    st.tuples(pairs, st.booleans()).map(lambda both: model.days(*both[0], is_text=both[1])),
)


def orders(zone: Any) -> st.SearchStrategy[Order]:
    return st.builds(
        Order,
        days=some_days,
        zone=st.just(zone),
        refresh=named,
        accept=named,
        settle=st.sampled_from([1, 0, 6, 30, 72]),
        on_doubt=st.sampled_from(["warn", "warn", "error", "rows"]),
        cap=st.sampled_from([None, None, None, 4]),
    )


class Folders(FolderMachine):
    @initialize(zone=zones, counts=st.lists(st.integers(0, MOST), max_size=3))
    def begins(self, zone: str | None, counts: list[int]) -> None:
        self.begin(zone, counts)

    @rule(data=st.data())
    def a_run(self, data: Draw) -> None:
        self.runs(data.draw(orders(self.codes.zone)))

    @rule(refresh=st.sampled_from([None, model.ALL]))
    def a_night(self, refresh: model.Refresh | None) -> None:
        """The usual run of all days."""
        self.runs(Order(tuple(DAYS), self.codes.zone, refresh))

    def runs(self, order: Order) -> None:
        """A run, compared with what must come of it."""
        self.begin_call()
        if self.model.refuses(order):
            _, error = self.run(order)
            assert isinstance(error, da.ValidationError)
            assert self.service.requests == []
            return
        requested, expected, failed = self.model.requested(order), self.expected(order), self.failures(order)
        before = dict(self.model.parts)
        report, error = self.run(order)
        if requested and self.tokens.is_stuck:
            # A fault of a day may come before the token is checked.
            assert isinstance(error, da.DataAccessError if self.faults.are_of_days else da.PermissionDeniedError)
            assert self.adopt(expected, is_complete=False) == set()
            return
        if self.faults.redirected in requested:
            assert isinstance(error, kinds.Redirect)
            self.adopt(expected, is_complete=False)
            return
        replaced = self.adopt(expected)
        self.check_requests(Counter(requested), by_client=order.cap is None)
        parts = self.model.readable(order).values()
        is_less = any(part.doubt != "none" for part in parts)
        is_capped = any(order.is_capped(part.rows) and not part.is_accepted for part in parts)
        if failed:
            assert isinstance(error, da.ScanIncompleteError)
            assert {name[:10] for name in error.failed} == {str(day) for day in failed}
            assert all(isinstance(one, failed[date.fromisoformat(name[:10])]) for name, one in error.failed.items())
        elif order.on_doubt == "error" and (is_less or is_capped or self.is_empty(order)):
            assert isinstance(error, da.DoubtfulDataError)
        else:
            assert error is None, repr(error)
            assert categories(self.warned) == {
                *([da.ShrunkWarning] if is_less else []),
                *([da.IncompleteWarning] if is_capped else []),
                *([da.EmptyResultWarning] if self.is_empty(order) else []),
            }
        assert report is not None
        self.check_report(order, before, report, replaced)

    @rule(data=st.data())
    def a_command(self, data: Draw) -> None:
        """The same run, with the exit code of what it finds."""
        order = data.draw(orders(self.codes.zone))
        self.commands(replace(order, on_doubt="error" if order.on_doubt == "error" else "warn", cap=None))

    def commands(self, order: Order) -> None:
        """A run of the command, compared with what must come of it."""
        if self.tokens.is_stuck or self.faults.redirected:
            return
        self.begin_call()
        requested, expected, failed = self.model.requested(order), self.expected(order), self.failures(order)
        before, is_refused = dict(self.model.parts), self.model.refuses(order)
        first, stop = order.days[0], order.days[-1] + timedelta(days=1)
        words = ["codes", "--days", str(first), str(stop), "--attrs", ",".join(ATTRS), "--folder", self.place.url]
        words += ["--json", "--settle", f"{order.settle}h", *(["--strict"] if order.on_doubt == "error" else [])]
        words += ["--timezone", self.zone["timezone"]] if self.zone else []
        for name, one in (("--refresh", order.refresh), ("--accept", order.accept)):
            words += [] if one is None else [name, as_word(one)]
        code, output, reported = self.of_command(*words)
        if is_refused:
            assert (code, self.service.requests) == (2, [])
            return
        assert code in {0, 65, 69, 75}, reported
        assert (code == 0) or failed or order.on_doubt == "error", reported
        replaced = self.adopt(expected)
        self.check_requests(Counter(requested), by_client=False)
        doubtful = {str(day) for day, part in self.model.readable(order).items() if order.doubts(part)}
        named = {str(day) for day in failed} or doubtful
        if failed:
            is_of_data = any(issubclass(kind, (da.FolderError, da.DoubtfulDataError)) for kind in failed.values())
            assert (code == 65) == is_of_data, (code, failed)
            assert code
        else:
            is_wrong = bool(doubtful) or self.is_empty(order)
            assert code == (65 if is_wrong and order.on_doubt == "error" else 0), reported
        assert {day for day in named if day in reported} == named or len(named) > 3, (reported, failed, order)
        if not code:
            opened = [
                str(day) for day, part in sorted(self.model.readable(order).items()) if not order.is_over(day, part)
            ]
            assert not opened or opened[0] in reported, (opened, reported)
            self.check_report(order, before, json.loads(output), replaced)

    def of_command(self, *words: str) -> tuple[int, str, str]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DATAACCESS_BASE_URL", self.service.base_url)
            patch.setenv("DATAACCESS_TOKEN", self.tokens())
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                return self.command(*words)

    @rule(number=st.integers(1, 4), data=st.data())
    def a_run_is_stopped(self, number: int, data: Draw) -> None:
        """By an exception of its callback, before the first task or after one."""
        order = data.draw(orders(self.codes.zone))
        if self.model.refuses(order) or self.faults.redirected or self.tokens.is_stuck:
            return
        calls: list[da.Progress] = []

        def progress(now: da.Progress) -> None:
            calls.append(now)
            if len(calls) == number:
                raise Stopped

        kept = set(self.model.readable(order)) - self.model.requested(order)
        expected = self.expected(order)
        _, error = self.run(order, progress)
        is_stopped = len(calls) == number
        assert isinstance(error, Stopped) == is_stopped
        wait_until_unlocked(self.place)
        replaced = self.adopt(expected, is_complete=not is_stopped)
        doubtful = {day for day in expected if day in self.model.parts and self.model.parts[day].doubt == "kept"}
        # What was reported as done is done.
        assert len(kept | replaced | doubtful) >= calls[-1].done

    @rule(lines=st.integers(0, 5), refresh=st.sampled_from([None, model.ALL]))
    def a_run_is_killed(self, lines: int, refresh: model.Refresh | None) -> None:
        """Before the first task or after one, by SIGKILL: what is done is done, and nothing else is there."""
        if self.tokens.is_stuck or self.faults.redirected:
            return
        order = Order(tuple(DAYS), self.codes.zone, refresh)
        expected = self.expected(order)
        self.kill_a_run(order, lines)
        self.adopt(expected, is_complete=False)

    @rule()
    def an_outage(self) -> None:
        """The job ends as one that may succeed later, and the folder is as it was."""
        if self.tokens.is_stuck or self.faults.are_of_days:
            return
        order = Order(tuple(DAYS), self.codes.zone)
        with self.service.fault("status", status=503), self.connect({**self.zone, "retry_for": 0}) as client:
            if not self.model.requested(order):
                return
            with pytest.raises(da.DataAccessError) as caught:
                self.scan(order.days, client).to_folder(self.place.url)
        assert (caught.value.retryable, caught.value.exit_code) == (True, 75)

    @rule(data=st.data(), refresh=st.sampled_from([None, model.ALL]))
    def two_runs_at_once(self, data: Draw, refresh: model.Refresh | None) -> None:
        """The second one does what is left to do, or finds the folder locked."""
        self.both_run(replace(data.draw(orders(self.codes.zone)), refresh=refresh, accept=None, cap=None))

    def both_run(self, order: Order) -> None:
        if self.faults.redirected or self.tokens.is_stuck:
            return
        expected = self.expected(order)
        locked = [error for _, error in self.at_once(order) if isinstance(error, da.FolderLockedError)]
        assert len(locked) < 2
        if not locked:
            self.model.parts |= {day: part for day, part in expected.items() if part is not None}
            expected |= self.expected(order)
        self.adopt(expected)

    @rule(some=some_days, other=st.sampled_from(["attributes", "zone", "service", "same service"]))
    def another_query_or_service(self, some: tuple[date, ...], other: str) -> None:
        if not any(part.is_readable for part in self.model.parts.values()):
            return
        self.service.clear_requests()
        attrs = ["id"] if other == "attributes" else ATTRS
        options: dict[str, Any] = {"timezone": "Asia/Tokyo"} if other == "zone" else dict(self.zone)
        if other.endswith("service"):
            options["base_url"] = "https://cdp.example.com"
        with self.connect(options) as client, pytest.raises(kinds.Mismatch):
            self.scan(some, client, attrs).to_folder(self.place.url, same_service=other == "same service")
        assert self.service.requests == []

    @rule(
        day=days,
        damage=st.sampled_from(["gone", "footer", "rows"]),
        at=st.floats(0, 1, exclude_max=True),
        bit=st.integers(0, 7),
    )
    def a_file_is_damaged(self, day: date, damage: Any, at: float, bit: int) -> None:
        if day not in self.contents:
            return
        part, content = self.model.parts[day], self.contents[day]
        if damage == "gone":
            self.place.write(name_of(day), None)
            del self.model.parts[day], self.contents[day]
            return
        if part.damage != "none" or (damage == "rows" and not part.rows):
            return
        if damage == "footer":
            content = content[:-9]
        else:
            # Behind the data there is the footer, which a run reads.
            data = json.loads(pq.read_metadata(BytesIO(content)).metadata[b"dataaccess.task"])["data_bytes"]
            place = 4 + int(at * (data - 4))
            content = content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]
        self.place.write(name_of(day), content)
        self.contents[day], self.model.parts[day] = content, replace(part, damage=damage)

    @rule(some=some_days, missing=st.sampled_from(["raise", "ignore"]))
    def its_rows_are_read(self, some: tuple[date, ...], missing: Any) -> None:
        """All rows of the scan, or an error."""
        parts = [self.model.parts.get(day) for day in some]
        damaged = {str(day) for day in some if day in self.model.parts and self.model.parts[day].damage != "none"}
        self.service.clear_requests()
        refusals: dict[type[BaseException], bool] = {
            da.FileError: not self.place.exists(),
            da.ScanIncompleteError: missing == "raise" and None in parts,
            kinds.Corrupt: bool(damaged),
        }
        error: Any = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                rows = self.scan(some).read_folder(self.place.url, missing=missing).to_pylist()
            except da.DataAccessError as raised:
                error = raised
        if error or any(refusals.values()):
            assert refusals.get(kinds.kind_of(error)), repr(error)
            is_corrupt = isinstance(error, kinds.Corrupt)
            assert not is_corrupt or (error.day in damaged and str(error.path).startswith(str(self.place.url)))
            return
        there = [part for part in parts if part is not None]
        assert list(map(as_row, rows)) == list(chain.from_iterable(part.rows for part in there))
        is_empty = len(some) > 1 and len(there) == len(some) and not rows
        assert categories({each.category for each in caught}) == {
            *([da.ShrunkWarning] if any(part.doubt != "none" for part in there) else []),
            *([da.EmptyResultWarning] if is_empty else []),
        }
        assert self.service.requests == []

    @rule()
    def other_libraries_read_it(self) -> None:
        if not isinstance(self.place, LocalPlace) or not self.contents:
            return
        if any(part.damage != "none" for part in self.model.parts.values()):
            return
        rows = {(str(day), row) for day, part in self.model.parts.items() for row in part.rows}
        found = ds.dataset(self.place.path, partitioning="hive").to_table().to_pylist()
        assert len(found) == len(rows)
        assert {(row["day"], as_row(row)) for row in found} == rows
        frame = pl.read_parquet(f"{self.place.path}/**/*.parquet", hive_partitioning=True)
        assert {(str(row["day"]), as_row(row)) for row in frame.to_dicts()} == rows

    @rule(settle=st.sampled_from([1, 0, 30]), cap=st.sampled_from([None, 4]))
    def its_status_is_read(self, settle: int, cap: int | None) -> None:
        if not self.place.exists():
            return
        order, parts = Order((), self.codes.zone, settle=settle, cap=cap), sorted(self.model.parts.items())
        status = da.folder_status(self.place.url, settle=timedelta(hours=settle), known_row_cap=cap)
        assert status.days == [str(day) for day, _ in parts]
        readable = [(str(day), day, part) for day, part in parts if part.is_readable]
        broken = [str(day) for day, part in parts if not part.is_readable]
        assert [part.day for part in damaged(status)] == broken
        assert {part.day for part in status.files if part.doubts} == {
            *broken,
            *(name for name, _, part in readable if order.doubts(part)),
        }
        opened = [name for name, day, part in readable if not order.is_over(day, part)]
        doubtful = [name for name, _, part in readable if order.doubts(part) and name not in opened]
        assert (status.open_days, status.doubtful_days) == (opened, sorted(broken + doubtful))
        assert status.rows == sum(len(part.rows) for _, _, part in readable)
        between = [day for day in DAYS if parts and parts[0][0] <= day <= parts[-1][0]]
        assert status.missing_days == [str(day) for day in between if day not in self.model.parts]
        if cap is None:
            code, output, _ = self.of_command("status", self.place.url, "--settle", f"{settle}h", "--json", "--strict")
            shown = json.loads(output)
            assert [shown[name] for name in ("days", "open_days", "doubtful_days", "missing_days")] == [
                *(status.days, status.open_days, status.doubtful_days, status.missing_days)
            ]
            is_wrong = not parts or status.open_days or status.doubtful_days or status.missing_days
            assert code == (65 if is_wrong else 0)

    @invariant()
    def each_file_is_as_its_last_run_left_it(self) -> None:
        assert parts_of(self.place) == {name_of(day): content for day, content in self.contents.items()}

    @invariant()
    def no_file_has_a_token(self) -> None:
        files = self.place.files().values()
        assert not any(token.encode() in content for token in self.tokens.issued for content in files)


def categories(warned: set[type[Warning]]) -> set[type[Warning]]:
    """Those of warnings; what only a function refused is in doubt as what is less."""
    return {da.ShrunkWarning if kind is da.DataAccessWarning else kind for kind in warned}


def as_word(days: model.Refresh) -> str:
    """As a command has it."""
    written = days.written
    return written if isinstance(written, str) else repr(written).replace("da.", "")


pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(sys.platform == "win32", reason="reads locks and kills processes the POSIX way"),
]


@pytest.fixture(params=["disk", "store"])
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[int], Place]]:
    """Makes places of one kind, each with a number."""
    if request.param == "disk":
        yield lambda number: LocalPlace(tmp_path / str(number) / "codes")
        return
    for name in [name for name in os.environ if name.startswith(("AWS_", "GOOGLE_", "AZURE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with moto_server() as moto, forwarded(moto) as store:
        for name, value in store.environment.items():
            monkeypatch.setenv(name, value)
        yield lambda number: BucketPlace(store, f"codes-{number}")


@pytest.mark.hypothesis
def test_a_folder_is_what_its_runs_must_have_made_of_it(
    place: Callable[[int], Place], time_scale: Any, run_here: Any, request: pytest.FixtureRequest
) -> None:
    time_scale(20)
    numbers = count()
    share = 0.2 if "disk" in request.node.name else 0.06
    run_machine(lambda: Folders(place(next(numbers)), run_here), steps=25, share=share)


def fails(names: Iterable[str]) -> list[tuple[str, dict[str, Any]]]:
    return [("a_day_fails_or_shrinks", {"day": day, "name": name}) for day, name in zip(DAYS, names, strict=False)]


# What happens between nights, each at least once: the rule and its arguments.
FIRST, LAST, SECOND = DAYS[0], DAYS[-1], DAYS[1]
BETWEEN: list[tuple[str, dict[str, Any]]] = [
    ("codes_are_used", {"day": FIRST}),
    ("codes_are_allocated", {"day": LAST, "count": 3, "at": TIMES[2], "audience": "customer-1"}),
    ("time_passes", {"hours": 48}),
    ("a_run_is_killed", {"lines": 0, "refresh": None}),
    ("a_run_is_killed", {"lines": 3, "refresh": model.ALL}),
    ("codes_are_lost", {"day": FIRST, "keep": 0}),
    ("a_night", {"refresh": model.ALL}),
    ("its_rows_are_read", {"some": tuple(DAYS), "missing": "raise"}),
    ("a_column_loses_its_values", {"day": SECOND}),
    ("a_night", {"refresh": model.ALL}),
    ("a_run_is_killed", {"lines": 2, "refresh": model.ALL}),
    # Pages are retried for a while.
    *fails(name for name in DAY_FAULTS if name != "a login page"),
    ("a_night", {"refresh": model.ALL}),
    ("the_service_recovers", {}),
    *fails(list(DAY_FAULTS)[6:]),
    ("a_night", {"refresh": model.ALL}),
    ("the_service_recovers", {}),
    *[("a_request_fails", {"options": options}) for options in PASSING],
    ("a_night", {"refresh": model.ALL}),
    ("a_day_is_redirected", {"day": SECOND}),
    ("a_night", {"refresh": model.ALL}),
    ("the_service_recovers", {}),
    ("the_token_is_revoked", {"is_stuck": True}),
    ("the_service_recovers", {}),
    ("the_token_is_revoked", {"is_stuck": False}),
    ("a_night", {"refresh": model.ALL}),
    ("an_outage", {}),
    *[("a_file_is_damaged", {"day": day, "damage": "gone", "at": 0, "bit": 0}) for day in (FIRST, LAST)],
    ("its_rows_are_read", {"some": tuple(DAYS), "missing": "raise"}),
    ("a_file_is_damaged", {"day": FIRST, "damage": "footer", "at": 0, "bit": 0}),
    ("a_file_is_damaged", {"day": DAYS[2], "damage": "rows", "at": 0.5, "bit": 3}),
    ("its_rows_are_read", {"some": tuple(DAYS), "missing": "ignore"}),
    ("a_night", {"refresh": model.days(FIRST, DAYS[2])}),
    *[("another_query_or_service", {"some": (FIRST,), "other": other}) for other in ("attributes", "zone")],
    *[("another_query_or_service", {"some": (FIRST,), "other": other}) for other in ("service", "same service")],
    ("other_libraries_read_it", {}),
    ("its_status_is_read", {"settle": 30, "cap": 4}),
]


@pytest.mark.fault("O9", "S11", "S12", "S14", "S15", "S16")
def test_nights_with_every_fault_between_them(place: Callable[[int], Place], time_scale: Any, run_here: Any) -> None:
    time_scale(20)
    machine = Folders(place(0), run_here)
    machine.begin("America/Lima", [9, 4, 8])
    zone = machine.codes.zone

    def holds() -> None:
        machine.each_file_is_as_its_last_run_left_it()
        machine.no_file_has_a_token()

    for number, (name, arguments) in enumerate(BETWEEN):
        getattr(machine, name)(**arguments)
        holds()
        is_local = isinstance(machine.place, LocalPlace)
        # A store takes its time: there every other night is left out.
        if name in {"a_day_fails_or_shrinks", "a_request_fails"} or (number % 2 and not is_local):
            continue
        # The job that cron starts, as a call or a command, strict or not, and another one at the same time.
        order = Order(tuple(DAYS), zone, on_doubt="error" if number % 3 == 1 else "warn")
        if number % 4 == 2:
            machine.commands(order)
        elif number % 7 == 3:
            machine.both_run(order)
        else:
            machine.runs(replace(order, cap=4 if number % 5 == 1 else None))
        holds()
        if number % 5 == 0 or is_local:
            machine.its_status_is_read(settle=1, cap=None)
    # What is in doubt is right, and every day is over.
    machine.time_passes(hours=24 * 9)
    machine.runs(Order(tuple(DAYS), zone, accept=model.ALL, refresh=model.ALL))
    holds()
    assert {day: list(part.rows) for day, part in machine.model.parts.items()} == {
        day: machine.codes.of_day(day) for day in DAYS
    }
    machine.runs(Order(tuple(DAYS), zone, on_doubt="error"))
    assert machine.service.requests == []
    machine.teardown()
