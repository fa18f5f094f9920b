"""Days and times in zones: a client with the zones of its platform has the right rows, and any other one is warned.

Platforms cut their days and write their times in zones of their own; the oracle knows each instant.
"""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from support import kinds
from support.arguments import about
from support.zones import DAYS, HANOI, KOLKATA, Platform, codes_of

import dataaccess as da

WEEK = da.days(DAYS[0], DAYS[-1] + dt.timedelta(days=1))
ATTRS = ["id", "allocated_time"]


@pytest.fixture
def scan(platform: Platform) -> da.Scan:
    return platform.client.scan_codes(ATTRS, allocated_time=WEEK)


def test_the_rows_of_a_day_are_found_by_each_way_of_asking(platform: Platform, scan: da.Scan) -> None:
    day, lazy = DAYS[2], scan.to_lazyframe()
    expected = codes_of(day, platform.zone)
    assert {row["id"] for row in platform.client.search_codes(ATTRS, allocated_time=da.on(day))} == expected
    of_day = lazy.filter(pl.col("allocated_time").dt.date() == day)
    platform.sandbox.clear_requests()
    assert set(of_day.collect()["id"]) == expected
    assert len(platform.sandbox.requests) == 1, "it is pushed down"
    time, start = pl.col("allocated_time"), dt.datetime.combine(day, dt.time(), ZoneInfo(platform.zone))
    begins, ends = (pl.lit(at).dt.convert_time_zone(platform.zone) for at in (start, start + dt.timedelta(days=1)))
    assert set(lazy.filter((time >= begins) & (time < ends)).collect()["id"]) == expected
    assert lazy.filter(time.dt.date().is_between(day, day)).select(pl.len()).collect().item() == len(expected)


def test_a_plan_and_a_check_say_both_zones(platform: Platform, scan: da.Scan) -> None:
    def zones(client: da.Client) -> list[str]:
        first = client.scan_codes(ATTRS, allocated_time=WEEK).explain().splitlines()[0]
        return re.findall(r"UTC|\w+/\w+", first)

    moved = [platform.source] if platform.source != platform.zone else []
    assert zones(platform.client) == [platform.zone, *moved]
    assert zones(platform.sandbox.client()) == ["UTC"]
    assert zones(platform.sandbox.client(source_timezone=HANOI)) == ["UTC", HANOI]
    assert scan.collect().stats.stray_days == []
    check = platform.client.check(DAYS[2])
    assert (check.answers["timezone"].is_right, check.is_ok) == (True, True), str(check)


def test_the_wrong_zone_of_records_is_a_warning_that_names_it(platform: Platform) -> None:
    wrong = KOLKATA if platform.source != KOLKATA else HANOI
    client = platform.sandbox.client(timezone=platform.zone, source_timezone=wrong)
    with pytest.warns(da.errors.StrayDayWarning, match=rf"\({wrong}\)"):
        client.scan_codes(ATTRS, allocated_time=da.on(DAYS[2])).collect()


def test_a_folder_has_one_zone(platform: Platform, scan: da.Scan, tmp_path: Path) -> None:
    report = scan.to_folder(tmp_path)
    assert scan.to_folder(tmp_path).kept == len(report.files)
    for other in ["Asia/Tokyo", *([None] if platform.zone != platform.source or platform.zone != "UTC" else [])]:
        with pytest.raises(kinds.Mismatch, check=lambda error: error.field == "tz"):
            scan.to_folder(tmp_path, tz=other)
    tokyo = scan.read_folder(tmp_path, tz="Asia/Tokyo").to_polars()
    assert tokyo.schema["allocated_time"] == pl.Datetime("us", "Asia/Tokyo")
    assert tokyo.equals(scan.to_polars(tz="Asia/Tokyo"))


def test_a_folder_without_a_zone_is_read_in_one(scan: da.Scan, tmp_path: Path) -> None:
    scan.to_folder(tmp_path, tz=None)
    assert pl.read_parquet(tmp_path).schema["allocated_time"] == pl.Datetime("us")
    assert scan.read_folder(tmp_path, tz="Asia/Tokyo").to_polars().equals(scan.to_polars(tz="Asia/Tokyo"))
    assert scan.read_folder(tmp_path).to_polars().equals(scan.to_polars())
    with pytest.raises(da.ValidationError, check=about("tz")):
        scan.read_folder(tmp_path, tz="Europe/Berlln")
    assert [part.doubts for part in da.folder_status(tmp_path).files if part.doubts] == []


def test_the_statistics_of_a_lazy_query_and_of_arrow_consumers_name_stray_days(platform: Platform) -> None:
    client = platform.sandbox.client(timezone="America/New_York")

    def lazily(scan: Any) -> None:
        with pytest.warns(da.errors.StrayDayWarning):
            scan.to_lazyframe().filter(pl.col("id") != "").collect()

    for use in (lazily, pl.DataFrame, pa.table, lambda scan: duckdb.from_arrow(scan).to_arrow_table()):
        scan = client.scan_codes(ATTRS, allocated_time=da.days(DAYS[1], DAYS[3]))
        use(scan)
        assert scan.last_stats is not None
        assert scan.last_stats.stray_days == [str(day) for day in DAYS[1:3]]
