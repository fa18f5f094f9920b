"""A platform that cuts days in its own zone loses the first or last day of a range: `StrayDayWarning`, on any weekday.

Source: API specification 2.4: the zone of DAY is not shown.
"""

from __future__ import annotations

from typing import Any

import pytest

import dataaccess as da

WEST, EAST = "America/Lima", "Asia/Ho_Chi_Minh"
ATTRS = ["id", "allocated_time"]


def service(zone: str) -> da.Sandbox:
    return da.Sandbox.demo(until="2024-02-29", switches={"day_zone": zone, "source_timezone": zone})


@pytest.mark.parametrize("day", ["2024-01-19", "2024-01-20", "2024-01-21", "2024-01-22"])
@pytest.mark.parametrize(("zone", "condition"), [(WEST, da.until), (EAST, da.since)])
def test_the_day_at_the_end(zone: str, condition: Any, day: str) -> None:
    with service(zone) as platform, pytest.warns(da.StrayDayWarning, match=rf"\b{day}\b"):
        platform.client().search_codes(ATTRS, allocated_time=condition(day))


def test_the_day_before_and_a_range_of_items() -> None:
    with service(WEST) as platform, pytest.warns(da.StrayDayWarning, match="2024-01-21"):
        platform.client().search_codes(ATTRS, allocated_time=da.before("2024-01-22"))
    with da.Sandbox(switches={"day_zone": WEST, "source_timezone": WEST}) as platform:
        platform.declare("visit", 7, {"time": "timestamp"})
        platform.load(
            "visit", [{"time": f"2024-01-{day:02} {hour:02}:30:00"} for day in range(8, 23) for hour in range(24)]
        )
        client = platform.client(item_types={"visit": {"id": 7, "attributes": {"time": "timestamp"}}})
        with pytest.warns(da.StrayDayWarning, match="2024-01-20|2024-01-09"):
            client.search_items("visit", ["time"], da.col("time").between("2024-01-10", "2024-01-20"))


@pytest.mark.parametrize("zone", [WEST, EAST])
def test_with_the_right_zone_nothing_is_reported(zone: str) -> None:
    with service(zone) as platform:
        client = platform.client(timezone=zone, source_timezone=zone)
        for condition in (da.until, da.since):
            # Warnings are errors in tests.
            rows = client.search_codes(ATTRS, allocated_time=condition("2024-01-21"))
            assert any(row["allocated_time"].startswith("2024-01-21") for row in rows)
