"""Lazy queries of polars: what they request, and that they return what they would return for all rows."""
# ruff: noqa: DTZ001, SIM300 - columns have no zone; conditions are as users write them

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.raw_server import Close, serving
from support.streams import CLOSING, HEAD, OPENING, client_of, endless, records, scan_of

import dataaccess as da

STATUS, TIME, WHO = pl.col("code_status"), pl.col("allocated_time"), pl.col("allocated_audience")
FIRST, STOP = datetime(2024, 1, 8), datetime(2024, 1, 18)
ENGINES: list[Any] = ["in-memory", "streaming"]
Query = Callable[[pl.LazyFrame], pl.LazyFrame]


@pytest.fixture(scope="module", params=["exclusive", "inclusive, in another zone"])
def service(request: pytest.FixtureRequest) -> Iterator[da.Sandbox]:
    """A service that compares days as the client believes, and one that does not."""
    others = {"day_comparison": "inclusive", "day_zone": "Pacific/Auckland"}
    with da.Sandbox.demo(switches={} if request.param == "exclusive" else others) as sandbox:
        yield sandbox


def plans(client: da.Client) -> dict[str, da.Scan]:
    """Scans whose requests have every kind of condition."""
    people = [f"demo-customer-{number:04d}" for number in range(1, 400)]
    return {
        "days": client.scan_codes(allocated_time=da.days(FIRST.date(), STOP.date())),
        "day": client.scan_codes(allocated_time=da.on("2024-01-15")),
        "since": client.scan_codes(allocated_time=da.since("2024-01-08"), code_status=["sent", "used"]),
        "before": client.scan_codes(allocated_time=da.before("2024-01-18"), decode_status=True),
        "people": client.scan_codes(allocated_time=da.since("2024-01-08"), allocated_audience=people),
        "split": client.scan_codes(
            allocated_time=da.days("2024-01-14", "2024-01-17"), allocated_audience=people, values_per_request=150
        ),
        "limited": client.scan_codes(allocated_time=da.days("2024-01-14", "2024-01-17"), limit=100),
        "types": client.scan_codes(
            allocated_time=da.on("2024-01-15"), schema={"code_status": "string", "allocated_audience": "json"}
        ),
    }


times = st.datetimes(FIRST - timedelta(days=3), STOP + timedelta(days=3)).map(lambda time: time.replace(microsecond=0))
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


def conditions(scan: str) -> st.SearchStrategy[pl.Expr]:
    """Conditions on the columns of a scan, as users write them."""
    status: st.SearchStrategy[Any] = statuses
    if scan == "before":
        status = st.sampled_from(["available", "sent", "used", "7"])
    elif scan == "types":
        status = statuses.map(str)
    kinds = status.map(lambda value: "customer" if isinstance(value, str) else -1003)
    kinds = kinds if scan != "types" else st.sampled_from([-1003, -1007, 5])
    days = moments.map(lambda time: time.date() if isinstance(time, datetime) else time)
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


PLANS = ["days", "day", "since", "before", "people", "split", "limited", "types"]
columns = st.lists(st.sampled_from(["id", "pool_id", "code_status", "allocated_time"]), min_size=1, unique=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
def test_a_query_returns_what_it_returns_for_all_rows(service: da.Sandbox) -> None:
    with service.client() as client:
        scans = plans(client)
        frames = {name: scan.to_polars() for name, scan in scans.items()}

        @settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
        @given(st.data())
        def check(data: st.DataObject) -> None:
            name = data.draw(st.sampled_from(PLANS))
            parts = data.draw(st.lists(conditions(name), min_size=1, max_size=3))
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
    with da.Sandbox.demo(switches={"day_comparison": comparison, "day_zone": zone}) as sandbox:
        client = sandbox.client()
        for when in (da.days("2024-01-08", "2024-01-18"), da.since("2024-01-08"), da.before("2024-01-18")):
            scan = client.scan_codes(["id", "allocated_time"], allocated_time=when)
            frame = scan.to_polars()
            for hours in (0, 1, 9, 10, 12, 13, 14, 23):
                time = datetime(2024, 1, 13) + timedelta(hours=hours)
                for condition in (TIME >= time, TIME <= time):
                    found = scan.to_lazyframe().filter(condition).collect()
                    assert found.equals(frame.filter(condition))


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


@pytest.mark.parametrize(
    ("condition", "expected"),
    {
        "status": (STATUS == 4, {"code_status": [4]}),
        "statuses": (STATUS.is_in([4, 3, 4]), {"code_status": [4, 3]}),
        "both": ((STATUS == 4) & (pl.col("pool_id") > 0), {"code_status": [4]}),
        "less": (STATUS.is_in([3, 4]) & STATUS.is_in([4, 1]), {"code_status": [4]}),
        "id": (WHO == "demo-customer-0001", {"allocated_audience": ["demo-customer-0001"]}),
        "pair": (
            (WHO == "demo-customer-0001") & (pl.col("audience_type") == -1003),
            {"allocated_audience": ["demo-customer-0001"], "audience_type": [-1003]},
        ),
        "kind-alone": (pl.col("audience_type") == -1003, {}),
        "unknown-status": (STATUS.is_in([4, 7]), {}),
        "empty-id": (WHO == "", {}),
        "long-list": (WHO.is_in([f"id {number}" for number in range(1_001)]), {}),
        "null": (STATUS.is_in([4, None], nulls_equal=True), {}),
        "or": ((STATUS == 4) | (pl.col("pool_id") == 901), {}),
        "not": (STATUS != 4, {}),
        "cast": (STATUS.cast(pl.String) == "4", {}),
        "later": (TIME >= datetime(2024, 2, 1, 12), {"after_date": millis("2024-01-30T12:00:00")}),
        "later-day": (TIME.dt.date() > date(2024, 2, 1), {"after_date": millis("2024-01-30T00:00:00")}),
        "earlier": (TIME < datetime(2024, 2, 1), {}),
    }.values(),
)
def test_a_condition_of_one_request(sandbox: da.Sandbox, condition: pl.Expr, expected: dict[str, Any]) -> None:
    (body,) = bodies(sandbox, codes(sandbox).filter(condition))
    assert conditions_of(body) == {"after_date": millis("2023-12-31T23:59:59.999"), **expected}


def test_names_of_statuses_are_requested_by_number(sandbox: da.Sandbox) -> None:
    (body,) = bodies(sandbox, codes(sandbox, decode_status=True).filter(STATUS == "used"))
    assert conditions_of(body)["code_status"] == [4]


def test_a_column_of_another_type_narrows_nothing(sandbox: da.Sandbox) -> None:
    frame = codes(sandbox, schema={"code_status": "string", "allocated_audience": "json"})
    (body,) = bodies(sandbox, frame.filter(STATUS == "4", WHO == '"demo-customer-0001"'))
    assert list(conditions_of(body)) == ["after_date"]


def test_an_earlier_end_of_a_search_before_a_day(sandbox: da.Sandbox) -> None:
    frame = codes(sandbox, allocated_time=da.before("2024-03-01"))
    (body,) = bodies(sandbox, frame.filter(TIME <= datetime(2024, 1, 31)))
    assert conditions_of(body) == {"before_date": millis("2024-02-02T00:00:00")}


@pytest.mark.filterwarnings("ignore::dataaccess.StrayDayWarning")
@pytest.mark.parametrize(
    "condition",
    [TIME.dt.date() == date(2024, 1, 15), TIME.is_between(datetime(2024, 1, 15), datetime(2024, 1, 15, 23, 59))],
)
@pytest.mark.parametrize("zone", ["UTC", "Asia/Ho_Chi_Minh", "America/Los_Angeles"])
def test_a_day_requests_that_day_and_its_neighbors(sandbox: da.Sandbox, condition: pl.Expr, zone: str) -> None:
    quarter = da.days("2024-01-01", "2024-04-01")
    scan = sandbox.client(timezone=zone).scan_codes(allocated_time=quarter)
    requested = bodies(sandbox, scan.to_lazyframe().filter(condition))
    whole = [conditions_of(request["body"])["equals"] for request in scan.requests()]
    found = [conditions_of(body)["equals"] for body in requested]
    assert len(found) <= 5
    assert set(found) < set(whole)
    assert whole[13] in found
    assert whole[14] in found
    assert whole[15] in found


def test_a_contradiction_requests_nothing(sandbox: da.Sandbox) -> None:
    frame = codes(sandbox, allocated_time=da.days("2024-01-01", "2024-01-08"), code_status="sent")
    for condition in [STATUS == 4, TIME > datetime(2024, 6, 1), (STATUS == 3) & (STATUS == 4)]:
        assert bodies(sandbox, frame.filter(condition)) == []
        assert frame.filter(condition).collect().schema == frame.collect_schema()


def test_ids_of_customers_are_requested_and_names_are_not(sandbox: da.Sandbox) -> None:
    types: da.types.Schema = {"customer_id": "string", "name": "string"}
    where = da.col("customer_id").matches([f"demo-customer-{number:04d}" for number in range(1, 9)])
    scan = sandbox.client().scan_items("customer", ["customer_id", "name"], where, schema=types)
    name = scan.to_polars()["name"][0]
    frame = scan.to_lazyframe()
    query = frame.filter(pl.col("customer_id") == "demo-customer-0001", pl.col("name") == name)
    (body,) = bodies(sandbox, query)
    values = [each["value"] for each in body["filters"]["OR"][0]["AND"]]
    assert values == [[f"demo-customer-{number:04d}" for number in range(1, 9)], ["demo-customer-0001"]]
    assert query.collect().height == 1


def test_inferred_types_are_requested_once(sandbox: da.Sandbox) -> None:
    where = da.col("customer_id").matches(["demo-customer-0001", "demo-customer-0002"])
    scan = sandbox.client().scan_items("customer", ["customer_id", "name"], where)
    frame = scan.to_lazyframe()
    assert len(bodies(sandbox, frame)) == 2
    assert len(bodies(sandbox, frame.select("name"))) == 1
    assert frame.collect().equals(scan.to_polars())
    nobody = sandbox.client().scan_items("customer", ["customer_id"], da.col("customer_id").equals("nobody"))
    assert nobody.to_lazyframe().collect().equals(nobody.to_polars())


def test_the_plan_of_polars_names_the_scan(sandbox: da.Sandbox) -> None:
    shown = codes(sandbox).filter(STATUS == 4).explain()
    assert "PYTHON[scan_codes] SCAN" in shown
    assert "promotion_code in 1 request" in shown


def test_explain_query_shows_the_requests_and_sends_none(sandbox: da.Sandbox) -> None:
    scan = sandbox.client().scan_codes(["id", "code_status"], allocated_time=da.days("2024-01-01", "2024-04-01"))
    sandbox.clear_requests()
    assert scan.explain_query(lambda rows: rows.filter(STATUS.is_in([3, 4]))) == (
        "promotion_code (-100) in 91 requests, days and times in UTC\n"
        "service filters: code_status matches SENT (3), USED (4)\n"
        "                 allocated_time equals DAY of 2024-01-01 … 2024-03-31, one per request\n"
        "columns:         id string, code_status int64\n"
        "not checked:     the day of the rows: allocated_time is not in attrs\n"
        'polars filters:  col("code_status").is_in([[3, 4]])'
    )
    assert "no request" in scan.explain_query(lambda rows: rows.filter(STATUS == 4, STATUS == 3))
    twice = scan.explain_query(lambda rows: pl.concat([rows.filter(STATUS == 4), rows.filter(STATUS == 3)]))
    assert [twice.count("matches USED (4)"), twice.count("matches SENT (3)"), twice.count("\n\n")] == [1, 1, 1]
    assert sandbox.requests == []


def test_a_query_logs_what_it_requests(sandbox: da.Sandbox, caplog: pytest.LogCaptureFixture) -> None:
    frame = codes(sandbox, allocated_time=da.days("2024-01-01", "2024-02-01"))
    with caplog.at_level(logging.DEBUG, "dataaccess.polars"):
        frame.filter(TIME > datetime(2024, 1, 31), WHO == "demo-customer-0001").select("id").collect()
    (record,) = [record for record in caplog.records if record.name == "dataaccess.polars"]
    assert record.getMessage() == (
        "scan_codes: at most 2 of 31 requests, 3 of 10 columns, narrowed by allocated_audience, allocated_time"
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_errors_keep_their_class(sandbox: da.Sandbox, engine: Any) -> None:
    client = sandbox.client(scopes=["download"])
    with pytest.raises(da.PermissionDeniedError, match="needs the scope item"):
        client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_lazyframe().collect(engine=engine)
    # polars reports what fails while it asks for inferred types.
    with pytest.raises(pl.exceptions.ComputeError, match="PermissionDeniedError: scan_items: the service refused"):
        client.scan_items("customer", ["name"]).to_lazyframe().collect(engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_truncated_response_is_no_result(engine: Any) -> None:
    def cut(connection: Any, _number: int) -> None:
        connection.sendall(HEAD + OPENING + records(0, 100_000))
        raise Close

    with serving(cut) as server:
        frame = scan_of(client_of(server), schema={"n": "int64", "text": "string"}).to_lazyframe()
        with pytest.raises(da.StreamInterruptedError, match="cut off after 65536 rows"):
            frame.collect(engine=engine)


def test_a_split_scan_is_refused(sandbox: da.Sandbox) -> None:
    scan = sandbox.client().scan_codes(allocated_time=da.on("2024-01-15"), on_suspected_cap="split")
    with pytest.raises(da.ValidationError, match="on_suspected_cap"):
        scan.to_lazyframe()


def test_a_doubt_is_a_warning() -> None:
    with da.Sandbox.demo(switches={"maximum_rows": 50}) as sandbox:
        week = da.days("2024-01-15", "2024-01-22")
        with pytest.warns(da.IncompleteWarning):
            codes(sandbox, allocated_time=week).select("id").collect()


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
        frame = scan_of(client_of(server), schema={"n": "int64", "text": "string"}).to_lazyframe()
        frame.filter(pl.col("n") >= 0).sink_batches(take, chunk_size=10_000)
        assert sum(sizes) == 66_537
        arrived.set()
        frame.sink_parquet(tmp_path / "rows.parquet")
    assert pl.read_parquet(tmp_path / "rows.parquet")["n"].to_list() == list(range(66_537))


def test_a_query_that_has_enough_ends_its_requests() -> None:
    with serving(endless(70_000)) as server:
        frame = scan_of(client_of(server), schema={"n": "int64", "text": "string"}).to_lazyframe()
        found = frame.filter(pl.col("n") > 5).head(2).collect(engine="streaming")
        assert found["n"].to_list() == [6, 7]
        deadline = time.monotonic() + 10
        while server.open and time.monotonic() < deadline:
            # polars lets go of what it was reading when it runs again.
            pl.LazyFrame({"n": [1]}).collect(engine="streaming")
            time.sleep(0.05)
        assert server.open == 0
