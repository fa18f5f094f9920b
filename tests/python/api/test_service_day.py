"""`check(day)` finds where a day of the service ends by which rows come, in few searches, and never a wrong offset."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.raw_server import always, http, serving

import dataaccess as da
from dataaccess._client.service_day import DaySearch, ServiceDay

DAY = "2024-01-15"
MOST_REQUESTS = 20
QUARTER = timedelta(minutes=15)
ROW = {"id": "a", "allocated_time": "2024-01-15 12:00:00", "audience_type": -1003, "allocated_audience": "c-1"}


def milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000)


def served_day(zone: str, times: list[datetime]) -> da.Sandbox:
    """A sandbox that cuts its days in this zone, with a code without an audience at each time."""
    sandbox = da.Sandbox(switches={"day_zone": zone})
    rows = [
        {"id": f"code-{number}", "allocated_time": f"{time:%Y-%m-%d %H:%M:%S}"} for number, time in enumerate(times)
    ]
    sandbox.load("promotion_code", rows)
    return sandbox


@pytest.mark.parametrize(
    ("switches", "offsets"),
    [
        ({"day_zone": "America/New_York"}, ["UTC-05:00", "UTC-03:00"]),
        ({"day_zone": "Asia/Kolkata"}, ["UTC+05:30", "UTC+06:30"]),
        ({"day_zone": "Asia/Ho_Chi_Minh"}, ["UTC+07:00"]),
        # The times are not of UTC.
        ({"day_zone": "America/New_York", "source_timezone": "America/New_York"}, []),
    ],
)
def test_a_stray_day_names_all_offsets_that_its_rows_allow(
    connect: Any, switches: dict[str, Any], offsets: list[str]
) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches=switches) as sandbox, pytest.warns(da.StrayDayWarning) as caught:
        connect(sandbox).search_codes(allocated_time=da.on(DAY))
    (warning,) = caught
    assert re.findall(r"UTC[+-]\d\d:\d\d", str(warning.message)) == offsets
    assert "check(day)" in str(warning.message)


LOCAL = "Asia/Ho_Chi_Minh"


@pytest.mark.parametrize("timezone", ["UTC", LOCAL])
@pytest.mark.parametrize("source_timezone", ["UTC", LOCAL])
def test_a_platform_that_writes_its_own_times_has_a_right_setting(
    connect: Any, timezone: str, source_timezone: str
) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"day_zone": LOCAL, "source_timezone": LOCAL}) as sandbox:
        check = connect(sandbox, timezone=timezone, source_timezone=source_timezone).check(DAY)
    assert check.answers["timezone"].is_right is (timezone == LOCAL)
    assert check.answers["source_timezone"].is_right is (source_timezone == LOCAL)
    # The sign of such a zone is inverted.
    assert {check.settings["timezone"], check.settings["source_timezone"]} <= {LOCAL, "Etc/GMT-7"}


@pytest.mark.parametrize("day", ["2024-03-30", "2024-03-31", "2024-10-26", "2024-10-27", "2024-07-01"])
@pytest.mark.parametrize("timezone", ["Europe/Berlin", "UTC"])
def test_clock_changes_do_not_matter(connect: Any, day: str, timezone: str) -> None:
    """Berlin has a day of 23 hours, and one of 25."""
    noon = datetime.fromisoformat(f"{day}T12:00+00:00")
    times = [noon + number * QUARTER for number in range(-4 * 48, 4 * 48)]
    with served_day("Europe/Berlin", times) as sandbox:
        check = connect(sandbox, timezone=timezone).check(day)
        assert len(sandbox.requests) <= MOST_REQUESTS
    assert check.answers["timezone"].is_right is (timezone == "Europe/Berlin"), check.answers["timezone"].detail
    if timezone == "UTC":
        assert "Europe/Berlin" in check.answers["timezone"].detail


@given(
    quarters=st.integers(1, 99),
    sent=st.integers(0, 10_000).map(lambda number: 1_705_276_800_000 + number * 900_000),
)
def test_the_end_is_found_in_few_searches(quarters: int, sent: int) -> None:
    end = sent + quarters * 900_000
    search, count = DaySearch(sent, [ROW]), 0
    while (instant := search.instant) is not None:
        count += 1
        search.add(["a"] if milliseconds(instant) < end else ["b"])
    assert (search.end, search.problem) == (end, None)
    assert count <= 8


def test_a_day_of_25_hours_is_found() -> None:
    search, count = DaySearch(0, [ROW]), 0
    while (instant := search.instant) is not None:
        count += 1
        search.add(["a"] if milliseconds(instant) < 25 * 3_600_000 else [])
    assert search.end == 25 * 3_600_000
    assert count <= 8


def test_a_service_that_ignores_the_day_is_no_finding(connect: Any) -> None:
    rows = {"code": 200, "message": "", "data": {"status": True, "data": [ROW]}}
    with serving(always(http(rows))) as server:
        check = connect(server.base_url).check(DAY)
        assert len(server.requests) <= MOST_REQUESTS
    assert check.answers["timezone"].is_right is None
    assert " 25 hours " in check.answers["timezone"].detail


def day_ending(zone: str, local: str, times: list[str]) -> ServiceDay:
    """A day that ends at this local midnight."""
    end = datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone))
    return ServiceDay(milliseconds(end), times)


@pytest.mark.parametrize(
    ("times", "in_utc", "in_own"),
    [
        (["2024-01-14 17:00:00", "2024-01-15 16:59:59"], True, False),
        (["2024-01-15 00:00:00", "2024-01-15 23:59:59"], False, True),
        (["2024-01-15 01:00:00", "2024-01-15 16:59:59"], True, True),
        (["2024-01-15 01:00:00", "2024-01-16 01:00:00"], False, False),
    ],
)
def test_the_zone_of_records_is_read_from_a_day_whose_end_is_known(
    times: list[str],
    in_utc: bool,
    in_own: bool,
) -> None:
    day = day_ending("Asia/Ho_Chi_Minh", "2024-01-16", times)
    assert (day.has_times_of("UTC"), day.has_own_times) == (in_utc, in_own)


def test_the_dates_of_records_tell_zones_apart_that_cut_the_same_days() -> None:
    times = ["2024-01-15 00:00:00", "2024-01-15 23:59:59"]
    assert day_ending("Pacific/Auckland", "2024-01-16", times).zone_named("UTC") == "Etc/GMT-13"
    assert day_ending("Pacific/Pago_Pago", "2024-01-16", times).zone_named("UTC") == "Etc/GMT+11"
    assert day_ending("Pacific/Auckland", "2024-01-16", []).zone_named("UTC") is None
    assert day_ending("Pacific/Auckland", "2024-01-16", []).zone_named("Pacific/Pago_Pago") == "Pacific/Pago_Pago"


def test_an_offset_is_named_without_a_guess_about_clock_changes() -> None:
    assert day_ending("America/New_York", "2024-01-16", []).zone_named("UTC") == "Etc/GMT+5"
    assert day_ending("Asia/Kolkata", "2024-01-16", []).zone_named("UTC") == "Asia/Kolkata"
    assert day_ending("Australia/Adelaide", "2024-07-16", []).zone_named("UTC") == "Australia/Darwin"
    assert day_ending("Africa/Abidjan", "2024-01-16", []).zone_named("UTC") == "UTC"


def test_times_of_no_known_zone_leave_an_interval_of_offsets() -> None:
    day = day_ending("UTC", "2024-01-16", ["2024-01-15 03:00:00", "2024-01-16 01:30:00"])
    assert day.record_offsets == "UTC+01:30 to UTC+03:00"
    assert datetime.fromtimestamp(day.start / 1_000, UTC) == datetime(2024, 1, 15, tzinfo=UTC)
