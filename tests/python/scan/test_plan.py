"""Which requests a scan sends: one a day, and one for each part of a long list."""

from __future__ import annotations

import datetime as dt
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.arguments import about
from support.parts import in_parts
from support.scan_plans import conditions, day_starts, items, values

import dataaccess as da

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def days_of(scan: Any, column: str = "allocated_time") -> list[str]:
    """The times that the requests ask for, in UTC."""
    return [f"{EPOCH + dt.timedelta(milliseconds=value):%Y-%m-%d %H:%M}" for value in values(scan, column)]


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


def test_requests_lists_exactly_what_is_sent(connect: Any) -> None:
    with da.Sandbox.demo(until="2024-02-29") as service:
        scan = in_parts(
            2,
            connect(service, concurrency=1).scan_codes,
            ["id"],
            allocated_time=da.days("2024-01-01", "2024-01-04"),
            allocated_audience=["demo-customer-0001", "demo-customer-0002", "demo-visitor-0001"],
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
        (dt.datetime(2024, 2, 28), dt.datetime(2024, 3, 2)),  # noqa: DTZ001 - read in the client's zone
        (dt.datetime(2024, 2, 28, tzinfo=dt.UTC), "2024-03-02T00:00:00Z"),
        (np.datetime64("2024-02-28"), np.datetime64("2024-03-02T00:00", "ns")),
        (pd.Timestamp("2024-02-28"), pd.Timestamp("2024-03-02", tz="UTC")),
        (1_709_078_400_000, 1_709_337_600_000),
    ],
    ids=["text", "date", "datetime", "with a zone", "datetime64", "pandas", "milliseconds"],
)
def test_days_are_given_as_any_time_is(client: Any, start: Any, stop: Any) -> None:
    scan = client.scan_codes(["id"], allocated_time=da.days(start, stop))
    assert days_of(scan) == ["2024-02-28 00:00", "2024-02-29 00:00", "2024-03-01 00:00"]


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


@pytest.mark.parametrize(("zone", "day"), [(zone, day) for zone, days in CHANGES.items() for day in days])
def test_days_begin_where_their_zone_says(connect: Any, sandbox: da.Sandbox, zone: str, day: str) -> None:
    middle = dt.date.fromisoformat(day)
    start, stop = middle - dt.timedelta(days=2), middle + dt.timedelta(days=3)
    expected = list(day_starts(zone, start, stop))
    client = connect(sandbox, timezone=zone)
    for range_of_days in (da.days(start, stop), da.days(str(start), str(stop))):
        scan = client.scan_codes(["id"], allocated_time=range_of_days)
        asked = [EPOCH + dt.timedelta(milliseconds=value) for value in values(scan, "allocated_time")]
        assert asked == expected


def test_a_long_list_is_cut_into_parts(client: Any) -> None:
    ids = [f"id-{number}" for number in range(2_500)]
    scan = client.scan_codes(["id"], allocated_time=da.after("2024-01-01"), allocated_audience=ids)
    assert values(scan, "allocated_audience") == [ids[:990], ids[990:1_980], ids[1_980:]]
    scan = in_parts(
        2_500,
        client.scan_codes,
        ["id"],
        allocated_time=da.after("2024-01-01"),
        allocated_audience=ids,
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
    scan = in_parts(2, client.scan_codes, ["id"], allocated_time=da.on("2024-01-15"), allocated_audience=ids)
    assert values(scan, "allocated_audience") == [["a", "b"], ["c"]]


def test_days_come_first_and_parts_within_them(client: Any) -> None:
    scan = in_parts(
        1,
        client.scan_codes,
        ["id"],
        allocated_time=da.days("2024-01-01", "2024-01-03"),
        allocated_audience=["a", "b", "c"],
        code_status=["sent", "used"],
    )
    asked = [tuple(condition["value"] for condition in group) for group in conditions(scan)]
    days = [1_704_067_200_000, 1_704_153_600_000]
    expected = [([name], [status], day) for day, name, status in product(days, "abc", [3, 4])]
    assert asked == expected


def test_a_value_that_occurs_twice_is_asked_for_once(client: Any) -> None:
    scan = in_parts(
        2,
        client.scan_codes,
        ["id"],
        allocated_time=da.on("2024-01-15"),
        allocated_audience=list("abacab"),
    )
    assert values(scan, "allocated_audience") == [["a", "b"], ["c"]]
    x = da.col("x")
    assert values(in_parts(1, items, client, x.matches([1, 1.0, 2, 2.5, 2])), "x") == [
        [1],
        [2],
        [2.5],
    ]
    assert values(in_parts(1, items, client, x.matches([1.0, 1])), "x") == [[1.0]]
    assert values(in_parts(1, items, client, x.matches(["1", "01", "1"])), "x") == [["1"], ["01"]]
    exact = [2**53, 2**53 + 1, 2.0**53]
    assert values(in_parts(1, items, client, x.matches(exact)), "x") == [[2**53], [2**53 + 1]]


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
def test_numbers_are_compared_exactly(numbers: list[float]) -> None:
    client = da.Client("http://127.0.0.1:9", token="tok-test")
    scan = in_parts(1, items, client, da.col("x").matches(numbers))
    asked = [value for (value,) in values(scan, "x")]
    distinct: list[float] = []
    for number in numbers:
        if not any(same(number, other) for other in distinct):
            distinct.append(number)
    assert asked == distinct


def test_only_matches_lists_are_split(client: Any) -> None:
    for operator, parts in [("matches", [[3], [4]]), ("not_matches", [[3, 4]])]:
        condition = da.op(operator, [3, 4])
        scan = in_parts(1, client.scan_codes, ["id"], allocated_time=da.on("2024-01-15"), code_status=condition)
        assert values(scan, "code_status") == parts
        scan = in_parts(1, items, client, da.col("x").op(operator, [3, 4], data_type="number"))
        assert values(scan, "x") == parts


def test_each_list_of_a_where_is_split(client: Any) -> None:
    where = da.col("x").matches(["a", "b", "c"]) & da.col("y").matches([1, 2]) & da.col("z").equals("q")
    scan = in_parts(2, items, client, where)
    asked = [tuple(condition["value"] for condition in group) for group in conditions(scan)]
    assert asked == [(["a", "b"], [1, 2], ["q"]), (["c"], [1, 2], ["q"])]


def test_raw_filters_are_split_too(client: Any) -> None:
    condition = {"column": "x", "data_type": "string", "operator": "matches", "value": ["a", "b", "c"]}
    scan = in_parts(2, items, client, {"OR": [{"AND": [condition]}]})
    assert values(scan, "x") == [["a", "b"], ["c"]]


def test_groups_that_may_overlap_stay_one_request(client: Any) -> None:
    where = da.col("x").matches(["a", "b", "c"]) | da.col("y").matches(["a", "b", "c"])
    (request,) = in_parts(1, items, client, where).requests()
    assert [group["AND"][0]["value"] for group in request["body"]["filters"]["OR"]] == [["a", "b", "c"]] * 2


def test_days_of_a_where(client: Any) -> None:
    days = da.days("2024-01-01", "2024-01-04")
    scan = in_parts(1, items, client, da.col("opened").on(days) & da.col("x").matches(["a", "b"]))
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


def test_a_plan_has_its_limit(client: Any) -> None:
    ids = [str(number) for number in range(274)]
    days = da.days("2023-01-01", "2024-01-01")
    most = in_parts(1, client.scan_codes, ["id"], allocated_time=days, allocated_audience=ids[:273])
    assert count(most) == "99,645"
    with pytest.raises(da.ValidationError, match=r"365 x 274 .*100000", check=about("allocated_time")):
        in_parts(1, client.scan_codes, ["id"], allocated_time=days, allocated_audience=ids)
    start, stop = dt.date(1800, 1, 1), dt.date(2070, 1, 1)
    assert count(client.scan_codes(["id"], allocated_time=da.days(start, stop))) == f"{(stop - start).days:,}"
