"""Searches and scans in any order of changes and faults: each result is the rows of the model, or an error that fits.

A second client has another zone than the service: what it requests are the days of the service that its midnights lie
in, and a result with rows of another day than its own says so.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule
from support import kinds
from support.environment import in_parts
from support.folder_model import Row
from support.service_machine import ATTRS, ServiceMachine, as_row, assert_hidden, days, run_machine, some_days, zones

import dataaccess as da

statuses = st.none() | st.sampled_from([[3], [4], [3, 4], [1]])
numbers = st.integers(0, 5)


def in_batches(scan: da.Scan) -> Iterator[dict[str, Any]]:
    with scan.batches(max_rows=2) as batches:
        for batch in batches:
            yield from batch.to_polars().to_dicts()


# How the rows of a scan are taken.
USES: dict[str, Callable[[da.Scan], Any]] = {
    "to_dicts": lambda scan: scan.to_dicts(),
    "to_pylist": lambda scan: scan.collect().to_pylist(),
    "to_arrow": lambda scan: scan.to_arrow().to_pylist(),
    "to_polars": lambda scan: scan.to_polars().to_dicts(),
    "to_lazyframe": lambda scan: scan.to_lazyframe().collect().to_dicts(),
    "iter_rows": lambda scan: scan.iter_rows(),
    "batches": in_batches,
    "tasks": lambda scan: [row for task in scan.tasks() for row in task.to_dicts()],
}
# These give rows before all have arrived.
STREAMS = ("iter_rows", "batches")


class Searches(ServiceMachine):
    @initialize(zone=zones, other=st.sampled_from(["UTC", "Asia/Tokyo", "Asia/Kathmandu"]), counts=st.lists(numbers))
    def begins(self, zone: str | None, other: str, counts: list[int]) -> None:
        self.begin(zone, counts)
        self.other_zone, self.other = ZoneInfo(other), self.connect({"timezone": other})
        self.stores: dict[str, int | None] = {}
        self.service.declare("store", 7, {"store_id": "string", "area": "int64"})

    @rule(some=some_days, chosen=statuses)
    def a_search(self, some: tuple[date, ...], chosen: Any) -> None:
        stop = some[-1] + timedelta(days=1)
        when = da.on(some[0]) if len(some) == 1 else da.days(some[0], stop)
        self.calls(some, chosen, lambda: self.client.search_codes(ATTRS, allocated_time=when, code_status=chosen))

    @rule(some=some_days, chosen=statuses, use=st.sampled_from(list(USES)))
    def a_scan(self, some: tuple[date, ...], chosen: Any, use: str) -> None:
        when = da.days(some[0], some[-1] + timedelta(days=1))
        scan = self.client.scan_codes(ATTRS, allocated_time=when, code_status=chosen)
        self.calls(some, chosen, lambda: USES[use](scan), use)
        assert_hidden(self.tokens.issued, scan, scan.explain(), scan.requests(), self.client, self.client.settings)

    def calls(self, some: tuple[date, ...], chosen: Any, call: Callable[[], Any], use: str = "") -> None:
        """A call for some days, a request a day, compared with the model."""
        if self.tokens.is_stuck and self.faults.are_of_days:
            # A fault of a day may come before the token is checked.
            return
        expected = [self.rows(day, chosen) for day in some]
        # Unlike a run, a search takes a response without `data` for no records.
        failing = [day for day in some if not self.faults.is_without_data(day)]
        expected_errors = [kind for day in failing if (kind := self.faults.fails(day)) is not None]
        expected_errors += [kinds.Redirect] if self.faults.redirected in some else []
        expected_errors += [da.PermissionDeniedError] if self.tokens.is_stuck else []
        self.begin_call()
        found: list[Row] = []
        error: BaseException | None = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found.extend(map(as_row, call()))
            except da.DataAccessError as raised:
                error = raised
        assert_hidden(self.tokens.issued, error, *(each.message for each in caught))
        rows = [row for of_day in expected for row in of_day]
        if error is not None:
            cause = error.__cause__ if isinstance(error, da.StreamInterruptedError) else error
            assert isinstance(cause, tuple(expected_errors)), repr(error)
            assert use in STREAMS or not found
            assert found == rows[: len(found)]
            if isinstance(error, da.StreamInterruptedError):
                # What takes all rows first has given none of them.
                delivered = error.rows_yielded or 0
                assert delivered == len(found) if use in STREAMS else delivered <= len(rows)
            return
        assert not expected_errors, expected_errors
        assert found == rows
        self.check_requests(Counter(some))
        lacks_data = any(map(self.faults.is_without_data, some))
        doubts = {da.IncompleteWarning} if lacks_data else set() if rows else {da.EmptyResultWarning}
        assert {each.category for each in caught} <= doubts

    def rows(self, day: date, chosen: list[int] | None) -> list[Row]:
        rows = [row for row in self.codes.of_day(day) if chosen is None or row[2] in chosen]
        return [] if self.faults.is_without_data(day) else self.faults.left(day, rows)

    @rule(some=some_days, use=st.sampled_from(["to_dicts", "batches", "search"]))
    def a_client_of_another_zone(self, some: tuple[date, ...], use: str) -> None:
        if self.tokens.is_stuck or self.faults.are_of_days:
            return
        begins = [datetime(day.year, day.month, day.day, tzinfo=self.other_zone) for day in some]
        asked = [begin.astimezone(self.codes.zone).date() for begin in begins]
        expected = [self.codes.of_day(day) for day in asked]
        when = da.days(some[0], some[-1] + timedelta(days=1))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if use == "search":
                rows: Any = self.other.search_codes(ATTRS, allocated_time=when)
            else:
                rows = USES[use](self.other.scan_codes(ATTRS, allocated_time=when))
            assert list(map(as_row, rows)) == [row for of_day in expected for row in of_day]
        strays = [
            row
            for day, of_day in zip(some, expected, strict=True)
            for row in of_day
            if row[1].astimezone(self.other_zone).date() != day
        ]
        assert (da.StrayDayWarning in {each.category for each in caught}) == bool(strays)

    @rule(day=days, form=st.sampled_from(["after", "before", "since", "until"]), limit=st.none() | st.integers(1, 9))
    def a_range(self, day: date, form: str, limit: int | None) -> None:
        """One request for all its days."""
        if self.tokens.is_stuck or self.faults.are_of_days:
            return
        holds: dict[str, Callable[[date], bool]] = {
            "after": lambda other: other > day,
            "before": lambda other: other < day,
            "since": lambda other: other >= day,
            "until": lambda other: other <= day,
        }
        rows = sorted(
            row for row in self.codes.by_id.values() if holds[form](row[1].astimezone(self.codes.zone).date())
        )
        found = self.client.search_codes(ATTRS, allocated_time=getattr(da, form)(day), limit=limit)
        assert list(map(as_row, found)) == rows[:limit]

    @rule(number=numbers, area=st.none() | st.integers(0, 3))
    def a_store_opens(self, number: int, area: int | None) -> None:
        """Or changes."""
        self.stores[f"store-{number}"] = area
        self.service.load("store", [{"store_id": f"store-{number}", "area": area}], replace=True)

    @rule(
        wanted=st.lists(numbers, min_size=1, max_size=6),
        areas=st.none() | st.lists(st.integers(0, 3), min_size=1),
        is_both=st.booleans(),
        size=st.integers(1, 6),
    )
    def stores_are_searched(self, wanted: list[int], areas: list[int] | None, size: int, *, is_both: bool) -> None:
        """By a list that is split over requests, or by two conditions."""
        if self.tokens.is_stuck:
            return
        names = [f"store-{number}" for number in wanted]
        where: Any = da.col("store_id").matches(names)
        unique = list(dict.fromkeys(names))
        chunks = [unique[at : at + size] for at in range(0, len(unique), size)]
        holds: Callable[[str], bool] = lambda _name: True  # noqa: E731 - one of three
        if areas is not None:
            other = da.col("area").matches(areas)
            where = (where & other) if is_both else (where | other)
            holds = lambda name: self.stores[name] in areas  # noqa: E731
            chunks, size = [unique], 1_000
        expected = []
        for chunk in chunks:
            either = areas is not None and not is_both
            chosen = [n for n in self.stores if (n in chunk or holds(n) if either else n in chunk and holds(n))]
            expected += [{"store_id": name, "area": self.stores[name]} for name in sorted(chosen)]
        self.faults.clear_requests()
        scan = in_parts(size, self.client.scan_items, "store", ["store_id", "area"], where, item_type_id=7)
        assert scan.to_dicts() == expected
        assert len(self.service.requests) == len(chunks) + self.faults.again()


@pytest.mark.slow
@pytest.mark.hypothesis
@pytest.mark.timeout(3600)
@pytest.mark.filterwarnings("ignore::dataaccess.EmptyResultWarning")
def test_results_are_the_rows_of_the_service_or_errors(time_scale: Any) -> None:
    time_scale(20)
    run_machine(Searches, steps=25)
