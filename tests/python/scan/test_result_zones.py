"""A client with a `timezone=` of its own: its days, its rows and its reports are of that zone, in every form."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import kinds
from support.zones import DAYS, HANOI, PLATFORMS, ZONE, Platform, codes_of, instants

import dataaccess as da

WEEK = da.days(DAYS[0], DAYS[-1] + dt.timedelta(days=1))
ATTRS = ["id", "allocated_time"]


@pytest.fixture(scope="module", params=PLATFORMS, ids=lambda platform: platform.name)
def platform(request: pytest.FixtureRequest) -> Iterator[Platform]:
    with request.param.started() as platform:
        yield platform


@pytest.fixture
def scan(platform: Platform) -> da.Scan:
    return platform.client.scan_codes(ATTRS, allocated_time=WEEK)


def of_texts(texts: Any) -> Counter[dt.date]:
    return Counter(dt.date.fromisoformat(str(text)[:10]) for text in texts)


def of_duckdb(source: Any, zone: str) -> Counter[dt.date]:
    with duckdb.connect() as connection:
        connection.execute(f"set TimeZone = '{zone}'")
        connection.register("source", source)
        return Counter(day for (day,) in connection.sql("select allocated_time::date from source").fetchall())


def of_polars(frame: pl.DataFrame) -> Counter[dt.date]:
    return Counter(frame["allocated_time"].dt.date().to_list())


def of_lazy(scan: da.Scan) -> Counter[dt.date]:
    lazy = scan.to_lazyframe()
    days = lazy.group_by(pl.col("allocated_time").dt.date().alias("day")).len().collect()
    return Counter(dict(days.iter_rows()))


def of_lazy_days(scan: da.Scan) -> Counter[dt.date]:
    day = pl.col("allocated_time").dt.date()
    return Counter({each: scan.to_lazyframe().filter(day == each).collect().height for each in DAYS})


def of_file(scan: da.Scan, folder: Path, suffix: str, read: Callable[[Path], Counter[dt.date]]) -> Counter[dt.date]:
    path = folder / f"codes.{suffix}"
    getattr(scan, f"to_{suffix}")(path)
    return read(path)


def of_parquet(path: Path, zone: str) -> Counter[dt.date]:
    assert "isAdjustedToUTC=true" in str(pq.ParquetFile(path).schema.column(1))
    pandas = Counter(pd.read_parquet(path)["allocated_time"].dt.date)
    assert pandas == of_polars(pl.read_parquet(path)) == of_duckdb(duckdb.read_parquet(str(path)).arrow(), zone)
    return pandas


def of_folder(scan: da.Scan, folder: Path) -> Counter[dt.date]:
    report = scan.to_folder(folder / "codes")
    assert (report.doubtful_days, report.warnings) == ([], [])
    assert Counter(scan.read_folder(folder / "codes").to_pandas()["allocated_time"].dt.date) == of_polars(
        scan.read_folder(folder / "codes").to_polars()
    )
    days = pl.read_parquet(folder / "codes", hive_partitioning=True)
    assert days.filter(pl.col("day") != pl.col("allocated_time").dt.date()).is_empty(), "`day` is the day of its rows"
    return of_polars(days)


def lines(path: Path) -> Iterator[str]:
    return (json.loads(line)["allocated_time"] for line in path.read_text().splitlines())


FORMS: dict[str, Callable[[da.Scan, Path, str], Counter[dt.date]]] = {
    "pandas": lambda scan, _folder, _zone: Counter(scan.to_pandas()["allocated_time"].dt.date),
    "polars": lambda scan, _folder, _zone: of_polars(scan.to_polars()),
    "polars, capsule": lambda scan, _folder, _zone: of_polars(pl.DataFrame(scan)),
    "polars, lazy": lambda scan, _folder, _zone: of_lazy(scan),
    "polars, lazy, day by day": lambda scan, _folder, _zone: of_lazy_days(scan),
    "arrow": lambda scan, _folder, _zone: of_texts(scan.to_arrow()["allocated_time"].to_pylist()),
    "arrow, capsule": lambda scan, _folder, _zone: of_texts(pa.table(scan)["allocated_time"].to_pylist()),
    "duckdb": lambda scan, _folder, zone: of_duckdb(scan, zone),
    "table": lambda scan, _folder, _zone: of_texts(scan.collect()["allocated_time"]),
    "head": lambda scan, _folder, _zone: of_texts(scan.head(10_000)["allocated_time"]),
    "batches": lambda scan, _folder, _zone: of_texts(
        row["allocated_time"] for batch in scan.batches(max_rows=7) for row in batch.to_pylist()
    ),
    "rows": lambda scan, _folder, _zone: of_texts(row["allocated_time"] for row in scan.iter_rows()),
    "tasks": lambda scan, _folder, _zone: of_polars(pl.concat([task.to_polars() for task in scan.tasks()])),
    "parquet": lambda scan, folder, zone: of_file(scan, folder, "parquet", lambda path: of_parquet(path, zone)),
    "csv": lambda scan, folder, _zone: of_file(
        scan, folder, "csv", lambda path: of_texts(pd.read_csv(path)["allocated_time"])
    ),
    "jsonl": lambda scan, folder, _zone: of_file(scan, folder, "jsonl", lambda path: of_texts(lines(path))),
    "folder": lambda scan, folder, _zone: of_folder(scan, folder),
}


@pytest.mark.parametrize("form", FORMS)
def test_rows_of_a_day_are_those_of_the_zone_in_every_form(
    platform: Platform, scan: da.Scan, form: str, tmp_path: Path
) -> None:
    oracle = Counter(instant.astimezone(ZoneInfo(platform.zone)).date() for instant in instants())
    assert FORMS[form](scan, tmp_path, platform.zone) == Counter({day: oracle[day] for day in DAYS})


def test_the_rows_of_a_day_are_found_by_each_way_of_asking(platform: Platform, scan: da.Scan) -> None:
    day, lazy = DAYS[2], scan.to_lazyframe()
    expected = codes_of(day, platform.zone)
    assert {row["id"] for row in platform.client.search_codes(ATTRS, allocated_time=da.on(day))} == expected
    of_day = lazy.filter(pl.col("allocated_time").dt.date() == day)
    platform.sandbox.clear_requests()
    assert set(of_day.collect()["id"]) == expected
    assert len(platform.sandbox.requests) == 1, "it is pushed down"
    start = dt.datetime.combine(day, dt.time(), ZoneInfo(platform.zone))
    time = pl.col("allocated_time")
    between = lazy.filter(
        (time >= pl.lit(start).dt.convert_time_zone(platform.zone))
        & (time < pl.lit(start + dt.timedelta(days=1)).dt.convert_time_zone(platform.zone))
    )
    assert set(between.collect()["id"]) == expected
    assert lazy.filter(time.dt.date().is_between(day, day)).select(pl.len()).collect().item() == len(expected)


def test_the_right_settings_are_right_everywhere(platform: Platform, scan: da.Scan) -> None:
    table = scan.collect()
    assert table.stats.stray_days == []
    check = platform.client.check(DAYS[2])
    assert (check.answers["timezone"].is_right, check.is_ok) == (True, True), str(check)


def test_a_client_without_a_zone_leaves_times_as_the_service_wrote_them(platform: Platform) -> None:
    written = {row["id"]: row["allocated_time"] for row in platform.client.search_codes(ATTRS, allocated_time=WEEK)}
    scan = platform.sandbox.client().scan_codes(ATTRS, allocated_time=da.since("2023-12-01"))
    of_wire = platform.client.scan_codes(ATTRS, allocated_time=WEEK)
    for frame in (scan.to_polars(), of_wire.to_polars(tz=None), of_wire.to_lazyframe(tz=None).collect()):
        assert frame.schema["allocated_time"] == pl.Datetime("us")
        shown = dict(frame.select("id", pl.col("allocated_time").dt.to_string("%F %T")).iter_rows())
        assert {each: shown[each] for each in written} == written
    assert {row["id"]: row["allocated_time"] for row in of_wire.to_dicts()} == written


def test_the_plan_says_both_zones(platform: Platform, scan: da.Scan) -> None:
    moved = f" (records in {platform.source})" if platform.source != platform.zone else ""
    zone = platform.zone
    assert scan.explain().startswith(f"promotion_code (-100) in 6 requests, days and times in {zone}{moved}\n")
    unsaid = platform.sandbox.client().scan_codes(ATTRS, allocated_time=WEEK).explain()
    assert unsaid.startswith("promotion_code (-100) in 6 requests, days and times in UTC\n")
    local = platform.sandbox.client(source_timezone=HANOI).scan_codes(ATTRS, allocated_time=WEEK).explain()
    assert local.startswith(f"promotion_code (-100) in 6 requests, days in UTC, times in {HANOI}\n")


def test_the_wrong_zone_of_records_is_a_warning_that_names_it(platform: Platform) -> None:
    wrong = ZONE["Kolkata"] if platform.source != ZONE["Kolkata"] else HANOI
    client = platform.sandbox.client(timezone=platform.zone, source_timezone=wrong)
    with pytest.warns(da.errors.StrayDayWarning, match=rf"\({wrong}\)"):
        client.scan_codes(ATTRS, allocated_time=da.on(DAYS[2])).collect()


def test_a_folder_has_one_zone(platform: Platform, scan: da.Scan, tmp_path: Path) -> None:
    report = scan.to_folder(tmp_path)
    assert scan.to_folder(tmp_path).kept == len(report.files)
    with pytest.raises(kinds.Mismatch, match=rf"{platform.zone}.*Asia/Tokyo") as caught:
        scan.to_folder(tmp_path, tz="Asia/Tokyo")
    assert caught.value.field == "tz"
    if platform.zone != platform.source or platform.zone != "UTC":
        with pytest.raises(kinds.Mismatch, match=rf"\btz\b.*{platform.zone}"):
            scan.to_folder(tmp_path, tz=None)
    tokyo = scan.read_folder(tmp_path, tz="Asia/Tokyo").to_polars()
    assert tokyo.schema["allocated_time"] == pl.Datetime("us", "Asia/Tokyo")
    assert tokyo.equals(scan.to_polars(tz="Asia/Tokyo"))


def test_a_folder_without_a_zone_is_read_in_one(scan: da.Scan, tmp_path: Path) -> None:
    scan.to_folder(tmp_path, tz=None)
    assert pl.read_parquet(tmp_path).schema["allocated_time"] == pl.Datetime("us")
    assert scan.read_folder(tmp_path, tz="Asia/Tokyo").to_polars().equals(scan.to_polars(tz="Asia/Tokyo"))
    assert scan.read_folder(tmp_path).to_polars().equals(scan.to_polars())
    assert [part.doubts for part in da.folder_status(tmp_path).files if part.doubts] == []


@pytest.mark.parametrize("given", ["argument", "environment", "profile"])
def test_a_zone_that_is_given_anywhere_is_that_of_results(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {}
    if given == "argument":
        options["timezone"] = "UTC"
    elif given == "environment":
        monkeypatch.setenv("DATAACCESS_TIMEZONE", "UTC")
    else:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        (tmp_path / "dataaccess").mkdir()
        (tmp_path / "dataaccess" / "config.toml").write_text('[profiles.zoned]\ntimezone = "UTC"\n')
        options["profile"] = "zoned"

    def time(client: da.Client) -> Any:
        return pa.schema(client.scan_codes(ATTRS, allocated_time=da.on("2024-01-15"))).field("allocated_time").type

    with da.Client("http://localhost:9", token=str, **options) as client:
        assert time(client) == time(client.with_options(timeout=30)) == pa.timestamp("us", "UTC")
        assert time(client.with_options(timezone=HANOI)) == pa.timestamp("us", HANOI)
    monkeypatch.delenv("DATAACCESS_TIMEZONE", raising=False)
    with da.Client("http://localhost:9", token=str) as client:
        assert time(client) == pa.timestamp("us")


def test_the_statistics_of_a_lazy_query_and_of_arrow_consumers_name_stray_days(platform: Platform) -> None:
    client = platform.sandbox.client(timezone="America/New_York")
    scan = client.scan_codes(ATTRS, allocated_time=da.days(DAYS[1], DAYS[3]))
    with pytest.warns(da.errors.StrayDayWarning):
        scan.to_lazyframe().filter(pl.col("id") != "").collect()
    assert scan.last_stats is not None
    expected = [str(day) for day in DAYS[1:3]]
    assert scan.last_stats.stray_days == expected
    uses: list[Callable[[Any], object]] = [pl.DataFrame, lambda scan: of_duckdb(scan, "UTC"), pa.table]
    for use in uses:
        fresh = client.scan_codes(ATTRS, allocated_time=da.days(DAYS[1], DAYS[3]))
        use(fresh)
        assert fresh.last_stats is not None
        assert fresh.last_stats.stray_days == expected
