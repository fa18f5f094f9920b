"""The rows of `search_codes` (section 4.2) and of `search_items` (section 4.1), and warnings of rows of other days."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import dataaccess as da


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
