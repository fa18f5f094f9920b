"""Lazy queries of polars: they return what they would return for all rows, and request what they need."""
# ruff: noqa: DTZ001, DTZ901, SIM300 - columns have no zone; conditions are as users write them

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.raw_server import Close, serving
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
    """The requests of a query."""
    sandbox.clear_requests()
    query.collect()
    return [request.body for request in sandbox.requests]


def conditions_of(body: dict[str, Any]) -> dict[str, Any]:
    """The values of a request by column, and its operator for times."""
    (group,) = body["filters"]["OR"]
    values = {each["column"]: each["value"] for each in group["AND"] if each["data_type"] != "datetime"}
    return values | {each["operator"]: each["value"] for each in group["AND"] if each["data_type"] == "datetime"}


def millis(text: str) -> int:
    """Unix milliseconds of a time in UTC."""
    return int(datetime.fromisoformat(f"{text}+00:00").timestamp() * 1000)


def codes(sandbox: da.Sandbox, **options: Any) -> pl.LazyFrame:
    """A lazy frame of the codes of a month."""
    options.setdefault("allocated_time", da.since("2024-01-01"))
    return sandbox.client().scan_codes(**options).to_lazyframe()


# The engine of polars is the oracle.

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


# What is pushed.


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
# The search, a filter of its lazy frame, and the conditions of the one request that is sent.
PUSHED: dict[str, tuple[Any, pl.Expr, dict[str, Any]]] = {
    "status": (None, STATUS == 4, SINCE),
    "id": (None, WHO == "demo-customer-0001", SINCE),
    "or": (None, (TIME >= datetime(2024, 2, 1, 12)) | (pl.col("pool_id") == 901), SINCE),
    "later": (None, TIME >= datetime(2024, 2, 1, 12), {"after_date": millis("2024-01-30T12:00:00")}),
    "later day": (None, DAY > date(2024, 2, 1), {"after_date": millis("2024-01-31T00:00:00")}),
    "earlier": (None, TIME < datetime(2024, 2, 1), SINCE),
    "least": (None, TIME >= datetime.min, SINCE),
    "later and status": (
        None,
        (STATUS == 4) & (TIME >= datetime(2024, 2, 1, 12)),
        {"after_date": millis("2024-01-30T12:00:00")},
    ),
    "least day": (None, DAY >= date.min, SINCE),
    "last day": (None, DAY <= date.max, SINCE),
    # The check of integers of the user refuses instants of the years before 1973.
    **{
        f"an earlier end in {year}": (
            da.before(f"{year}-03-01"),
            (TIME <= datetime(year, 1, 31)) & (STATUS == 4),
            {"before_date": millis(f"{year}-02-02T00:00:00")},
        )
        for year in (2024, 1972)
    },
    "a later start before 1973": (
        da.since("1970-06-01"),
        (TIME >= datetime(1971, 1, 31)) & (STATUS == 4),
        {"after_date": millis("1971-01-29T00:00:00")},
    ),
}


@pytest.mark.parametrize("name", PUSHED)
def test_a_condition_of_one_request(sandbox: da.Sandbox, name: str) -> None:
    search, condition, expected = PUSHED[name]
    frame = codes(sandbox, **({} if search is None else {"allocated_time": search}))
    (body,) = bodies(sandbox, frame.filter(condition))
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
        (DAY == date(2024, 1, 15), [14]),
        (DAY.is_in([date(2024, 1, 15), date(2024, 1, 17)]), [14, 15, 16]),
        (DAY.is_between(date(2024, 1, 15), date(2024, 1, 16)), [14, 15]),
        ((DAY > date(2024, 1, 14)) & (DAY < date(2024, 1, 17)), [14, 15]),
        ((hour(0, zone) <= TIME) & (hour(23, zone) > TIME), [14]),
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


# Errors, warnings and rows as they come.


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
    def cut(connection: Any, _number: int) -> None:
        connection.sendall(HEAD + OPENING + records(0, 100_000))
        raise Close

    with serving(cut) as server:
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
        scan = client_of(server, timezone="UTC").scan_codes(
            ["id", "allocated_time", "last_used_source"], allocated_time=da.days("2024-01-15", "2024-01-16")
        )
        week = client_of(server, timezone="UTC").scan_codes(
            ["id", "allocated_time", "last_used_source"], allocated_time=da.days("2024-01-12", "2024-01-19")
        )
        assert week.to_lazyframe().filter(TIME.dt.date() == date(2024, 1, 15)).collect().height == 1
        with pytest.warns(da.AbsentAttributeWarning, match="last_used_source"):
            scan.to_lazyframe().filter(pl.col("id") == "a").collect()


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
    def fail(_frame: pl.DataFrame) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        frame.sink_batches(fail, chunk_size=1_000)


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
    stop = Event()

    def stall(connection: Any, _number: int) -> None:
        connection.sendall(HEAD + OPENING + b",".join(b'{"id": "%d"}' % number for number in range(200_000)))
        stop.wait(30)

    with serving(stall) as server:
        run = subprocess.run(
            [sys.executable, "-c", EARLY, server.base_url], capture_output=True, check=True, timeout=50
        )
        late = time.time() - float(run.stdout)
        stop.set()
    assert late < 5
