"""Ranges of days select the rows of these days, whatever the service compares; a wrong setting is warned of.

The oracle compares the instants of rows with the days of the client's zone. It knows nothing of requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import dataaccess as da

# Each reading of the service, and the setting that is right for it.
READINGS = {"exclusive": "exclusive", "instants": "exclusive", "inclusive": "inclusive"}
# In Havana the clocks skip the midnight of 2024-03-10.
ZONES = ["UTC", "Asia/Ho_Chi_Minh", "America/Havana"]
DAY = date(2024, 3, 10)
OPENED = da.col("opened")

# A condition of codes, the same of a column, and the first and the last day of its rows.
CASES: dict[str, tuple[Any, Any, date | None, date | None]] = {
    "since": (da.since(DAY), OPENED.since(DAY), DAY, None),
    "after": (da.after(DAY), OPENED.after(DAY), date(2024, 3, 11), None),
    "until": (da.until(DAY), OPENED.until(DAY), None, DAY),
    "before": (da.before(DAY), OPENED.before(DAY), None, date(2024, 3, 9)),
    "since-time": (da.since("2024-03-10 17:30"), OPENED.since("2024-03-10 17:30"), DAY, None),
    "after-time": (da.after("2024-03-10 17:30"), OPENED.after("2024-03-10 17:30"), date(2024, 3, 11), None),
    "until-time": (da.until("2024-03-10 17:30"), OPENED.until("2024-03-10 17:30"), None, DAY),
    "before-time": (da.before("2024-03-10 17:30"), OPENED.before("2024-03-10 17:30"), None, date(2024, 3, 9)),
    "on": (da.on(DAY), OPENED.on(DAY), DAY, DAY),
    "days": (da.days(DAY, "2024-03-13"), OPENED.on(da.days(DAY, "2024-03-13")), DAY, date(2024, 3, 12)),
    "month": (da.month("2024-03"), OPENED.on(da.month("2024-03")), date(2024, 3, 1), date(2024, 3, 31)),
    "last_days": (da.last_days(2), OPENED.on(da.last_days(2)), date(2024, 3, 9), DAY),
    "yesterday": (da.yesterday(), OPENED.on(da.yesterday()), DAY, DAY),
    "between": (None, OPENED.between(DAY, "2024-03-12"), DAY, date(2024, 3, 12)),
}


def instants(zone: str) -> list[datetime]:
    """Every hour of ten days, and the first and the last second of each day of the zone."""
    hours = [datetime(2024, 3, 5, tzinfo=UTC) + timedelta(hours=hour, seconds=7) for hour in range(240)]
    days = [datetime(2024, 3, number, tzinfo=ZoneInfo(zone)) for number in range(6, 15)]
    starts = [start.astimezone(UTC) for start in days]
    return sorted({*hours, *starts, *(start - timedelta(seconds=1) for start in starts)})


def text(instant: datetime) -> str:
    """A time as the service writes it."""
    return f"{instant:%Y-%m-%d %H:%M:%S}"


def expected(zone: str, first: date | None, last: date | None) -> list[str]:
    """The oracle: the times of the rows whose day in the zone is one of these."""
    local = ((instant, instant.astimezone(ZoneInfo(zone)).date()) for instant in instants(zone))
    return [text(at) for at, day in local if (first is None or first <= day) and (last is None or day <= last)]


@pytest.fixture(scope="module", params=[(reading, zone) for reading in READINGS for zone in ZONES], ids="-".join)
def platform(request: pytest.FixtureRequest) -> Iterator[tuple[da.Sandbox, str, str]]:
    """A service with each reading, which cuts its days in each zone."""
    reading, zone = request.param
    with serving(reading, zone) as service:
        yield service, READINGS[reading], zone


def serving(reading: str, zone: str) -> da.Sandbox:
    """A service with a code and a store for each instant."""
    service = da.Sandbox(switches={"day_comparison": reading, "day_zone": zone})
    times = [text(instant) for instant in instants(zone)]
    service.load("promotion_code", [{"id": time, "allocated_time": time} for time in times])
    service.declare("store", 7, {"store_id": "string", "opened": "datetime"})
    service.load("store", [{"store_id": time, "opened": time} for time in times])
    return service


def codes(client: Any, condition: Any) -> list[str]:
    return sorted(row["allocated_time"] for row in client.search_codes(["allocated_time"], allocated_time=condition))


def stores(client: Any, condition: Any) -> list[str]:
    scan = client.scan_items("store", ["opened"], condition, item_type_id=7)
    return sorted(row["opened"] for row in scan.to_dicts())


# The days of these tests have equal numbers of rows.
@pytest.mark.filterwarnings("ignore::dataaccess.IncompleteWarning")
@pytest.mark.parametrize("name", CASES)
def test_each_range_has_the_rows_of_its_days_with_the_right_setting(
    connect: Any, platform: Any, now: Callable[[str], None], name: str
) -> None:
    service, comparison, zone = platform
    # At noon of the day after `DAY`, at which yesterday is that day.
    now(datetime(2024, 3, 11, 12, tzinfo=ZoneInfo(zone)).isoformat())
    condition, of_column, first, last = CASES[name]
    client = connect(service, timezone=zone, day_comparison=comparison)
    rows = expected(zone, first, last)
    assert 0 < len(rows) < len(instants(zone)) or name == "month"
    if condition is not None:
        assert codes(client, condition) == rows
    assert stores(client, of_column) == rows


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(("reading", "setting"), [("inclusive", "exclusive"), ("exclusive", "inclusive")])
def test_the_other_setting_is_warned_of_by_each_call(connect: Any, zone: str, reading: str, setting: str) -> None:
    with serving(reading, zone) as service:
        client = connect(service, timezone=zone, day_comparison=setting)

        def check(use: Callable[..., Any], *arguments: Any) -> None:
            with pytest.warns(da.StrayDayWarning, match=rf'\bday_comparison \w+ "{reading}"') as caught:
                use(*arguments)
            assert len(caught) == 1

        for name in ("since", "after", "until", "before"):
            condition, of_column, *_ = CASES[name]
            check(codes, client, condition)
            check(stores, client, of_column)
            check(client.scan_codes(["id", "allocated_time"], allocated_time=condition).to_arrow)
        check(stores, client, CASES["between"][1])


def test_a_range_without_its_column_or_with_an_alternative_is_not_checked(connect: Any) -> None:
    # Warnings are errors here.
    with serving("inclusive", "UTC") as service:
        client = connect(service)
        assert client.search_codes(["id"], allocated_time=da.since(DAY))
        either = OPENED.since(DAY) | da.col("store_id").equals("2024-03-05 00:00:07")
        assert stores(client, either)
        assert codes(client, da.op("after_date", "2024-03-10T12:00", unit="DAY"))
    with serving("exclusive", "Asia/Ho_Chi_Minh") as service:
        client = connect(service)
        other = OPENED.on(DAY) | da.col("store_id").equals("2024-03-05 00:00:07")
        for attrs, where in (("store_id", OPENED.on(DAY)), ("opened", other)):
            assert client.search_items("store", [attrs], where, item_type_id=7)


def test_a_file_and_a_folder_say_so(connect: Any, tmp_path: Any) -> None:
    with serving("inclusive", "UTC") as service:
        scan = connect(service).scan_codes(["id", "allocated_time"], allocated_time=da.since(DAY))
        with pytest.warns(da.StrayDayWarning, match="day_comparison"):
            report = scan.to_folder(tmp_path / "folder")
        ((doubt,),) = (task.doubts for task in report.files)
        assert "range" in doubt
        assert report.doubtful_days == ["part-00000.parquet"]
        # Without a request too.
        with pytest.warns(da.StrayDayWarning, match="day_comparison"):
            assert scan.read_folder(tmp_path / "folder").num_rows == report.rows
        with pytest.raises(da.ScanIncompleteError):
            scan.to_folder(tmp_path / "refused", on_doubt="error")
        with pytest.raises(da.DoubtfulDataError):
            scan.to_parquet(tmp_path / "codes.parquet", on_doubt="error")


def test_today_is_read_when_the_search_or_scan_is_made(connect: Any, sandbox: da.Sandbox, now: Any) -> None:
    now("2024-01-16T20:00+00:00")
    client = connect(sandbox)

    def search(condition: Any, of: Any = client) -> Any:
        return of.validate_codes(allocated_time=condition)

    scan = client.scan_codes(["id"], allocated_time=da.last_days(2))
    yesterday, vietnam = search(da.yesterday()), connect(sandbox, timezone="Asia/Ho_Chi_Minh")
    assert search(da.yesterday(), vietnam) == search(da.on("2024-01-16"), vietnam)
    # Another day begins.
    now("2024-01-17T01:00+00:00")
    assert scan.requests() == client.scan_codes(["id"], allocated_time=da.days("2024-01-14", "2024-01-16")).requests()
    assert yesterday == search(da.on("2024-01-15"))
    assert search(da.yesterday()) == search(da.on("2024-01-16"))


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


def stores_of(client: Any, where: Any) -> Any:
    return client.search_items("store", ["store_id", "opened"], where, item_type_id=7)


EARLY = [text(at) for at in instants("Asia/Ho_Chi_Minh") if text(at) < "2024-03-10 02"]

SEARCHES: dict[str, Callable[[Any], Any]] = {
    "search_codes": lambda client: client.search_codes(["allocated_time"], allocated_time=da.on(DAY)),
    "search_codes-days": lambda client: client.search_codes(
        ["allocated_time"], allocated_time=da.days(DAY, "2024-03-11")
    ),
    "search_items-codes": lambda client: client.search_items(
        "promotion_code", ["allocated_time"], da.col("allocated_time").on(DAY)
    ),
    "search_items": lambda client: stores_of(client, OPENED.on(DAY)),
    "search_items-and": lambda client: stores_of(client, OPENED.on(DAY) & da.col("store_id").matches(EARLY)),
    "search_items-or": lambda client: stores_of(client, OPENED.on(DAY) | OPENED.on("2024-03-11")),
    "scan_items": lambda client: client.scan_items("store", ["opened"], OPENED.on(DAY), item_type_id=7).to_polars(),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_rows_of_another_day_are_warned_of_with_the_zone_of_the_service(connect: Any, name: str) -> None:
    stray = rf"{'allocated_time' if 'codes' in name else 'opened'} 2024-03-09 17:\d\d:\d\d \w+ \d{{4}}-"
    zone = "" if name == "search_items-and" else r".*\bUTC\+07:00 "
    with serving("exclusive", "Asia/Ho_Chi_Minh") as vietnam:
        with pytest.warns(da.StrayDayWarning, match=stray + zone) as caught:
            assert len(SEARCHES[name](connect(vietnam)))
        assert len(caught) == 1
        assert len(SEARCHES[name](connect(vietnam, timezone="Asia/Ho_Chi_Minh")))
