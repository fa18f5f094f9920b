"""Which requests a scan sends: one a day, one for each part of a long list, and together each row once."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import dataaccess as da

QUARTER = dt.timedelta(minutes=15)
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def conditions(scan: Any) -> list[list[dict[str, Any]]]:
    """Those of each request, all of which have one group."""
    groups = [request["body"]["filters"]["OR"] for request in scan.requests()]
    assert all(len(group) == 1 for group in groups)
    return [group["AND"] for (group,) in groups]


def values(scan: Any, column: str) -> list[Any]:
    """What each request compares a column with."""
    return [condition["value"] for group in conditions(scan) for condition in group if condition["column"] == column]


def days_of(scan: Any, column: str = "allocated_time") -> list[str]:
    """The times that the requests ask for, in UTC."""
    return [f"{EPOCH + dt.timedelta(milliseconds=value):%Y-%m-%d %H:%M}" for value in values(scan, column)]


def items(client: Any, where: Any, **options: Any) -> Any:
    return client.scan_items("store", ["x"], where, item_type_id=7, **options)


def test_a_range_of_days_is_a_request_a_day(client: Any, sandbox: da.Sandbox) -> None:
    scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-04-01"), code_status="used")
    requests = scan.requests()
    assert len(requests) == 31 + 29 + 31
    assert days_of(scan)[:2] == ["2024-01-01 00:00", "2024-01-02 00:00"]
    assert days_of(scan)[-1] == "2024-03-31 00:00", "stop is excluded"
    assert {(request["method"], request["url"]) for request in requests} == {
        ("POST", sandbox.base_url + "/access/api/item/search")
    }
    for place, day in [(0, "2024-01-01"), (59, "2024-02-29"), (90, "2024-03-31")]:
        body = client.validate_codes(["id"], allocated_time=da.on(day), code_status="used")
        assert requests[place]["body"] == body
    assert count(scan) == "91"


def count(scan: Any) -> str:
    """The number of requests that a scan shows."""
    return repr(getattr(scan, "client", scan)).partition(" requests")[0].rpartition(", ")[2]


def test_what_is_explained_is_what_is_sent(connect: Any) -> None:
    with da.Sandbox.demo() as service:
        scan = connect(service, concurrency=1).scan_codes(
            ["id"],
            allocated_time=da.days("2024-01-01", "2024-01-04"),
            allocated_audience=["demo-customer-0001", "demo-customer-0002", "demo-visitor-0001"],
            values_per_request=2,
        )
        explained = [request["body"] for request in scan.requests()]
        assert service.requests == []
        scan.to_dicts()
        assert [request.body for request in service.requests] == explained
        assert len(explained) == 6


@pytest.mark.parametrize(
    ("start", "stop"),
    [
        ("2024-02-28", "2024-03-02"),
        (dt.date(2024, 2, 28), dt.date(2024, 3, 2)),
        (dt.datetime(2024, 2, 28, 17, 30), dt.datetime(2024, 3, 2)),  # noqa: DTZ001 - read in the client's zone
        (dt.datetime(2024, 2, 28, tzinfo=dt.UTC), "2024-03-02T00:00:00Z"),
        (np.datetime64("2024-02-28"), np.datetime64("2024-03-02T00:00", "ns")),
        (pd.Timestamp("2024-02-28"), pd.Timestamp("2024-03-02", tz="UTC")),
        (1_709_078_400_000, 1_709_337_600_000),
    ],
    ids=["text", "date", "datetime", "with a zone", "datetime64", "pandas", "milliseconds"],
)
def test_days_are_told_as_any_time_is(client: Any, start: Any, stop: Any) -> None:
    scan = client.scan_codes(["id"], allocated_time=da.days(start, stop))
    assert days_of(scan) == ["2024-02-28 00:00", "2024-02-29 00:00", "2024-03-01 00:00"]


def test_a_time_within_a_day_is_that_day(client: Any) -> None:
    scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01T23:59", "2024-01-03T12:00"))
    assert days_of(scan) == ["2024-01-01 00:00", "2024-01-02 00:00"]


# Where clocks change: at a midnight, which is skipped or comes twice, and where a whole day is left out.
CHANGES = {
    "Europe/Berlin": ["2024-03-31", "2024-10-27"],
    "America/New_York": ["2024-03-10", "2024-11-03"],
    "America/Sao_Paulo": ["2018-11-04", "2018-02-18"],
    "America/Havana": ["2019-03-10", "2019-11-03"],
    "Asia/Beirut": ["2020-03-29", "2020-10-25"],
    "Africa/Cairo": ["2014-05-16", "2014-09-26"],
    "Australia/Lord_Howe": ["2020-04-05", "2020-10-04"],
    "Pacific/Apia": ["2011-12-30", "2011-09-24"],
    "Pacific/Kwajalein": ["1993-08-21"],
    "Asia/Kathmandu": ["1986-01-01"],
    "UTC": ["2024-02-29"],
}


def firsts(zone: str, start: dt.date, stop: dt.date) -> Iterator[dt.datetime]:
    """The first instant of each day, found by looking at every quarter of an hour."""
    instant = dt.datetime(start.year, start.month, start.day, tzinfo=dt.UTC) - dt.timedelta(days=2)
    before = None
    while (day := instant.astimezone(ZoneInfo(zone)).date()) < stop:
        if day != before and day >= start:
            yield instant
        before = max(day, before) if before else day
        instant += QUARTER


@pytest.mark.parametrize(("zone", "day"), [(zone, day) for zone, days in CHANGES.items() for day in days])
def test_days_begin_where_their_zone_says(connect: Any, sandbox: da.Sandbox, zone: str, day: str) -> None:
    middle = dt.date.fromisoformat(day)
    start, stop = middle - dt.timedelta(days=2), middle + dt.timedelta(days=3)
    expected = list(firsts(zone, start, stop))
    client = connect(sandbox, timezone=zone)
    for range_of_days in (da.days(start, stop), da.days(str(start), str(stop))):
        scan = client.scan_codes(["id"], allocated_time=range_of_days)
        asked = [EPOCH + dt.timedelta(milliseconds=value) for value in values(scan, "allocated_time")]
        assert asked == expected


def test_a_long_list_is_cut_into_parts(client: Any) -> None:
    ids = [f"id-{number}" for number in range(2_500)]
    scan = client.scan_codes(["id"], allocated_time=da.after("2024-01-01"), allocated_audience=ids)
    assert values(scan, "allocated_audience") == [ids[:1_000], ids[1_000:2_000], ids[2_000:]]
    scan = client.scan_codes(
        ["id"], allocated_time=da.after("2024-01-01"), allocated_audience=ids, values_per_request=2_500
    )
    assert values(scan, "allocated_audience") == [ids]


@pytest.mark.parametrize(
    "kind",
    [list, tuple, iter, np.array, pd.Series, dict.fromkeys],
    ids=["list", "tuple", "iterator", "numpy", "pandas", "keys"],
)
def test_any_iterable_is_cut(client: Any, kind: Any) -> None:
    ids = kind(["a", "b", "c"])
    ids = ids.keys() if isinstance(ids, dict) else ids
    scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"), allocated_audience=ids, values_per_request=2)
    assert values(scan, "allocated_audience") == [["a", "b"], ["c"]]


def test_days_come_first_and_parts_within_them(client: Any) -> None:
    scan = client.scan_codes(
        ["id"],
        allocated_time=da.days("2024-01-01", "2024-01-03"),
        allocated_audience=["a", "b", "c"],
        code_status=["sent", "used"],
        values_per_request=1,
    )
    asked = [tuple(condition["value"] for condition in group) for group in conditions(scan)]
    days = [1_704_067_200_000, 1_704_153_600_000]
    expected = [([name], [status], day) for day, name, status in product(days, "abc", [3, 4])]
    assert asked == expected


def test_a_value_that_stands_twice_is_asked_for_once(client: Any) -> None:
    scan = client.scan_codes(
        ["id"], allocated_time=da.on("2024-01-15"), allocated_audience=list("abacab"), values_per_request=2
    )
    assert values(scan, "allocated_audience") == [["a", "b"], ["c"]]
    x = da.col("x")
    assert values(items(client, x.matches([1, 1.0, 2, 2.5, 2]), values_per_request=1), "x") == [[1], [2], [2.5]]
    assert values(items(client, x.matches([1.0, 1]), values_per_request=1), "x") == [[1.0]]
    assert values(items(client, x.matches(["1", "01", "1"]), values_per_request=1), "x") == [["1"], ["01"]]
    exact = [2**53, 2**53 + 1, 2.0**53]
    assert values(items(client, x.matches(exact), values_per_request=1), "x") == [[2**53], [2**53 + 1]]


def same(one: float, other: float) -> bool:
    """Whether two numbers are one, as Python compares them: exactly."""
    return one == other


NUMBERS = st.one_of(
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0, -0.0, 1, 1.0, 2**53, 2.0**53, 2**53 + 1, 2**63 - 1, 2**63, 2.0**63, -(2.0**63), -(2**63)]),
)


@given(st.lists(NUMBERS, min_size=1, max_size=12))
@example([2**63 - 1, 2.0**63])
@example([2**63, 2.0**63])
@example([0, -0.0])
def test_numbers_are_told_apart_exactly(numbers: list[float]) -> None:
    client = da.Client("http://127.0.0.1:9", token="tok-test")
    scan = items(client, da.col("x").matches(numbers), values_per_request=1)
    asked = [value for (value,) in values(scan, "x")]
    distinct: list[float] = []
    for number in numbers:
        if not any(same(number, other) for other in distinct):
            distinct.append(number)
    assert asked == distinct


def test_an_operator_of_ones_own_is_cut_only_where_it_is_matches(client: Any) -> None:
    for operator, parts in [("matches", [[3], [4]]), ("not_matches", [[3, 4]])]:
        condition = da.op(operator, [3, 4])
        scan = client.scan_codes(
            ["id"], allocated_time=da.on("2024-01-15"), code_status=condition, values_per_request=1
        )
        assert values(scan, "code_status") == parts
        scan = items(client, da.col("x").op(operator, [3, 4], data_type="number"), values_per_request=1)
        assert values(scan, "x") == parts


def test_each_list_of_a_where_is_cut(client: Any) -> None:
    where = da.col("x").matches(["a", "b", "c"]) & da.col("y").matches([1, 2]) & da.col("z").equals("q")
    scan = items(client, where, values_per_request=2)
    asked = [tuple(condition["value"] for condition in group) for group in conditions(scan)]
    assert asked == [(["a", "b"], [1, 2], ["q"]), (["c"], [1, 2], ["q"])]


def test_a_where_as_the_document_writes_it_is_cut_too(client: Any) -> None:
    condition = {"column": "x", "data_type": "string", "operator": "matches", "value": ["a", "b", "c"]}
    scan = items(client, {"OR": [{"AND": [condition]}]}, values_per_request=2)
    assert values(scan, "x") == [["a", "b"], ["c"]]


def test_groups_that_may_overlap_stay_one_request(client: Any) -> None:
    where = da.col("x").matches(["a", "b", "c"]) | da.col("y").matches(["a", "b", "c"])
    (request,) = items(client, where, values_per_request=1).requests()
    assert [group["AND"][0]["value"] for group in request["body"]["filters"]["OR"]] == [["a", "b", "c"]] * 2


def test_days_of_a_where(client: Any) -> None:
    days = da.days("2024-01-01", "2024-01-04")
    scan = items(client, da.col("opened").on(days) & da.col("x").matches(["a", "b"]), values_per_request=1)
    assert days_of(scan, "opened") == [f"2024-01-0{day} 00:00" for day in (1, 1, 2, 2, 3, 3)]
    assert values(scan, "x") == [["a"], ["b"]] * 3
    codes = client.scan_items("promotion_code", ["id"], da.col("allocated_time").on(days))
    assert codes.requests() == client.scan_codes(["id"], allocated_time=days).requests()
    assert codes.requests() == client.scan_codes(["id"], allocated_time=da.on(days)).requests()


def test_two_ranges_of_days_are_every_pair(client: Any) -> None:
    days = da.days("2024-01-01", "2024-01-03")
    scan = items(client, da.col("opened").on(days) & da.col("closed").on(days))
    pairs = zip(days_of(scan, "opened"), days_of(scan, "closed"), strict=True)
    assert [(one[8:10], other[8:10]) for one, other in pairs] == [
        ("01", "01"),
        ("01", "02"),
        ("02", "01"),
        ("02", "02"),
    ]


DAYS = da.days("2024-01-01", "2024-01-04")
VALUE = "filters.OR[0].AND[0].value"


def told(call: Any, *arguments: Any, **options: Any) -> list[tuple[str, str]]:
    """The place of each problem of a call."""
    with pytest.raises(da.ValidationError) as caught:
        call(*arguments, **options)
    message = str(caught.value)
    if len(caught.value.problems) > 1:
        message = "\n".join(caught.value.__notes__)
    assert all(problem.message in message for problem in caught.value.problems)
    return [(problem.argument, problem.path) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("days", "message"),
    [
        (da.days("2024-01-02", "2024-01-02"), "holds no day: stop is the day after the last"),
        (da.days("2024-01-02", "2024-01-01"), "holds no day"),
        (da.days("soon", "2024-01-01"), '"soon" is not ISO 8601'),
        (da.days("2024-01-01", None), "None is not a time"),  # type: ignore[arg-type] # on purpose
        (da.days(["2024-01-01"], "2024-01-02"), "takes one time, not a list"),  # type: ignore[arg-type] # on purpose
        (da.days("1700-01-01", "2024-01-01"), "holds more than 100000 days"),
        (da.after(DAYS), "is a range of days, not a time"),  # type: ignore[arg-type] # on purpose
        (da.op("equals", DAYS), "is a range of days, not a time"),  # type: ignore[arg-type] # on purpose
        ([da.on("2024-01-01")], "takes one time, not a list"),
    ],
)
def test_a_range_that_cannot_be_is_told_by_its_place(client: Any, days: Any, message: str) -> None:
    assert told(client.scan_codes, ["id"], allocated_time=days) == [("allocated_time", VALUE)]
    with pytest.raises(da.ValidationError, match=message):
        client.scan_codes(["id"], allocated_time=days)


def test_a_range_belongs_to_times(client: Any) -> None:
    places = told(client.scan_codes, allocated_time=DAYS, allocated_audience=DAYS, code_status=DAYS)
    assert places == [("allocated_audience", VALUE), ("code_status", VALUE.replace("AND[0]", "AND[1]"))]
    x = da.col("x")
    for where in (x.matches(DAYS), x.equals(DAYS), x.before(DAYS)):  # type: ignore[arg-type] # on purpose
        assert told(items, client, where) == [("where", VALUE)]


def test_a_range_in_one_of_several_groups_is_told_by_its_place(client: Any) -> None:
    where = da.col("x").equals("a") | (da.col("y").equals("b") & da.col("opened").on(DAYS))
    assert told(items, client, where) == [("where", "filters.OR[1].AND[1].value")]
    with pytest.raises(da.ValidationError, match="opened has a range of days in one of 2 groups joined by OR"):
        items(client, where)


def test_a_range_of_days_in_another_unit_is_refused(client: Any) -> None:
    # Each day of a week would be that week, and each of its rows would come seven times.
    assert told(client.scan_codes, allocated_time=da.on(DAYS, unit="WEEK"))
    assert told(items, client, da.col("opened").on(DAYS, unit="WEEK"))


@pytest.mark.parametrize("chunk", [0, -1, True, 1.5, "7", 2**63, [3]])
def test_a_chunk_that_makes_no_sense_is_refused(client: Any, chunk: Any) -> None:
    assert told(client.scan_codes, allocated_time=da.on("2024-01-15"), values_per_request=chunk) == [
        ("values_per_request", "")
    ]
    assert told(items, client, da.col("x").equals("a"), values_per_request=chunk) == [("values_per_request", "")]


@pytest.mark.parametrize("ordered", [0, 1, None, "yes"])
def test_an_order_that_makes_no_sense_is_refused(client: Any, ordered: Any) -> None:
    assert told(client.scan_codes, allocated_time=da.on("2024-01-15"), ordered=ordered) == [("ordered", "")]


def test_whole_numbers_of_numpy_are_chunks(client: Any) -> None:
    scan = items(client, da.col("x").matches(["a", "b", "c"]), values_per_request=np.int64(2))
    assert len(scan.requests()) == 2


def test_all_problems_are_told_at_once(client: Any) -> None:
    places = told(
        client.scan_codes,
        ["id", "nmae"],
        allocated_time=da.days("2024-01-02", "2024-01-01"),
        code_status=9,
        values_per_request=0,
        limit=0,
        schema={"id": "strng"},
    )
    arguments = ["attrs[1]", "code_status", "allocated_time", "limit", "values_per_request", 'schema["id"]']
    assert [argument for argument, _ in places] == arguments


def test_a_plan_has_its_limit(client: Any) -> None:
    ids = [str(number) for number in range(274)]
    days = da.days("2023-01-01", "2024-01-01")
    most = client.scan_codes(["id"], allocated_time=days, allocated_audience=ids[:273], values_per_request=1)
    assert count(most) == "99,645"
    with pytest.raises(
        da.ValidationError, match="365 x 274 requests, and one takes 100000 at most: raise values_per_request"
    ):
        client.scan_codes(["id"], allocated_time=days, allocated_audience=ids, values_per_request=1)
    start, stop = dt.date(1800, 1, 1), dt.date(2070, 1, 1)
    assert count(client.scan_codes(["id"], allocated_time=da.days(start, stop))) == f"{(stop - start).days:,}"


def test_one_body_is_refused_for_days_and_the_line_to_write_is_shown(client: Any) -> None:
    line = r'write client\.scan_codes\(allocated_time=days\("2024-01-01", "2024-01-04"\)\)'
    with pytest.raises(da.ValidationError, match=line) as caught:
        client.validate_codes(["id"], allocated_time=DAYS)
    (problem,) = caught.value.problems
    assert (problem.argument, problem.path) == ("allocated_time", VALUE)


def test_a_search_of_items_shows_the_line_of_items(client: Any) -> None:
    with pytest.raises(da.ValidationError, match=r"this is one request: write client\.scan_items\("):
        client.search_items("store", ["x"], da.col("opened").on(DAYS), item_type_id=7)


# The oracle: codes held here, and the days and lists that a scan is asked for, evaluated in Python.

AUDIENCE = [f"m-{number:02}" for number in range(12)]
STATUSES = [1, 3, 4]
FIRST = dt.date(2024, 3, 29)
LENGTH = 6


def stock(zone: str) -> list[dict[str, Any]]:
    """Codes at the borders of each day, for each member and status, and some that nobody holds."""
    borders = list(firsts(zone, FIRST - dt.timedelta(days=1), FIRST + dt.timedelta(days=LENGTH + 1)))
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

    def answer(self, day: dt.date, audience: list[str] | None, statuses: list[int] | None) -> list[dict[str, Any]]:
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


@pytest.mark.slow
@given(
    zone=st.sampled_from(ZONES),
    start=st.integers(0, LENGTH - 1),
    length=st.integers(1, LENGTH),
    audience=st.none() | st.lists(st.sampled_from([*AUDIENCE, "nobody"]), min_size=1, max_size=20),
    statuses=st.none() | st.lists(st.sampled_from(STATUSES), min_size=1, max_size=4),
    values_per_request=st.integers(1, 15),
    ordered=st.booleans(),
)
def test_a_scan_gives_each_row_of_its_days_once(
    stocks: dict[str, Stock],
    zone: str,
    start: int,
    length: int,
    audience: list[str] | None,
    statuses: list[int] | None,
    values_per_request: int,
    ordered: bool,  # noqa: FBT001 - drawn
) -> None:
    stocked = stocks[zone]
    attrs = ["id", "name", "pool_id", "allocated_time", "allocated_audience", "audience_type", "code_status"]
    days = [FIRST + dt.timedelta(days=day) for day in range(start, min(start + length, LENGTH))]
    stop = days[-1] + dt.timedelta(days=1)
    asked: dict[str, Any] = {"allocated_audience": audience, "code_status": statuses}
    scan = stocked.client.scan_codes(
        attrs, allocated_time=da.days(days[0], stop), **asked, values_per_request=values_per_request, ordered=ordered
    )
    requests = list(product(days, parts(audience, values_per_request), parts(statuses, values_per_request)))
    expected = [row for day, members, kinds in requests for row in stocked.answer(day, members, kinds)]
    assert len(scan.requests()) == len(requests)
    forms = [
        scan.to_dicts(),
        as_sent(scan.collect().to_pylist()),
        as_sent([row for batch in scan.batches() for row in batch.to_pylist()]),
    ]
    searched = [row for day in days for row in stocked.client.search_codes(attrs, allocated_time=da.on(day), **asked)]
    assert by_id(searched) == by_id(expected)
    for rows in forms:
        assert len({row["id"] for row in rows}) == len(rows), "a row came twice"
        assert (rows if ordered else by_id(rows)) == (expected if ordered else by_id(expected))


def as_sent(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "allocated_time": str(row["allocated_time"])} for row in rows]


def by_id(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: str(row["id"]))
