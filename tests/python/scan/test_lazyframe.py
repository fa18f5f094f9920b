"""Lazy queries of polars: they return what they would return for all rows, and request what they need."""
# ruff: noqa: DTZ001, DTZ901, SIM300 - columns have no zone; conditions are as users write them

from __future__ import annotations

import operator
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any
from unittest.mock import Mock
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.raw_server import Close, closing, serving, silent
from support.streams import (
    CLOSING,
    HEAD,
    OPENING,
    client_of,
    endless,
    gone,
    in_parts,
    records,
    response_of,
    scan_of,
    whole,
)

import dataaccess as da
from dataaccess._scan import lazy

STATUS, TIME, WHO = pl.col("code_status"), pl.col("allocated_time"), pl.col("allocated_audience")
DAY = TIME.dt.date()
ENGINES: list[Any] = ["in-memory", "streaming"]
TYPES = {"n": "int64", "text": "string"}


def bodies(sandbox: da.Sandbox, query: pl.LazyFrame) -> list[dict[str, Any]]:
    sandbox.clear_requests()
    query.collect()
    return [request.body for request in sandbox.requests]


def conditions_of(body: dict[str, Any]) -> dict[str, Any]:
    """The values of a request by column, and its operator for times."""
    (group,) = body["filters"]["OR"]
    values = {each["column"]: each["value"] for each in group["AND"] if each["data_type"] != "datetime"}
    return values | {each["operator"]: each["value"] for each in group["AND"] if each["data_type"] == "datetime"}


def millis(text: str) -> int:
    return int(datetime.fromisoformat(f"{text}+00:00").timestamp() * 1000)


def codes(sandbox: da.Sandbox, **options: Any) -> pl.LazyFrame:
    options.setdefault("allocated_time", da.since("2024-01-01"))
    return sandbox.client().scan_codes(**options).to_lazyframe()


# The engine of polars is the oracle.

FIRST, STOP = datetime(2024, 1, 8), datetime(2024, 1, 18)
SERVICES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "exclusive": ({}, {}),
    "inclusive, in another zone": ({"day_comparison": "inclusive", "day_zone": "Pacific/Auckland"}, {}),
    "days of UTC": ({}, {"timezone": "UTC"}),
    "days of a zone": ({"day_zone": "Asia/Ho_Chi_Minh"}, {"timezone": "Asia/Ho_Chi_Minh"}),
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


PLANS: dict[str, dict[str, Any]] = {
    "days": {"allocated_time": da.days(FIRST.date(), STOP.date())},
    "day": {"allocated_time": da.on("2024-01-15")},
    "since": {"allocated_time": da.since("2024-01-08"), "code_status": ["sent", "used"]},
    "before": {"allocated_time": da.before("2024-01-18"), "decode_status": True},
    "limited": {"allocated_time": da.days("2024-01-14", "2024-01-17"), "limit": 100},
}
times = st.datetimes(FIRST - timedelta(days=3), STOP + timedelta(days=3)).map(lambda time: time.replace(microsecond=0))
ends = st.sampled_from([datetime.min, datetime.max, date.min, date.max])
moments = times | times.map(lambda time: time.replace(hour=0, minute=0, second=0)) | times.map(datetime.date)
compare: st.SearchStrategy[Callable[[Any, Any], Any]] = st.sampled_from(
    [
        *[operator.eq, operator.ne, operator.lt, operator.le, operator.gt, pl.Expr.eq_missing],
        lambda column, value: pl.lit(value) <= column,
    ]
)


def conditions(zone: str | None) -> st.SearchStrategy[pl.Expr]:
    """Conditions as users write them, on times of a zone."""
    instants = moments | ends
    if zone is not None:
        instants = moments.map(lambda at: at.replace(tzinfo=ZoneInfo(zone)) if isinstance(at, datetime) else at)
    days = (moments | ends).map(lambda time: time.date() if isinstance(time, datetime) else time)
    several = st.lists(days, min_size=1, max_size=3)
    closed = st.sampled_from(["both", "left", "right", "none"])
    one = st.one_of(
        st.builds(lambda how, value: how(TIME, value), compare, instants),
        st.builds(lambda how, value: how(DAY, value), compare, days),
        st.builds(DAY.is_in, several | several.map(lambda each: [*each, None])),
        st.builds(lambda least, most, closed: TIME.is_between(least, most, closed=closed), instants, instants, closed),
        st.sampled_from([pl.col("pool_id") == 901, TIME.is_null(), WHO.is_not_null(), WHO.str.ends_with("1")]),
    )
    return one | st.builds(lambda left, right: left | right, one, one) | one.map(lambda condition: ~condition)


columns = st.lists(st.sampled_from(["id", "pool_id", "code_status", "allocated_time"]), min_size=1, unique=True)


# Other warnings are errors: no scan of these tests gives a reason for one.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::dataaccess.StrayDayWarning")
def test_a_query_returns_what_it_returns_for_all_rows(client: da.Client) -> None:
    scans = {name: client.scan_codes(**options) for name, options in PLANS.items()}
    zone = scans["days"].to_polars().schema["allocated_time"].time_zone  # type: ignore[attr-defined] # of a Datetime
    frames = {name: scan.to_polars() for name, scan in scans.items()}

    @settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
    @given(st.data())
    def check(data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(list(PLANS)))
        parts = data.draw(st.lists(conditions(zone), min_size=1, max_size=3))
        selected, first = data.draw(columns), data.draw(st.sampled_from([None, 0, 1, 7, 10_000]))
        cut_first = data.draw(st.booleans())

        def query(rows: pl.LazyFrame) -> pl.LazyFrame:
            rows = rows.head(first) if cut_first and first is not None else rows
            rows = rows.filter(*parts).select(selected)
            return rows if cut_first or first is None else rows.head(first)

        expected = query(frames[name].lazy()).collect()
        found = query(scans[name].to_lazyframe()).collect(engine=data.draw(st.sampled_from(ENGINES)))
        assert found.equals(expected)
        assert found.schema == expected.schema

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


def test_only_the_columns_of_a_query_are_requested(sandbox: da.Sandbox) -> None:
    (body,) = bodies(sandbox, codes(sandbox).filter(pl.col("pool_id") == 901).select("id"))
    assert body["attrs"] == ["id", "pool_id"]
    assert len(conditions_of(body)) == 1
    (body,) = bodies(sandbox, codes(sandbox).select(pl.len()))
    assert len(body["attrs"]) == 1


def test_the_first_rows_end_the_requests(sandbox: da.Sandbox) -> None:
    month = da.days("2024-01-01", "2024-02-01")
    assert len(bodies(sandbox, codes(sandbox, allocated_time=month).head(3))) == 1
    # polars filters after it has taken three rows.
    (body,) = bodies(sandbox, codes(sandbox, allocated_time=month).head(3).filter(STATUS == 4))
    assert list(conditions_of(body)) == ["equals"]


SINCE = {"after_date": millis("2023-12-31T23:59:59.999")}
# Filters of a search since a day that select no other days, and filters that do: the one request that is sent.
NOT_PUSHED = [
    *[STATUS == 4, WHO == "demo-customer-0001", (TIME >= datetime(2024, 2, 1, 12)) | (pl.col("pool_id") == 901)],
    *[TIME < datetime(2024, 2, 1), TIME >= datetime.min, DAY >= date.min, DAY <= date.max],
]
LATER = (STATUS == 4) & (TIME >= datetime(2024, 2, 1, 12))
PUSHED: list[tuple[Any, pl.Expr, dict[str, Any]]] = [
    *[(da.since("2024-01-01"), condition, SINCE) for condition in NOT_PUSHED],
    (da.since("2024-01-01"), LATER, {"after_date": millis("2024-01-30T12:00:00")}),
    (da.since("2024-01-01"), DAY > date(2024, 2, 1), {"after_date": millis("2024-01-31T00:00:00")}),
    (da.before("2024-03-01"), TIME <= datetime(2024, 1, 31), {"before_date": millis("2024-02-02T00:00:00")}),
    # The check of integers of the user refuses instants of the years before 1973.
    (da.before("1972-03-01"), TIME <= datetime(1972, 1, 31), {"before_date": millis("1972-02-02T00:00:00")}),
    (da.since("1970-06-01"), TIME >= datetime(1971, 1, 31), {"after_date": millis("1971-01-29T00:00:00")}),
]


@pytest.mark.parametrize(("search", "condition", "expected"), PUSHED)
def test_a_condition_of_one_request(sandbox: da.Sandbox, search: Any, condition: pl.Expr, expected: Any) -> None:
    (body,) = bodies(sandbox, codes(sandbox, allocated_time=search).filter(condition))
    assert conditions_of(body) == expected


def hour(number: int, zone: str, day: int = 15) -> pl.Expr:
    return pl.lit(datetime(2024, 1, day, number, tzinfo=ZoneInfo(zone))).dt.convert_time_zone(zone)


@pytest.mark.filterwarnings("ignore::dataaccess.StrayDayWarning")
@pytest.mark.parametrize("zone", ["UTC", "Asia/Ho_Chi_Minh", "America/Los_Angeles"])
def test_a_day_of_a_client_with_a_zone_requests_that_day(sandbox: da.Sandbox, zone: str) -> None:
    scan = sandbox.client(timezone=zone).scan_codes(allocated_time=da.days("2024-01-01", "2024-04-01"))
    lazy = scan.to_lazyframe()
    whole = [conditions_of(request["body"])["equals"] for request in scan.requests()]
    cases: list[tuple[pl.Expr, list[int]]] = [
        (DAY.is_in([date(2024, 1, 15), date(2024, 1, 17)]), [14, 15, 16]),
        (DAY.is_between(date(2024, 1, 15), date(2024, 1, 16)), [14, 15]),
        ((DAY > date(2024, 1, 14)) & (DAY < date(2024, 1, 17)), [14, 15]),
        # The next midnight is of the next day.
        ((hour(0, zone) <= TIME) & (hour(0, zone, 16) > TIME), [14]),
        ((hour(0, zone) <= TIME) & (hour(0, zone, 16) >= TIME), [14, 15]),
        ((hour(3, zone) < TIME) & (DAY == date(2024, 1, 15)), [14]),
        (DAY == date(2023, 12, 31), []),
    ]
    for condition, found in cases:
        requested = sorted(conditions_of(body)["equals"] for body in bodies(sandbox, lazy.filter(condition)))
        assert requested == [whole[number] for number in found], condition
    # polars compares with midnight in UTC, which is in the day before there.
    of_date = sorted(conditions_of(body)["equals"] for body in bodies(sandbox, lazy.filter(TIME <= date(2024, 1, 15))))
    assert of_date == whole[: 14 if zone == "America/Los_Angeles" else 15]
    elsewhere = scan.to_lazyframe(tz="Asia/Tokyo").filter(DAY == date(2024, 1, 15))
    assert len(bodies(sandbox, elsewhere)) > 1, "another zone than that of the days is not exact"


def test_a_contradiction_requests_nothing(sandbox: da.Sandbox) -> None:
    frame = codes(sandbox, allocated_time=da.days("2024-01-01", "2024-01-08"), code_status="sent")
    for condition in [TIME > datetime(2024, 6, 1), (STATUS == 3) & (TIME < datetime(2023, 6, 1))]:
        assert bodies(sandbox, frame.filter(condition)) == []
        assert frame.filter(condition).collect().schema == frame.collect_schema()


def test_inferred_types_are_requested_once() -> None:
    with da.Sandbox() as own:
        own.declare("store", 7, {"city": "string", "size": "number"})
        own.load("store", [{"city": "Hue", "size": 1}, {"city": "Lyon", "size": 2}])
        scan = own.client().scan_items("store", ["city", "size"], item_type_id=7)
        frame = scan.to_lazyframe()
        assert len(bodies(own, frame)) == 2
        assert len(bodies(own, frame.select("size"))) == 1
        assert frame.collect().equals(scan.to_polars())
        nobody = own.client().scan_items("store", ["city"], da.col("city").equals("nowhere"), item_type_id=7)
        assert nobody.to_lazyframe().collect().equals(nobody.to_polars())


@pytest.mark.parametrize("engine", ENGINES)
def test_errors_keep_their_class(sandbox: da.Sandbox, engine: Any) -> None:
    client = sandbox.client(scopes=["download"])
    with pytest.raises(da.PermissionDeniedError, match=r"\bitem\b"):
        client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_lazyframe().collect(engine=engine)
    # polars reports what fails while it asks for inferred types.
    with pytest.raises(pl.exceptions.ComputeError, match="PermissionDeniedError: scan_items"):
        client.scan_items("customer", ["city"]).to_lazyframe().collect(engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_truncated_response_is_no_result(engine: Any) -> None:
    with serving(closing(HEAD + OPENING + records(0, 100_000))) as server:
        frame = scan_of(client_of(server), schema=TYPES).to_lazyframe()
        with pytest.raises(da.StreamInterruptedError, check=lambda error: error.rows_yielded == 65536):
            frame.collect(engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_filter_that_finds_nothing_is_no_doubt(engine: Any) -> None:
    sent = [{"id": str(day), "code_status": 3, "allocated_time": f"2024-01-0{day} 12:00:00"} for day in (1, 9)]
    with da.Sandbox() as sandbox:
        sandbox.load("promotion_code", sent)
        client = sandbox.client(timezone="UTC")
        frame = client.scan_codes(allocated_time=da.days("2024-01-01", "2024-01-10")).to_lazyframe()
        # Warnings are errors here.
        between = TIME.dt.date().is_between(date(2024, 1, 3), date(2024, 1, 5))
        assert frame.filter(between).collect(engine=engine).height == 0
        with pytest.warns(da.EmptyResultWarning):
            client.scan_codes(allocated_time=da.days("2024-01-03", "2024-01-06")).to_polars()


def test_an_attribute_that_only_other_rows_have_is_no_doubt() -> None:
    row = {"id": "a", "allocated_time": "2024-01-15 10:00:00"}
    with serving(lambda connection, _number: connection.sendall(response_of([row]))) as server:
        scan = partial(client_of(server, timezone="UTC").scan_codes, ["id", "allocated_time", "last_used_source"])
        week = scan(allocated_time=da.days("2024-01-12", "2024-01-19")).to_lazyframe()
        assert week.filter(DAY == date(2024, 1, 15)).collect().height == 1
        day = scan(allocated_time=da.days("2024-01-15", "2024-01-16")).to_lazyframe()
        with pytest.warns(da.AbsentAttributeWarning, match="last_used_source"):
            day.filter(pl.col("id") == "a").collect()


RUNS: dict[str, Callable[[pl.LazyFrame], object]] = {
    "in-memory": lambda frame: frame.collect(engine="in-memory"),
    "streaming": lambda frame: frame.collect(engine="streaming"),
    "all": lambda frame: pl.collect_all([frame, frame.select("id")]),
    "sink": lambda frame: frame.sink_batches(lambda _frame: None),
    "background": lambda frame: list(frame.collect_batches()),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_warning_names_the_line_that_made_the_frame(name: str) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"maximum_rows": 50}) as sandbox:
        scan = sandbox.client().scan_codes(allocated_time=da.days("2024-01-15", "2024-01-22"))
        query = scan.to_lazyframe()
        with pytest.warns(da.IncompleteWarning) as caught:
            RUNS[name](query)
    made = Path(__file__).read_text().splitlines().index("        query = scan.to_lazyframe()") + 1
    assert {(warning.filename, warning.lineno) for warning in caught} == {(__file__, made)}


def test_batches_are_computed_with_as_they_come(tmp_path: Path) -> None:
    arrived = Event()

    def waits(connection: Any, _number: int) -> None:
        connection.sendall(HEAD + OPENING + records(0, 65_537))
        # The rest comes only once polars has the first rows.
        assert arrived.wait(20)
        connection.sendall(b"," + records(65_537, 1_000) + CLOSING)
        raise Close

    sizes: list[int] = []

    def take(frame: pl.DataFrame) -> None:
        sizes.append(frame.height)
        arrived.set()

    with serving(waits) as server:
        frame = scan_of(client_of(server), schema=TYPES).to_lazyframe()
        frame.filter(pl.col("n") >= 0).sink_batches(take, chunk_size=10_000)
        assert sum(sizes) == 66_537
        arrived.set()
        frame.sink_parquet(tmp_path / "rows.parquet")
    assert pl.read_parquet(tmp_path / "rows.parquet")["n"].to_list() == list(range(66_537))


def has_enough(frame: pl.LazyFrame) -> None:
    found = frame.filter(pl.col("n") > 5).head(2).collect(engine="streaming")
    assert found["n"].to_list() == [6, 7]


def fails(frame: pl.LazyFrame) -> None:
    with pytest.raises(ZeroDivisionError):
        frame.sink_batches(Mock(side_effect=ZeroDivisionError), chunk_size=1_000)


def reads_one_batch(frame: pl.LazyFrame) -> None:
    assert next(frame.collect_batches(chunk_size=65_536)).height > 0


@pytest.mark.parametrize("use", [has_enough, fails, reads_one_batch])
def test_a_query_that_ends_early_ends_its_requests(use: Callable[[pl.LazyFrame], None]) -> None:
    with serving(endless(400_000)) as server:
        use(scan_of(client_of(server), schema=TYPES).to_lazyframe())
        assert gone(server)


def test_a_query_that_rests_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy, "_RELEASE", 0.05)
    sizes: list[int] = []

    def slow(frame: pl.DataFrame) -> None:
        sizes.append(frame.height)
        if len(sizes) == 1:
            time.sleep(0.2)

    with serving(in_parts(whole(400_000))) as server:
        scan_of(client_of(server), schema=TYPES).to_lazyframe().sink_batches(slow, chunk_size=10_000)
    assert sum(sizes) == 400_000


EARLY = """
import sys, time
import dataaccess as da
import polars as pl

scan = da.Client(sys.argv[1], token="tok").scan_codes(["id"], allocated_time=da.on("2024-01-15"))
frame = scan.to_lazyframe()
assert frame.filter(pl.col("id") != "").head(1).collect(engine="streaming").height == 1
print(time.time())
"""


def test_a_program_ends_at_once_after_a_query_that_had_enough() -> None:
    many = HEAD + OPENING + b",".join(b'{"id": "%d"}' % number for number in range(200_000))
    with serving(silent(many)) as server:
        command = [sys.executable, "-c", EARLY, server.base_url]
        run = subprocess.run(command, capture_output=True, check=True, timeout=50)
        assert time.time() - float(run.stdout) < 5
