"""Three platforms with the settings that a check finds: right rows in every form, against an oracle by instant."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import polars as pl
import pytest

import dataaccess as da
from dataaccess._sandbox.options import PLATFORMS

DAY = date(2024, 2, 10)
ATTRS = ["id", "allocated_time"]
# What each condition selects of local days. It is then 2024-02-20 everywhere.
CONDITIONS: dict[str, tuple[Callable[[], Any], Callable[[date], bool]]] = {
    "on": (lambda: da.on(DAY), lambda day: day == DAY),
    "days": (lambda: da.days(DAY, date(2024, 2, 14)), lambda day: DAY <= day < date(2024, 2, 14)),
    "month": (lambda: da.month("2024-01"), lambda day: (day.year, day.month) == (2024, 1)),
    "last_days": (lambda: da.last_days(7), lambda day: date(2024, 2, 13) <= day < date(2024, 2, 20)),
    "yesterday": (lambda: da.yesterday(), lambda day: day == date(2024, 2, 19)),
    "since": (lambda: da.since(DAY), lambda day: day >= DAY),
    "until": (lambda: da.until(DAY), lambda day: day <= DAY),
    "after": (lambda: da.after(DAY), lambda day: day > DAY),
    "before": (lambda: da.before(DAY), lambda day: day < DAY),
}


class Platform(NamedTuple):
    """A platform, and the settings that a check found there."""

    sandbox: da.Sandbox
    settings: dict[str, Any]
    zone: ZoneInfo


@pytest.fixture(scope="module")
def instants() -> dict[str, datetime]:
    """When each code was allocated."""
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        rows = sandbox.client().search_codes(ATTRS, allocated_time=da.since("2020-01-01"))
    return {row["id"]: datetime.fromisoformat(row["allocated_time"]).replace(tzinfo=UTC) for row in rows}


@pytest.fixture(scope="module", params=PLATFORMS)
def platform(request: pytest.FixtureRequest) -> Iterator[Platform]:
    with da.Sandbox.demo(until="2024-02-29", platform=request.param) as sandbox:
        settings = sandbox.client().check(date(2024, 1, 15), 5637054).settings
        yield Platform(sandbox, dict(settings), ZoneInfo(PLATFORMS[request.param].get("day_zone", "UTC")))


@pytest.mark.parametrize("name", CONDITIONS)
def test_each_range_has_its_rows_in_every_form(
    platform: Platform, name: str, instants: dict[str, datetime], tmp_path: Any, now: Callable[[str], None]
) -> None:
    now("2024-02-20T03:00:00Z")
    condition, is_selected = CONDITIONS[name]
    expected = {code for code, time in instants.items() if is_selected(time.astimezone(platform.zone).date())}
    assert expected
    client = platform.sandbox.client(**platform.settings)
    # Warnings are errors in tests.
    scan = client.scan_codes(ATTRS, allocated_time=condition())
    found = {
        "search": {row["id"] for row in client.search_codes(ATTRS, allocated_time=condition())},
        "rows": {row["id"] for row in scan.to_dicts()},
        "polars": set(scan.to_polars()["id"]),
        "lazy": set(scan.to_lazyframe().collect()["id"]),
        "capsule": set(pl.DataFrame(scan)["id"]),
    }
    report = scan.to_folder(tmp_path)
    found["folder"] = set(scan.read_folder(tmp_path)["id"])
    assert {form: ids ^ expected for form, ids in found.items()} == {form: set() for form in found}
    assert (report.rows, report.warnings, report.doubtful_days) == (len(expected), [], [])
    # The columns are instants of the zone, so that days of frames are days of conditions.
    for frame in (scan.to_polars(), pl.read_parquet(report.to_dict()["folder"], hive_partitioning=True)):
        days = frame.select("id", day=pl.col("allocated_time").dt.convert_time_zone(platform.zone.key).dt.date())
        assert all(is_selected(day) for day in days["day"])


def test_a_lazy_filter_by_day_is_that_day(platform: Platform, instants: dict[str, datetime]) -> None:
    client = platform.sandbox.client(**platform.settings)
    lazy = client.scan_codes(ATTRS, allocated_time=da.days("2024-02-05", "2024-02-15")).to_lazyframe()
    platform.sandbox.clear_requests()
    frame = lazy.filter(pl.col("allocated_time").dt.date() == DAY).collect()
    expected = {code for code, time in instants.items() if time.astimezone(platform.zone).date() == DAY}
    assert set(frame["id"]) == expected
    assert len(platform.sandbox.requests) == 1


def test_the_check_calls_the_settings_right(platform: Platform) -> None:
    check = platform.sandbox.client(**platform.settings).check(DAY)
    assert (check.answers["timezone"].is_right, check.answers["day_comparison"].is_right, check.is_ok) == (
        True,
        True,
        True,
    ), str(check)


def test_a_client_without_settings_says_that_a_day_is_missing() -> None:
    with da.Sandbox.demo(until="2024-02-29", platform="local-times") as sandbox:
        scan = sandbox.client().scan_codes(ATTRS, allocated_time=da.since("2024-02-20"))
        with pytest.warns(da.StrayDayWarning, match=r"2024-02-20.*\btimezone\b.*\bsource_timezone\b"):
            assert min(scan.to_polars()["allocated_time"]) >= datetime(2024, 2, 21)  # noqa: DTZ001 - as written


@pytest.mark.parametrize(
    "others",
    [
        {"timezone": "America/New_York"},
        {"source_timezone": "America/New_York"},
        {"timezone": "Asia/Tokyo", "source_timezone": "Asia/Tokyo"},
        {"day_comparison": None},
    ],
    ids=["days", "records", "both", "comparison"],
)
def test_any_other_settings_warn(platform: Platform, others: dict[str, Any]) -> None:
    if "day_comparison" in others:
        others = {"day_comparison": "inclusive" if platform.settings["day_comparison"] == "exclusive" else "exclusive"}
    client = platform.sandbox.client(**{**platform.settings, **others})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for condition in (da.on(DAY), da.since(DAY), da.until(DAY + timedelta(days=1))):
            client.scan_codes(ATTRS, allocated_time=condition).collect()
    assert da.StrayDayWarning in {warning.category for warning in caught}
