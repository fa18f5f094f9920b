"""The rows of `search_codes` (section 4.2) and of `search_items` (section 4.1), and warnings of rows of other days."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from typing import Any

import pytest

import dataaccess as da

ALL = ["id", "name", "pool_id", "date_created", "allocated_time", "allocated_audience"]
ALL += ["audience_type", "code_status", "last_used_source", "last_used_time"]
ONE, TWO = "demo-customer-0001", "demo-customer-0002"


def test_every_attribute_but_channel_id_comes_by_default_as_on_the_wire(client: Any) -> None:
    rows = client.search_codes(allocated_time=da.after("2024-01-01"))
    assert all(list(row) == ALL for row in rows)
    assert json.loads(json.dumps(rows)) == rows
    used, sent = ([row for row in rows if row["code_status"] == status] for status in (4, 3))
    assert used
    assert sent
    assert all(isinstance(row["pool_id"], int) for row in rows)
    assert any(not row["name"].isascii() for row in rows)
    assert all(dt.datetime.fromisoformat(row["allocated_time"]) for row in rows)
    assert all(row["last_used_time"] is not None for row in used)
    assert all(row["last_used_time"] is None and row["last_used_source"] is None for row in sent)


def test_available_codes_that_are_not_found_say_why(connect: Any) -> None:
    row = {"name": "a code", "code_status": 1}
    with da.Sandbox() as service:
        service.load("promotion_code", [{**row, "id": "new"}])
        client = connect(service)
        scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-04"), code_status="available")
        searched = {"allocated_time": da.since("2024-01-01"), "code_status": ["available"]}
        for use in (lambda: client.search_codes(["id"], **searched), scan.to_dicts, scan.collect):
            with pytest.warns(da.EmptyResultWarning, match=r"\ballocated_time\b") as caught:
                assert len(use()) == 0
            assert len(caught) == 1
        # With another status, and once there is one, nothing is said.
        assert (
            client.search_codes(["id"], allocated_time=da.since("2024-01-01"), code_status=["available", "used"]) == []
        )
        service.load("promotion_code", [{**row, "id": "back", "allocated_time": "2024-01-02 10:00:00"}])
        assert [row["id"] for row in client.search_codes(["id"], **searched)] == ["back"]


def test_limit_cuts_and_the_client_stays_usable(client: Any) -> None:
    everything = client.search_codes(["id"], allocated_time=da.after("2024-01-01"))
    for limit in (1, 7, len(everything), len(everything) + 1):
        rows = client.search_codes(["id"], allocated_time=da.after("2024-01-01"), limit=limit)
        assert rows == everything[:limit]


def test_days_are_all_requests_with_the_rows_in_order(client: Any, sandbox: da.Sandbox) -> None:
    attrs = ["id", "allocated_time"]
    each = [client.search_codes(attrs, allocated_time=da.on(f"2024-01-{day}")) for day in (14, 15, 16)]
    before = len(sandbox.requests)
    rows = client.search_codes(attrs, allocated_time=da.days("2024-01-14", "2024-01-17"))
    assert rows == [row for day in each for row in day]
    assert len(sandbox.requests) - before == 3
    assert client.search_codes(attrs, allocated_time=da.on(da.days("2024-01-14", "2024-01-17")), limit=80) == rows[:80]


def test_validate_codes_takes_no_range_of_days(client: Any) -> None:
    with pytest.raises(da.ValidationError):
        client.validate_codes(allocated_time=da.days("2024-01-01", "2024-02-01"))


def test_either_side_of_or_is_enough_and_both_of_and_are_needed(client: Any) -> None:
    one, two = da.col("customer_id").equals(ONE), da.col("customer_id").equals(TWO)
    ids = ["customer_id"]
    assert len(client.search_items("customer", ids, one | two)) == 2
    assert client.search_items("customer", ids, one & two) == []
    name = client.search_items("customer", ["name"], one)[0]["name"]
    assert len(client.search_items("customer", ids, one & da.col("name").equals(name))) == 1


def test_without_a_where_every_record_is_asked_for(client: Any) -> None:
    everything: dict[str, Any] = {"OR": [{"AND": []}]}
    ids = [f"demo-customer-{number:04}" for number in range(1, 2_026)]
    for arguments in [(), (None,), (everything,)]:
        assert client.validate_items("customer", ["customer_id"], *arguments)["filters"] == everything
        scan = client.scan_items("customer", ["customer_id"], *arguments)
        (task,) = scan.tasks()
        found = [client.search_items("customer", ["customer_id"], *arguments), scan.to_dicts(), task.to_dicts()]
        assert [[row["customer_id"] for row in rows] for rows in found] == [ids] * 3


def test_attributes_may_travel_as_text(client: Any) -> None:
    where = da.col("customer_id").equals(ONE)
    as_text = client.with_options(attrs_format="string").search_items("customer", ["customer_id", "name"], where)
    assert as_text == client.search_items("customer", ["customer_id", "name"], where)
    assert list(as_text[0]) == ["customer_id", "name"]


def test_promotion_codes_are_found_by_the_generic_call(client: Any) -> None:
    where = da.col("allocated_time").on("2024-01-15") & da.col("code_status").matches([4])
    rows = client.search_items("promotion_code", ["id"], where)
    assert rows == client.search_codes(["id"], allocated_time=da.on("2024-01-15"), code_status="used")


def test_an_unknown_object_is_refused_by_the_service_in_its_own_words(client: Any) -> None:
    with pytest.raises(da.RequestRejectedError) as caught:
        client.search_items("voucher", ["id"], da.col("id").equals("x"), item_type_id=-7)
    assert caught.value.status == 404
    assert caught.value.api_message


HOURS = [f"2024-01-{day} {hour:02}:30:00" for day in (14, 15, 16, 17) for hour in range(24)]
OPENED = da.col("opened")


@pytest.fixture(scope="module")
def vietnam() -> Any:
    """A service that cuts its days in Vietnam, with a code and a store for each hour of four days."""
    with da.Sandbox(switches={"day_zone": "Asia/Ho_Chi_Minh"}) as service:
        codes = [{"id": time, "name": "n", "allocated_time": time, "code_status": 3} for time in HOURS]
        service.load("promotion_code", codes)
        service.declare("store", 7, {"store_id": "string", "opened": "datetime"})
        service.load("store", [{"store_id": time, "opened": time} for time in HOURS])
        yield service


def stores(client: Any, where: Any, attrs: tuple[str, ...] = ("store_id", "opened")) -> Any:
    return client.search_items("store", list(attrs), where, item_type_id=7)


ALLOCATED = da.col("allocated_time")

SEARCHES: dict[str, Callable[[Any], Any]] = {
    "search_codes": lambda client: client.search_codes(["allocated_time"], allocated_time=da.on("2024-01-15")),
    "search_codes-days": lambda client: client.search_codes(
        ["allocated_time"], allocated_time=da.days("2024-01-15", "2024-01-16")
    ),
    "search_items-codes": lambda client: client.search_items(
        "promotion_code", ["allocated_time"], ALLOCATED.on("2024-01-15")
    ),
    "search_items": lambda client: stores(client, OPENED.on("2024-01-15")),
    "search_items-and": lambda client: stores(
        client, OPENED.on("2024-01-15") & da.col("store_id").matches([time for time in HOURS if time < "2024-01-15 02"])
    ),
    "search_items-or": lambda client: stores(client, OPENED.on("2024-01-15") | OPENED.on("2024-01-16")),
    "scan_items": lambda client: client.scan_items(
        "store", ["opened"], OPENED.on("2024-01-15"), item_type_id=7
    ).to_polars(),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_rows_of_another_day_are_warned_of_with_the_zone_of_the_service(connect: Any, vietnam: Any, name: str) -> None:
    codes = name.startswith("search_codes") or name == "search_items-codes"
    stray = rf"{'allocated_time' if codes else 'opened'} 2024-01-14 17:\d\d:\d\d \w+ \d{{4}}-"
    zone = "" if name == "search_items-and" else r".*\bUTC\+07:00 "
    with pytest.warns(da.StrayDayWarning, match=stray + zone) as caught:
        assert len(SEARCHES[name](connect(vietnam)))
    assert len(caught) == 1
    assert len(SEARCHES[name](connect(vietnam, timezone="Asia/Ho_Chi_Minh")))


UNCHECKED = {
    "without the column": lambda client: stores(client, OPENED.on("2024-01-15"), ("store_id",)),
    "a group without a day": lambda client: stores(
        client, OPENED.on("2024-01-15") | da.col("store_id").equals("2024-01-17 10:30:00")
    ),
}


@pytest.mark.parametrize("name", UNCHECKED)
def test_only_days_that_every_row_must_be_of_are_checked(connect: Any, vietnam: Any, name: str) -> None:
    assert UNCHECKED[name](connect(vietnam))
