"""Days that are not over: each run requests them again until they are final, and says so. Stories with a clock."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.runs import numbers_in, parts

import dataaccess as da
from dataaccess.cli import main

WEEK = da.days("2024-01-01", "2024-01-06")
FRIDAY = "2024-01-05"


def codes(day: str, hour: int, count: int) -> list[dict[str, Any]]:
    """Codes that were allocated within an hour."""
    return [{"id": f"{day}-{hour}-{number}", "allocated_time": f"{day} {hour:02}:30:00"} for number in range(count)]


@pytest.fixture
def noon() -> Any:
    """A service at Friday noon, with codes of five days; those of Friday afternoon are not there yet."""
    with da.Sandbox(now=f"{FRIDAY}T12:00") as service:
        for day in range(1, 6):
            service.load("promotion_code", codes(f"2024-01-0{day}", 9, 10 * day))
        yield service


def week(client: Any, **options: Any) -> Any:
    """The scan of the week."""
    return client.scan_codes(["id", "allocated_time"], allocated_time=WEEK, **options)


@pytest.mark.both_clients
def test_a_day_that_was_not_over_is_requested_again(connect: Any, noon: da.Sandbox, tmp_path: Path) -> None:
    scan = week(connect(noon))
    report = scan.to_folder(tmp_path)
    assert (report.rows, report.open_days, report.new) == (150, [FRIDAY], 5)
    assert numbers_in(str(report).partition("open:")[2])[:2] == ["1", FRIDAY]
    noon.load("promotion_code", codes(FRIDAY, 19, 100))
    noon.clear_requests()
    noon.advance(timedelta(hours=13))
    report = scan.to_folder(tmp_path)
    assert (report.rows, report.open_days) == (250, [])
    assert (report.new, report.kept, report.refreshed, len(noon.requests)) == (0, 4, 1, 1)
    assert [f"{task.requested_at:%d %H}" for task in report.files] == [*["05 12"] * 4, "06 01"]
    assert scan.to_folder(tmp_path).kept == 5


@pytest.mark.parametrize(
    ("hours", "settle", "state"),
    [
        (11.9, 0, "open"),
        (12.1, 0, "final"),
        (11.9, timedelta(hours=1), "open"),
        (12.9, timedelta(hours=1), "unsettled"),
        (13.1, timedelta(hours=1), "final"),
        (35.9, 1, "unsettled"),
        (36.1, 1, "final"),
    ],
)
def test_a_day_is_final_after_its_end_and_the_time_to_settle(
    connect: Any, noon: da.Sandbox, tmp_path: Path, hours: float, settle: Any, state: str
) -> None:
    noon.advance(timedelta(hours=hours))
    scan = week(connect(noon))
    report = scan.to_folder(tmp_path, settle=settle)
    assert report.open_days == ([FRIDAY] if state == "open" else [])
    assert report.unsettled_days == ([FRIDAY] if state == "unsettled" else [])
    assert scan.to_folder(tmp_path, settle=settle).refreshed == (state != "final")
    # Another time to settle holds for what is there, too.
    assert scan.to_folder(tmp_path, settle=timedelta(days=30)).refreshed == 5
    assert scan.to_folder(tmp_path, settle=0).kept >= 4


@pytest.mark.filterwarnings("ignore::dataaccess.StrayDayWarning")
@pytest.mark.parametrize(("zone", "days"), [("Asia/Tokyo", []), ("UTC", [FRIDAY]), ("America/Lima", [FRIDAY])])
def test_a_day_ends_in_the_zone_of_the_client(
    connect: Any, noon: da.Sandbox, tmp_path: Path, zone: str, days: list[str]
) -> None:
    noon.advance(timedelta(hours=5))
    assert week(connect(noon, timezone=zone)).to_folder(tmp_path).open_days == days


def test_days_of_codes_that_have_not_begun_are_not_requested(connect: Any, tmp_path: Path) -> None:
    today = datetime.now(UTC).date()
    days = [today + timedelta(days=number) for number in range(-2, 4)]
    with da.Sandbox() as service:
        scan = connect(service).scan_codes(["id"], allocated_time=da.days(days[0], days[-1] + timedelta(days=1)))
        report = scan.to_folder(tmp_path)
        # It may be midnight by now.
        assert [task.day for task in report.files] == [str(day) for day in days[: len(report.files)]]
        assert len(report.files) == len(service.requests) in (3, 4)
        assert report.open_days[-4:] == [str(day) for day in days[-4:]]
        assert len(scan.read_folder(tmp_path, missing="ignore")) == 0


def test_the_plan_names_days_that_are_not_over(connect: Any) -> None:
    # The clock of this machine counts before anything is sent.
    today = datetime.now(UTC).date()
    client = connect("https://cdp.example.com", token="tok", timezone="Etc/GMT+12")
    scan = client.scan_codes(["id"], allocated_time=da.days(today - timedelta(days=3), today + timedelta(days=2)))
    assert re.search(rf"not over: +[23] days: .*{today}, {today + timedelta(days=1)}$", scan.explain())
    assert f"{today}" in scan._repr_html_()
    old = client.scan_codes(["id", "allocated_time"], allocated_time=WEEK)
    assert "not over" not in old.explain() + old._repr_html_()


def test_the_command_names_days_that_are_not_over(noon: da.Sandbox, tmp_path: Path, capfd: Any) -> None:
    days = ("--days", "2024-01-01", "2024-01-06")
    words = ["codes", *days, "--attrs", "id", "--folder", str(tmp_path / "codes")]
    environment = {"DATAACCESS_BASE_URL": noon.base_url, "DATAACCESS_TOKEN": noon.issue_token()}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        assert main(words) == 0
        assert FRIDAY in capfd.readouterr().err
        noon.advance(timedelta(hours=12.5))
        assert main([*words, "--json", "--settle", "2h"]) == 0
        report = json.loads(capfd.readouterr().out)
        assert (report["open_days"], report["unsettled_days"]) == ([], [FRIDAY])
        assert main([*words, "--settle", "10m"]) == 0
        assert "not over" not in capfd.readouterr().err
        assert main([*words, "--settle", "20d", "--explain"]) == 0
        assert "not over" not in capfd.readouterr().out


def test_times_of_other_objects_may_be_in_the_future(connect: Any, tmp_path: Path) -> None:
    today = datetime.now(UTC).date()
    with da.Sandbox() as service:
        service.declare("event", 7, {"begins": "timestamp"})
        service.load("event", [{"begins": f"{today + timedelta(days=2)} 12:00:00"}])
        days = da.col("begins").on(da.days(today, today + timedelta(days=3)))
        scan = connect(service).scan_items("event", ["begins"], days, item_type_id=7, schema={"begins": "timestamp"})
        report = scan.to_folder(tmp_path)
        assert (report.rows, len(report.files), len(report.open_days)) == (1, 3, 3)


@pytest.mark.filterwarnings("ignore::dataaccess.EmptyResultWarning")
def test_the_earlier_clock_counts(connect: Any, tmp_path: Path) -> None:
    """The clock of the service may be years ahead, and that of this machine too."""
    today = datetime.now(UTC).date()
    with da.Sandbox(now=datetime.now(UTC) + timedelta(days=700)) as service:
        days = da.days(today - timedelta(days=3), today + timedelta(days=1))
        report = connect(service).scan_codes(["id"], allocated_time=days).to_folder(tmp_path, settle=0)
        assert report.open_days in ([], [str(today)])
        assert abs(report.files[0].requested_at - datetime.now(UTC)) < timedelta(minutes=5)


def test_an_open_day_that_cannot_be_requested_again_keeps_its_file(
    connect: Any, noon: da.Sandbox, tmp_path: Path
) -> None:
    scan = week(connect(noon, retry_for=0))
    scan.to_folder(tmp_path)
    before = [path.read_bytes() for path in parts(tmp_path)]
    noon.advance(timedelta(days=1))
    with noon.fault("status", status=400), pytest.raises(da.ScanIncompleteError, match=FRIDAY) as caught:
        scan.to_folder(tmp_path)
    report = caught.value.report
    assert report is not None
    # It is over by now, but its file is not of a time after that.
    assert (report.open_days, report.missing_days, report.kept, report.rows) == ([FRIDAY], [], 5, 150)
    assert [path.read_bytes() for path in parts(tmp_path)] == before
    assert len(scan.read_folder(tmp_path)) == 150


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::dataaccess.EmptyResultWarning")
def test_a_day_is_open_until_it_is_over_in_its_zone(tmp_path_factory: pytest.TempPathFactory) -> None:
    zones = ["UTC", "Asia/Ho_Chi_Minh", "America/New_York", "Pacific/Apia", "Europe/Berlin"]
    moments = st.datetimes(datetime(2023, 10, 27), datetime(2023, 11, 7), timezones=st.just(UTC))  # noqa: DTZ001

    @settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
    @given(moments, st.sampled_from(zones), st.integers(0, 48))
    def check(now: datetime, zone: str, hours: int) -> None:
        days = [date(2023, 10, 27) + timedelta(days=number) for number in range(12)]
        with da.Sandbox(now=now) as service:
            scan = service.client(timezone=zone).scan_codes(["id"], allocated_time=da.days(days[0], days[-1]))
            report = scan.to_folder(tmp_path_factory.mktemp("days"), settle=timedelta(hours=hours))
        ends = {day: datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone)) for day in days}
        # `Date` has whole seconds.
        ages = [now.replace(microsecond=0) - ends[following].astimezone(UTC) for following in days[1:]]
        is_open = [age < timedelta() for age in ages]
        assert report.open_days == [str(day) for day, open_ in zip(days, is_open, strict=False) if open_]
        unsettled = [timedelta() <= age < timedelta(hours=hours) for age in ages]
        assert report.unsettled_days == [str(day) for day, is_new in zip(days, unsettled, strict=False) if is_new]

    check()
