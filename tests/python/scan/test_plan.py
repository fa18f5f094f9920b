"""Which requests a scan sends: one a day, and one for each part of a long list. Together they return each row once."""

from __future__ import annotations

import datetime as dt
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.arguments import about
from support.environment import in_parts

import dataaccess as da


def items(client: Any, where: Any, **options: Any) -> Any:
    return client.scan_items("store", ["x"], where, item_type_id=7, **options)


DAYS = da.days("2024-01-01", "2024-01-04")
X, Y, OPENED = da.col("x"), da.col("y"), da.col("opened")
RAW = {"column": "x", "data_type": "string", "operator": "matches", "value": ["a", "b", "c"]}
FIRST, SECOND, THIRD = (int(dt.datetime(2024, 1, day, tzinfo=dt.UTC).timestamp() * 1000) for day in (1, 2, 3))

# A condition on items, how many values a request has, and the values of the conditions of each request.
ITEMS: dict[str, tuple[Any, int, list[tuple[Any, ...]]]] = {
    "a list": (X.matches(["a", "b", "c"]), 2, [(["a", "b"],), (["c"],)]),
    "raw filters": ({"OR": [{"AND": [RAW]}]}, 2, [(["a", "b"],), (["c"],)]),
    "a value twice": (X.matches(list("abacab")), 2, [(["a", "b"],), (["c"],)]),
    "numbers twice": (X.matches([1, 1.0, 2, 2.5, 2]), 1, [([1],), ([2],), ([2.5],)]),
    "large numbers twice": (X.matches([2**63 - 1, 2.0**63, 2**63, 0, -0.0]), 1, [([2**63 - 1],), ([2.0**63],), ([0],)]),
    "texts that are no numbers": (X.matches(["1", "01", "1"]), 1, [(["1"],), (["01"],)]),
    "another operator": (X.op("not_matches", [3, 4], data_type="number"), 1, [([3, 4],)]),
    "each list": (
        X.matches(["a", "b", "c"]) & Y.matches([1, 2]) & da.col("z").equals("q"),
        2,
        [(["a", "b"], [1, 2], ["q"]), (["c"], [1, 2], ["q"])],
    ),
    "days first": (
        OPENED.on(da.days("2024-01-01", "2024-01-03")) & X.matches(["a", "b"]),
        1,
        [(FIRST, ["a"]), (FIRST, ["b"]), (SECOND, ["a"]), (SECOND, ["b"])],
    ),
    "each pair of days": (
        OPENED.on(da.days("2024-01-01", "2024-01-03")) & da.col("closed").on(da.days("2024-01-02", "2024-01-04")),
        9,
        [(FIRST, SECOND), (FIRST, THIRD), (SECOND, SECOND), (SECOND, THIRD)],
    ),
}


@pytest.mark.parametrize("name", ITEMS)
def test_a_condition_becomes_these_requests(client: Any, name: str) -> None:
    where, size, expected = ITEMS[name]
    groups = [request["body"]["filters"]["OR"] for request in in_parts(size, items, client, where).requests()]
    assert repr([tuple(each["value"] for each in group["AND"]) for (group,) in groups]) == repr(expected)


def test_a_range_of_days_is_a_request_a_day_as_listed(connect: Any) -> None:
    with da.Sandbox.demo(until="2024-02-29") as service:
        client = connect(service, concurrency=1)
        scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-04-01"), code_status="used")
        days = [dt.date(2024, 1, 1) + dt.timedelta(days=number) for number in range(31 + 29 + 31)]
        url = service.base_url + "/access/api/item/search"
        assert [(request["method"], request["url"]) for request in scan.requests()] == [("POST", url)] * len(days)
        assert [request["body"] for request in scan.requests()] == [
            client.validate_codes(["id"], allocated_time=da.on(day), code_status="used") for day in days
        ]
        assert count(scan) == "91"
        where = da.col("allocated_time").on(DAYS)
        codes = client.scan_items("promotion_code", ["id"], where)
        for same in (DAYS, da.on(DAYS)):
            assert codes.requests() == client.scan_codes(["id"], allocated_time=same).requests()
        who = ["demo-customer-0001", "demo-customer-0002", "demo-visitor-0001"]
        few = in_parts(2, client.scan_codes, ["id"], allocated_time=DAYS, allocated_audience=who)
        assert service.requests == []
        few.to_dicts()
        assert [request.body for request in service.requests] == [request["body"] for request in few.requests()]
        assert len(service.requests) == 6


def count(scan: Any) -> str:
    """The number of requests that a scan shows."""
    return repr(getattr(scan, "client", scan)).partition(" requests")[0].rpartition(", ")[2]


def test_a_plan_has_its_limit(client: Any) -> None:
    ids = [str(number) for number in range(274)]
    of_year = partial(in_parts, 1, client.scan_codes, ["id"], allocated_time=da.days("2023-01-01", "2024-01-01"))
    assert count(of_year(allocated_audience=ids[:273])) == "99,645"
    with pytest.raises(da.ValidationError, check=about("allocated_time")):
        of_year(allocated_audience=ids)
    start, stop = dt.date(1800, 1, 1), dt.date(2070, 1, 1)
    assert count(client.scan_codes(["id"], allocated_time=da.days(start, stop))) == f"{(stop - start).days:,}"


VALUE = "filters.OR[0].AND[0].value"


def problems_of(call: Any, *arguments: Any, **options: Any) -> list[tuple[str, str]]:
    """The place of each problem of a call."""
    with pytest.raises(da.ValidationError) as caught:
        call(*arguments, **options)
    problems = caught.value.problems
    message = "\n".join(caught.value.__notes__) if len(problems) > 1 else str(caught.value)
    assert all(problem.message in message for problem in problems)
    return [(problem.argument, problem.path) for problem in problems]


@pytest.mark.parametrize(
    "days",
    [
        da.days("soon", "2024-01-01"),
        da.days("2024-01-01", None),  # type: ignore[arg-type] # on purpose
        da.days(["2024-01-01"], "2024-01-02"),  # type: ignore[arg-type] # on purpose
        da.days("1700-01-01", "2024-01-01"),
        da.after(DAYS),  # type: ignore[arg-type] # on purpose
        da.op("equals", DAYS),  # type: ignore[arg-type] # on purpose
        # Each day of a week would be that week, and each of its rows would come seven times.
        da.op("equals", DAYS, unit="WEEK"),  # type: ignore[arg-type] # on purpose
        [da.on("2024-01-01")],
    ],
    ids=repr,
)
def test_a_range_that_is_invalid_is_reported_with_its_path(client: Any, days: Any) -> None:
    assert problems_of(client.scan_codes, ["id"], allocated_time=days) == [("allocated_time", VALUE)]


def test_a_range_belongs_to_times_of_one_group(client: Any) -> None:
    places = problems_of(client.scan_codes, allocated_time=DAYS, allocated_audience=DAYS, code_status=DAYS)
    assert places == [("allocated_audience", VALUE), ("code_status", VALUE.replace("AND[0]", "AND[1]"))]
    for where in (X.matches(DAYS), X.equals(DAYS), X.before(DAYS)):  # type: ignore[arg-type] # on purpose
        assert problems_of(items, client, where) == [("where", VALUE)]
    assert problems_of(items, client, OPENED.op("equals", DAYS, unit="WEEK"))  # type: ignore[arg-type] # on purpose
    either = X.equals("a") | (Y.equals("b") & OPENED.on(DAYS))
    assert problems_of(items, client, either) == [("where", "filters.OR[1].AND[1].value")]
    # One body is refused for days.
    assert problems_of(client.validate_codes, ["id"], allocated_time=DAYS) == [("allocated_time", VALUE)]


# The ids that a scan asked for and that no row has.


def customer(number: int) -> dict[str, Any]:
    return {"customer_id": f"c-{number:03}", "name": f"Name {number}", "number": number}


IDS = [f"c-{number:03}" for number in range(10)]


@pytest.fixture
def customers() -> Any:
    """The even ones of a hundred."""
    with da.Sandbox() as service:
        service.declare("customer", -1003, {"customer_id": "string", "name": "string", "number": "int64"})
        service.load("customer", [customer(number) for number in range(0, 100, 2)])
        yield service


def by_ids(client: Any, ids: list[str], **options: Any) -> Any:
    return client.scan_items("customer", ["customer_id", "name"], da.col("customer_id").matches(ids), **options)


@pytest.mark.filterwarnings("ignore::dataaccess.MissingIdsWarning")
@pytest.mark.parametrize("size", [3, 1_000])
def test_a_folder_that_is_read_has_the_ids_that_were_not_found(
    connect: Any, customers: da.Sandbox, tmp_path: Path, size: int
) -> None:
    scan = in_parts(size, by_ids, connect(customers), IDS)
    scan.to_folder(tmp_path)
    assert scan.read_folder(tmp_path).missing_ids() == IDS[1::2]
    # Of a refresh that finds one more.
    customers.load("customer", [customer(3)])
    scan.to_folder(tmp_path, refresh="all")
    assert scan.read_folder(tmp_path).missing_ids() == ["c-001", "c-005", "c-007", "c-009"]


@pytest.mark.filterwarnings("ignore::dataaccess.MissingIdsWarning")
@pytest.mark.parametrize("split", ["warn", "split"])
def test_a_response_that_is_cut_is_void(connect: Any, customers: da.Sandbox, split: Any) -> None:
    scan = in_parts(4, by_ids, connect(customers), IDS, on_suspected_cap=split)
    with customers.fault("cut", after_bytes=200, times=1):
        assert scan.collect().missing_ids() == IDS[1::2]


@pytest.mark.filterwarnings("ignore::dataaccess.MissingIdsWarning")
def test_days_are_looked_through_together(connect: Any) -> None:
    with da.Sandbox() as service:
        codes = [
            {"id": f"{day}", "allocated_time": f"2024-01-0{day} 08:00:00", "allocated_audience": f"a-{day}"}
            for day in (1, 2, 3)
        ]
        service.load("promotion_code", codes)
        given: Any = {"allocated_audience": ["a-1", "a-3", "a-9"], "code_status": ["sent", "used"]}
        scan = connect(service).scan_codes(["id", "allocated_audience", "allocated_time"], allocated_time=DAYS, **given)
        assert scan.collect().missing_ids() == ["a-1", "a-3", "a-9"]
        service.load("promotion_code", [{**code, "code_status": 3} for code in codes], replace=True)
        assert scan.collect().missing_ids() == ["a-9"]


@pytest.mark.filterwarnings("ignore::dataaccess.MissingIdsWarning")
def test_it_is_none_where_it_is_not_known(connect: Any, customers: da.Sandbox) -> None:
    ids, number = da.col("customer_id").matches(["c-000", "c-001"]), da.col("number")
    for attr, where, missing in (
        ("name", ids, None),
        ("customer_id", number.matches([0, 1]), None),
        ("customer_id", ids | number.matches([1, 2]), None),
        ("number", number.matches([0, 1, 2, 3]), ["1", "3"]),
    ):
        assert connect(customers).scan_items("customer", [attr], where).collect().missing_ids() == missing


def test_a_search_that_was_cut_names_the_ids_of_its_last_response(connect: Any, customers: da.Sandbox) -> None:
    with customers.fault("cut", after_bytes=200, times=1):
        # Warnings are errors here.
        connect(customers).search_items("customer", ["customer_id"], da.col("customer_id").matches(IDS[::2]))
