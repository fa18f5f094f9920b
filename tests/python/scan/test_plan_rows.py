"""All requests of a scan together return each row of its days exactly once."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.parts import in_parts
from support.scan_plans import QUARTER, day_starts

import dataaccess as da

# The oracle: codes held here, and the days and lists that a scan is asked for, evaluated in Python.

AUDIENCE = [f"m-{number:02}" for number in range(12)]
STATUSES = [1, 3, 4]
FIRST = dt.date(2024, 3, 29)
LENGTH = 6


def stock(zone: str) -> list[dict[str, Any]]:
    """Codes at the borders of each day, for each member and status, and some that belong to nobody."""
    borders = list(day_starts(zone, FIRST - dt.timedelta(days=1), FIRST + dt.timedelta(days=LENGTH + 1)))
    moments = [border + step * QUARTER for border in borders for step in (-1, 0, 3)]
    held = product(moments, [None, *AUDIENCE])
    return [
        {
            "id": f"c-{number * 7919 % 10_007:05}",
            "name": f"code {number}",
            "pool_id": number,
            "allocated_time": f"{moment:%Y-%m-%d %H:%M:%S}",
            "allocated_audience": member,
            "audience_type": None if member is None else -1003,
            "code_status": STATUSES[number % 3],
        }
        for number, (moment, member) in enumerate(held)
    ]


def day_of(row: dict[str, Any], zone: str) -> dt.date:
    moment = dt.datetime.strptime(row["allocated_time"], "%Y-%m-%d %H:%M:%S").replace(tzinfo=dt.UTC)
    return moment.astimezone(ZoneInfo(zone)).date()


class Stock:
    """A service with the codes, and a client of it."""

    def __init__(self, zone: str) -> None:
        """Starts it."""
        self.zone = zone
        self.rows = sorted(stock(zone), key=lambda row: row["id"])
        self.service = da.Sandbox(switches={"day_zone": zone})
        self.service.load("promotion_code", self.rows)
        self.client = self.service.client(timezone=zone)

    def rows_of(self, day: dt.date, audience: list[str] | None, statuses: list[int] | None) -> list[dict[str, Any]]:
        """The rows of one request."""
        return [
            row
            for row in self.rows
            if day_of(row, self.zone) == day
            and (audience is None or row["allocated_audience"] in audience)
            and (statuses is None or row["code_status"] in statuses)
        ]


ZONES = ["UTC", "Europe/Berlin"]


@pytest.fixture(scope="module")
def stocks() -> Iterator[dict[str, Stock]]:
    """Codes around a change of clocks, in services that cut their days in different zones."""
    stocks = {zone: Stock(zone) for zone in ZONES}
    with ExitStack() as stack:
        for stock in stocks.values():
            stack.enter_context(stock.service)
        yield stocks


def parts(values: list[Any] | None, chunk: int) -> list[list[Any] | None]:
    if values is None:
        return [None]
    distinct = list(dict.fromkeys(values))
    return [distinct[start : start + chunk] for start in range(0, len(distinct), chunk)]


@pytest.mark.filterwarnings("ignore::dataaccess.IncompleteWarning")
@pytest.mark.slow
@given(
    zone=st.sampled_from(ZONES),
    start=st.integers(0, LENGTH - 1),
    length=st.integers(1, LENGTH),
    audience=st.none() | st.lists(st.sampled_from([*AUDIENCE, "nobody"]), min_size=1, max_size=20),
    statuses=st.none() | st.lists(st.sampled_from(STATUSES), min_size=1, max_size=4),
    values_per_request=st.integers(1, 15),
)
def test_a_scan_gives_each_row_of_its_days_once(
    stocks: dict[str, Stock],
    zone: str,
    start: int,
    length: int,
    audience: list[str] | None,
    statuses: list[int] | None,
    values_per_request: int,
) -> None:
    stocked = stocks[zone]
    attrs: list[str] = [
        "id",
        "name",
        "pool_id",
        "allocated_time",
        "allocated_audience",
        "audience_type",
        "code_status",
    ]
    days = [FIRST + dt.timedelta(days=day) for day in range(start, min(start + length, LENGTH))]
    stop = days[-1] + dt.timedelta(days=1)
    asked: dict[str, Any] = {"allocated_audience": audience, "code_status": statuses}
    scan = in_parts(
        values_per_request,
        stocked.client.scan_codes,
        attrs,
        allocated_time=da.days(days[0], stop),
        **asked,
    )
    requests = list(product(days, parts(audience, values_per_request), parts(statuses, values_per_request)))
    expected = [row for day, members, kinds in requests for row in stocked.rows_of(day, members, kinds)]
    assert len(scan.requests()) == len(requests)
    forms = [
        scan.to_dicts(),
        as_sent(scan.collect(tz=None).to_pylist()),
        as_sent([row for batch in scan.batches(tz=None) for row in batch.to_pylist()]),
    ]
    searched = [row for day in days for row in stocked.client.search_codes(attrs, allocated_time=da.on(day), **asked)]
    assert by_id(searched) == by_id(expected)
    for rows in forms:
        assert len({row["id"] for row in rows}) == len(rows), "a row came twice"
        assert rows == expected


def as_sent(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "allocated_time": str(row["allocated_time"])} for row in rows]


def by_id(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: str(row["id"]))
