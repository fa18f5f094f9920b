"""Lazy queries of polars return what they would return for all rows."""
# ruff: noqa: DTZ001, DTZ901, SIM300 - columns have no zone; conditions are as users write them

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.lazyframes import ENGINES, STATUS, TIME, WHO

import dataaccess as da

FIRST, STOP = datetime(2024, 1, 8), datetime(2024, 1, 18)


# A zone whose days a client with that zone knows.
ZONE = "Asia/Ho_Chi_Minh"
SERVICES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "exclusive": ({}, {}),
    "inclusive, in another zone": ({"day_comparison": "inclusive", "day_zone": "Pacific/Auckland"}, {}),
    "days of UTC": ({}, {"timezone": "UTC"}),
    "days of a zone": ({"day_zone": ZONE}, {"timezone": ZONE}),
}


@pytest.fixture(scope="module", params=SERVICES)
def client(request: pytest.FixtureRequest) -> Iterator[da.Client]:
    """A client that knows how its service compares days, and in which zone, and one that does not."""
    switches, options = SERVICES[request.param]
    with (
        da.Sandbox.demo(until="2024-02-29", switches=switches) as sandbox,
        sandbox.client(**options) as client,
    ):
        yield client


def plans(client: da.Client) -> dict[str, da.Scan]:
    """Scans whose requests have every kind of condition."""
    people = [f"demo-customer-{number:04d}" for number in range(1, 400)]
    return {
        "days": client.scan_codes(allocated_time=da.days(FIRST.date(), STOP.date())),
        "day": client.scan_codes(allocated_time=da.on("2024-01-15")),
        "since": client.scan_codes(allocated_time=da.since("2024-01-08"), code_status=["sent", "used"]),
        "before": client.scan_codes(allocated_time=da.before("2024-01-18"), decode_status=True),
        "people": client.scan_codes(allocated_time=da.since("2024-01-08"), allocated_audience=people),
        "days of people": client.scan_codes(
            allocated_time=da.days("2024-01-14", "2024-01-17"), allocated_audience=people
        ),
        "limited": client.scan_codes(allocated_time=da.days("2024-01-14", "2024-01-17"), limit=100),
        "types": client.scan_codes(
            allocated_time=da.on("2024-01-15"), schema={"code_status": "string", "allocated_audience": "json"}
        ),
    }


times = st.datetimes(FIRST - timedelta(days=3), STOP + timedelta(days=3)).map(lambda time: time.replace(microsecond=0))
ends = st.sampled_from([datetime.min, datetime.max, date.min, date.max])
moments = times | times.map(lambda time: time.replace(hour=0, minute=0, second=0)) | times.map(datetime.date)
people = st.sampled_from([f"demo-customer-{number:04d}" for number in (1, 2, 7, 50, 300, 1900)] + ["", "nobody"])
statuses = st.sampled_from([1, 3, 4, 7])
COMPARE: list[Callable[[pl.Expr, Any], pl.Expr]] = [
    lambda column, value: column == value,
    lambda column, value: column != value,
    lambda column, value: column < value,
    lambda column, value: column <= value,
    lambda column, value: column > value,
    lambda column, value: pl.lit(value) <= column,
    lambda column, value: column.eq_missing(value),
]
compare = st.sampled_from(COMPARE)


def lists(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Lists for `is_in`, some with a null."""
    some = st.lists(values, min_size=1, max_size=3)
    return some | some.map(lambda each: [*each, None])


def moments_of(zone: str | None) -> st.SearchStrategy[Any]:
    """Times and days, as polars compares them with times of a zone."""
    if zone is None:
        return moments | ends
    return moments.map(lambda time: time.replace(tzinfo=ZoneInfo(zone)) if isinstance(time, datetime) else time)


def conditions(scan: str, zone: str | None) -> st.SearchStrategy[pl.Expr]:
    """Conditions on the columns of a scan, as users write them."""
    moments = moments_of(zone)
    status: st.SearchStrategy[Any] = statuses
    if scan == "before":
        status = st.sampled_from(["available", "sent", "used", "7"])
    elif scan == "types":
        status = statuses.map(str)
    kinds = status.map(lambda value: "customer" if isinstance(value, str) else -1003)
    kinds = kinds if scan != "types" else st.sampled_from([-1003, -1007, 5])
    days = moments_of(None).map(lambda time: time.date() if isinstance(time, datetime) else time)
    choices = [
        st.builds(lambda how, value: how(STATUS, value), compare, status),
        st.builds(lambda values, nulls: STATUS.is_in(values, nulls_equal=nulls), lists(status), st.booleans()),
        st.builds(lambda value: pl.col("audience_type") == value, kinds),
        st.builds(lambda how, value: how(WHO, value), compare, people),
        st.builds(WHO.is_in, lists(people)),
        st.builds(lambda how, value: how(TIME, value), compare, moments),
        st.builds(lambda how, value: how(TIME.dt.date(), value), compare, days),
        st.builds(lambda values: TIME.dt.date().is_in(values), lists(days)),
        st.builds(
            lambda one, other, closed: TIME.is_between(one, other, closed=closed),
            moments,
            moments,
            st.sampled_from(["both", "left", "right", "none"]),
        ),
        st.sampled_from([pl.col("pool_id") == 901, TIME.is_null(), WHO.is_not_null(), WHO.str.ends_with("1")]),
    ]
    one = st.one_of(choices)
    return one | st.builds(lambda left, right: left | right, one, one) | one.map(lambda condition: ~condition)


PLANS = ["days", "day", "since", "before", "people", "days of people", "limited", "types"]
columns = st.lists(st.sampled_from(["id", "pool_id", "code_status", "allocated_time"]), min_size=1, unique=True)


@contextmanager
def strict() -> Iterator[None]:
    """Warnings that a filter could cause are errors: no scan of these tests gives a reason for one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DataAccessWarning)
        warnings.simplefilter("error", da.EmptyResultWarning)
        warnings.simplefilter("error", da.AbsentAttributeWarning)
        warnings.simplefilter("error", da.IncompleteWarning)
        yield


@pytest.mark.slow
def test_a_query_returns_what_it_returns_for_all_rows(client: da.Client) -> None:
    with strict():
        scans = plans(client)
        zone = scans["days"].to_polars().schema["allocated_time"].time_zone  # type: ignore[attr-defined] # of a Datetime
        frames = {name: scan.to_polars() for name, scan in scans.items()}

        @settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
        @given(st.data())
        def check(data: st.DataObject) -> None:
            name = data.draw(st.sampled_from(PLANS))
            parts = data.draw(st.lists(conditions(name, zone), min_size=1, max_size=3))
            selected, first = data.draw(columns), data.draw(st.sampled_from([None, 0, 1, 7, 10_000]))
            cut_first = data.draw(st.booleans())

            def query(rows: pl.LazyFrame) -> pl.LazyFrame:
                rows = rows.head(first) if cut_first and first is not None else rows
                rows = rows.filter(*parts).select(selected)
                return rows if cut_first or first is None else rows.head(first)

            engine = data.draw(st.sampled_from(ENGINES))
            try:
                expected = query(frames[name].lazy()).collect()
            except pl.exceptions.PolarsError:
                # An Enum is not compared with other names.
                with pytest.raises(pl.exceptions.PolarsError):
                    query(scans[name].to_lazyframe()).collect(engine=engine)
                return
            found = query(scans[name].to_lazyframe()).collect(engine=engine)
            assert found.equals(expected)
            assert found.schema == expected.schema

        check()


@pytest.mark.slow
def test_a_query_of_customers_returns_what_it_returns_for_all_rows(sandbox: da.Sandbox) -> None:
    client = sandbox.client()
    is_customer = {number: da.col("customer_id").equals(f"demo-customer-{number:04d}") for number in (1, 7)}
    types: da.types.Schema = {"customer_id": "string", "name": "string"}
    wheres = [None, is_customer[1], is_customer[1] | is_customer[7]]
    scans = [client.scan_items("customer", list(types), where, schema=types) for where in wheres]
    frames = [scan.to_polars() for scan in scans]
    ids = pl.col("customer_id")

    @settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
    @given(st.integers(0, len(scans) - 1), lists(people), people, st.sampled_from(ENGINES))
    def check(number: int, some: list[Any], one: str, engine: Any) -> None:
        for condition in (ids.is_in(some), ids == one, (ids == one) | ids.is_in(some), ~ids.is_in(some)):
            found = scans[number].to_lazyframe().filter(condition).collect(engine=engine)
            assert found.equals(frames[number].filter(condition))

    with strict():
        check()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::dataaccess.StrayDayWarning")
@pytest.mark.parametrize("comparison", ["exclusive", "inclusive"])
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_no_row_is_lost_where_the_service_cuts_days_in_another_zone(zone: str, comparison: str) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"day_comparison": comparison, "day_zone": zone}) as sandbox:
        client = sandbox.client()
        for when in (da.days("2024-01-08", "2024-01-18"), da.since("2024-01-08"), da.before("2024-01-18")):
            scan = client.scan_codes(["id", "allocated_time"], allocated_time=when)
            frame = scan.to_polars()
            for hours in (0, 1, 9, 10, 12, 13, 14, 23):
                time = datetime(2024, 1, 13) + timedelta(hours=hours)
                for condition in (TIME >= time, TIME <= time):
                    found = scan.to_lazyframe().filter(condition).collect()
                    assert found.equals(frame.filter(condition))
