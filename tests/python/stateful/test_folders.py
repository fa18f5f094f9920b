"""Runs into a folder in any order of nights, changes, faults, stops and damage: the folder is what the model says.

After each step each file has the bytes that the last run that was to write it wrote. So rows are as they were when they
were requested, a kept day is unchanged, and nothing is lost or replaced without an error or a doubt that names the day.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from itertools import chain
from typing import Any

import polars as pl
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule
from support import folder_model as model
from support import kinds
from support.changing_codes import ATTRS, DAYS, MOST, as_row
from support.folder_machine import FolderMachine, Stopped, wait_until_unlocked
from support.folder_model import Order
from support.machines import run_machine
from support.runs import damaged, doubtful
from support.service_machine import days, pairs, some_days, zones

import dataaccess as da

Draw = st.DataObject
named = st.one_of(
    st.none(),
    st.just(model.ALL),
    days.map(lambda day: model.days(day, day)),
    st.tuples(pairs, st.booleans()).map(lambda both: model.days(*both[0], is_text=both[1])),
)


def orders(zone: Any) -> st.SearchStrategy[Order]:
    """The arguments of a run."""
    return st.builds(
        Order,
        days=some_days,
        zone=st.just(zone),
        refresh=named,
        accept=named,
        settle=st.sampled_from([1, 0, 6, 30, 72]),
        on_doubt=st.sampled_from(["warn", "warn", "error", "rows"]),
    )


class Folders(FolderMachine):
    """The rules."""

    @initialize(zone=zones, counts=st.lists(st.integers(0, MOST), max_size=3))
    def begins(self, zone: str | None, counts: list[int]) -> None:
        self.begin(zone, counts)

    # Runs.

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
        self.check_requests(Counter(requested))
        parts = self.model.readable(order)
        doubtful = any(part.doubt != "none" for part in parts.values())
        is_empty = (
            len(order.days) > 1 and len(parts) == len(order.days) and not any(part.rows for part in parts.values())
        )
        if failed:
            assert isinstance(error, da.ScanIncompleteError)
            assert {name[:10] for name in error.failed} == {str(day) for day in failed}
            assert all(isinstance(one, failed[date.fromisoformat(name[:10])]) for name, one in error.failed.items())
        elif order.on_doubt == "error" and (doubtful or is_empty):
            assert isinstance(error, da.DoubtfulDataError)
        else:
            assert error is None, repr(error)
            assert self.warned == {
                *([da.ShrunkWarning] if doubtful else []),
                *([da.EmptyResultWarning] if is_empty else []),
            }
        assert report is not None
        self.check_report(order, before, parts, report, replaced)

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
        wait_until_unlocked(self.folder)
        replaced = self.adopt(expected, is_complete=not is_stopped)
        doubtful = {day for day in expected if day in self.model.parts and self.model.parts[day].doubt == "kept"}
        # What was reported as done is done.
        assert len(kept | replaced | doubtful) >= calls[-1].done

    @rule(data=st.data(), refresh=st.sampled_from([None, model.ALL]))
    def two_runs_at_once(self, data: Draw, refresh: model.Refresh | None) -> None:
        """The second one does what is left to do, or finds the folder locked."""
        order = replace(data.draw(orders(self.codes.zone)), refresh=refresh, accept=None)
        if self.faults.redirected or self.tokens.is_stuck:
            return
        expected = self.expected(order)
        locked = [error for _, error in self.at_once(order) if isinstance(error, da.FolderLockedError)]
        assert len(locked) < 2
        if not locked:
            self.model.parts |= {day: part for day, part in expected.items() if part is not None}
            expected |= self.expected(order)
        self.adopt(expected)

    # What a run refuses.

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
            self.scan(some, client, attrs).to_folder(self.folder, same_service=other == "same service")
        assert self.service.requests == []

    # The folder is damaged.

    @rule(
        day=days,
        damage=st.sampled_from(["gone", "footer", "rows"]),
        at=st.floats(0, 1, exclude_max=True),
        bit=st.integers(0, 7),
    )
    def a_file_is_damaged(self, day: date, damage: Any, at: float, bit: int) -> None:
        if day not in self.contents:
            return
        part, path, content = self.model.parts[day], self.path(day), self.contents[day]
        if damage == "gone":
            path.unlink()
            del self.model.parts[day], self.contents[day]
            return
        if part.damage != "none" or (damage == "rows" and not part.rows):
            return
        if damage == "footer":
            content = content[:-9]
        else:
            # Behind the data there is the footer, which a run reads.
            data = json.loads(pq.read_metadata(path).metadata[b"dataaccess.task"])["data_bytes"]
            place = 4 + int(at * (data - 4))
            content = content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]
        path.write_bytes(content)
        self.contents[day], self.model.parts[day] = content, replace(part, damage=damage)

    # Readers.

    @rule(some=some_days, missing=st.sampled_from(["raise", "ignore"]))
    def its_rows_are_read(self, some: tuple[date, ...], missing: Any) -> None:
        """All rows of the scan, or an error."""
        parts = [self.model.parts.get(day) for day in some]
        is_damaged = any(part is not None and part.damage != "none" for part in parts)
        is_missing = missing == "raise" and None in parts
        self.service.clear_requests()
        refusals: dict[type[BaseException], bool] = {
            da.FileError: not self.folder.exists(),
            da.ScanIncompleteError: is_missing,
            kinds.Corrupt: is_damaged,
        }
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                rows = self.scan(some).read_folder(self.folder, missing=missing).to_pylist()
            except da.DataAccessError as error:
                refused = refusals.get(kinds.kind_of(error))
            else:
                refused = None
        if any(refusals.values()):
            assert refused
            return
        assert refused is None
        there = [part for part in parts if part is not None]
        assert list(map(as_row, rows)) == list(chain.from_iterable(part.rows for part in there))
        is_empty = len(some) > 1 and len(there) == len(some) and not rows
        assert {each.category for each in caught} == {
            *([da.ShrunkWarning] if any(part.doubt != "none" for part in there) else []),
            *([da.EmptyResultWarning] if is_empty else []),
        }
        assert self.service.requests == []

    @rule()
    def other_libraries_read_it(self) -> None:
        if not self.contents or any(part.damage != "none" for part in self.model.parts.values()):
            return
        rows = {(str(day), row) for day, part in self.model.parts.items() for row in part.rows}
        found = ds.dataset(self.folder, partitioning="hive").to_table().to_pylist()
        assert len(found) == len(rows)
        assert {(row["day"], as_row(row)) for row in found} == rows
        frame = pl.read_parquet(f"{self.folder}/**/*.parquet", hive_partitioning=True)
        assert {(str(row["day"]), as_row(row)) for row in frame.to_dicts()} == rows

    @rule(settle=st.sampled_from([1, 0, 30]))
    def its_status_is_read(self, settle: int) -> None:
        if not self.folder.exists():
            return
        order, parts = Order((), self.codes.zone, settle=settle), sorted(self.model.parts.items())
        status = da.folder_status(self.folder, settle=timedelta(hours=settle))
        assert status.days == [str(day) for day, _ in parts]
        readable = [(str(day), day, part) for day, part in parts if part.is_readable]
        assert [part.day for part in damaged(status)] == [str(day) for day, part in parts if not part.is_readable]
        assert [part.day for part in doubtful(status)] == [name for name, _, part in readable if part.doubt != "none"]
        assert status.open_days == [name for name, day, part in readable if not order.is_over(day, part)]
        assert status.rows == sum(len(part.rows) for _, _, part in readable)
        between = [day for day in DAYS if parts and parts[0][0] <= day <= parts[-1][0]]
        assert status.missing_days == [str(day) for day in between if day not in self.model.parts]

    # What holds after each step.

    @invariant()
    def each_file_is_as_its_last_run_left_it(self) -> None:
        found = {path.parent.name: path.read_bytes() for path in self.folder.glob("day=*/*")}
        assert found == {f"day={day}": content for day, content in self.contents.items()}

    @invariant()
    def no_file_has_a_token(self) -> None:
        files = [path.read_bytes() for path in self.folder.rglob("*") if path.is_file()]
        assert not any(token.encode() in content for token in self.tokens.issued for content in files)


@pytest.mark.slow
@pytest.mark.hypothesis
@pytest.mark.timeout(3600)
@pytest.mark.skipif(sys.platform == "win32", reason="reads locks and modes of POSIX")
def test_a_folder_is_what_its_runs_must_have_made_of_it(
    tmp_path_factory: pytest.TempPathFactory, time_scale: Any
) -> None:
    time_scale(20)
    run_machine(lambda: Folders(tmp_path_factory.mktemp("run") / "codes"), steps=25)
