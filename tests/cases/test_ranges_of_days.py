"""Days and ranges of days: their rows, their zone and their folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support import kinds
from support.raw_server import always, http, serving

import dataaccess as da

# A search or scan of days that have not begun warns that it is empty, whatever stands in place of the rows.
# Source: a trial of notebooks.

DAY = "2042-01-15"
FUTURE = [da.on(DAY), da.since(DAY), da.after(DAY), da.days(DAY, "2042-01-18")]


@pytest.mark.parametrize("condition", FUTURE, ids=str)
@pytest.mark.parametrize("data", [[], None, {}])
def test_a_day_that_has_not_begun_warns_as_empty(client_of: Any, condition: Any, data: Any) -> None:
    client = client_of(http({"code": 200, "message": "", "data": {"status": True, "data": data}}))
    begins = "2042-01-16" if condition == da.after(DAY) else DAY
    for call in (client.search_codes, lambda **day: client.scan_codes(**day).to_dicts()):
        with pytest.warns(da.EmptyResultWarning, match=f"begins on {begins}, "):
            assert call(allocated_time=condition) == []


def test_a_day_that_is_over_may_be_empty(client_of: Any) -> None:
    # Warnings are errors in tests. Other objects have times in the future, such as the end of a contract.
    assert client_of([]).search_codes(allocated_time=da.on("2019-01-15")) == []
    assert client_of([]).search_items("customer", ["name"], da.col("ends").on(DAY)) == []


# A platform that cuts days in its own zone loses the first or last day of a range: `StrayDayWarning`, on any weekday.
# Source: API specification 2.4: the zone of DAY is not shown.

WEST, EAST = "America/Lima", "Asia/Ho_Chi_Minh"
ATTRS = ["id", "allocated_time"]


def service(zone: str) -> da.Sandbox:
    return da.Sandbox.demo(until="2024-02-29", switches={"day_zone": zone, "source_timezone": zone})


@pytest.mark.parametrize("day", ["2024-01-19", "2024-01-20", "2024-01-21", "2024-01-22"])
@pytest.mark.parametrize(("zone", "condition"), [(WEST, da.until), (EAST, da.since)])
def test_a_lost_first_or_last_day_is_reported(zone: str, condition: Any, day: str) -> None:
    with service(zone) as platform, pytest.warns(da.StrayDayWarning, match=rf"\b{day}\b"):
        platform.client().search_codes(ATTRS, allocated_time=condition(day))


def test_a_lost_day_before_a_day_or_of_a_range_of_items_is_reported() -> None:
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
def test_with_the_right_zone_no_day_is_lost(zone: str) -> None:
    with service(zone) as platform:
        client = platform.client(timezone=zone, source_timezone=zone)
        for condition in (da.until, da.since):
            # Warnings are errors in tests.
            rows = client.search_codes(ATTRS, allocated_time=condition("2024-01-21"))
            assert any(row["allocated_time"].startswith("2024-01-21") for row in rows)


# A range of days whose end is before its start is an error before anything is sent, not an empty result.
# Source: a trial of notebooks; `range` of Python, `GENERATE_SERIES` of SQL and others return nothing without a word.

OPENED = da.col("opened")
JANUARY, FEBRUARY = "2024-01-01", "2024-02-01"
EMPTY = [
    OPENED.between(FEBRUARY, JANUARY),
    OPENED.since(FEBRUARY) & OPENED.until(JANUARY),
    OPENED.after(JANUARY) & OPENED.before(JANUARY),
    OPENED.on(JANUARY) & OPENED.since(FEBRUARY),
    OPENED.on(JANUARY) & OPENED.on(FEBRUARY),
    da.col("closed").since(JANUARY) & OPENED.between(FEBRUARY, JANUARY),
    OPENED.between(JANUARY, FEBRUARY) | OPENED.between(FEBRUARY, JANUARY),
    da.filters.parse(f"col('opened').between('{FEBRUARY}', '{JANUARY}')"),
]


@pytest.mark.parametrize("where", EMPTY, ids=str)
@pytest.mark.parametrize("day_comparison", ["exclusive", "inclusive"])
def test_a_range_that_ends_before_it_begins_is_refused(client_of: Any, where: Any, day_comparison: Any) -> None:
    client = client_of([], day_comparison=day_comparison)
    with pytest.raises(da.ValidationError) as caught:
        client.search_items("store", ["opened"], where)
    assert [problem.argument for problem in caught.value.problems] == ["where"]
    assert client.stats.requests == 0


@pytest.mark.parametrize("where", [OPENED.between(JANUARY, JANUARY), OPENED.on(JANUARY) & OPENED.until(JANUARY)])
def test_a_range_of_one_day_is_a_range(client_of: Any, where: Any) -> None:
    record = {"opened": f"{JANUARY} 10:00:00"}
    assert client_of([record]).search_items("store", ["opened"], where) == [record]


# An attribute `day`, in any case of letters, is refused in a folder by days before anything is sent.
# Source: DuckDB and polars read the folder `day=…` as a column (Hive partitioning).

DAYS = da.col("t").on(da.days("2024-01-01", "2024-01-03"))


@pytest.mark.parametrize("name", ["day", "Day", "DAY", "days"])
def test_an_attribute_day_is_refused_before_anything_is_sent(client_of: Any, name: str, tmp_path: Path) -> None:
    client = client_of([{"id": "a", name: 1}])
    scan = client.scan_items("store", ["id", name], DAYS)
    if name == "days":
        scan.to_folder(tmp_path / "days")
        return
    with pytest.raises(da.ValidationError) as caught:
        scan.to_folder(tmp_path / "days")
    assert (caught.value.problems[0].argument, client.stats.requests) == ("attrs", 0)
    assert not (tmp_path / "days").exists()
    scan.to_parquet(tmp_path / "x.parquet")


# `TimezoneWarning`, once a process: a platform gets days, and nobody said which zone they are of.
# Source: API specification 2.4: the zone of DAY is not shown.

PROGRAM = """
import sys, warnings
from concurrent.futures import ThreadPoolExecutor
import dataaccess as da
address, call, arguments = sys.argv[1], sys.argv[2], eval(sys.argv[3])
def client():
    return da.Client("sandbox:demo") if address == "sandbox" else da.Client(address, **{"token": "t", **arguments})
day, opened = da.on("2024-01-15"), da.col("opened")
calls = {
    "search": lambda: client().search_codes(["id"], allocated_time=day),
    "threads": lambda: list(ThreadPoolExecutor(8).map(lambda _: calls["search"](), range(64))),
    "scan": lambda: client().scan_codes(["id"], allocated_time=day).to_dicts(),
    "unused scan": lambda: client().scan_codes(["id"], allocated_time=day),
    "items": lambda: client().search_items("customer", iter(["name"]), opened.on("2024-01-15")),
    "items scan": lambda: client().scan_items("customer", ["name"], opened.since("2024-01-15")).to_dicts(),
    "without days": lambda: client().search_items("customer", ["name"], da.col("name").equals("x")),
}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        calls[call]()
print(sum(issubclass(one.category, da.TimezoneWarning) for one in caught))
"""


def warnings_of(call: str, arguments: str = "{}", address: str | None = None, **environment: str) -> int:
    with serving(always(http())) as server:
        words = [sys.executable, "-c", PROGRAM, address or server.base_url, call, arguments]
        done = subprocess.run(words, env={**os.environ, **environment}, capture_output=True, check=True, timeout=30)
    return int(done.stdout)


@pytest.mark.parametrize("call", ["search", "threads", "scan", "items", "items scan", "unused scan", "without days"])
def test_days_without_a_zone_warn_once_a_process(call: str) -> None:
    assert warnings_of(call) == (call not in ("unused scan", "without days"))


@pytest.mark.parametrize("call", ["search", "scan"])
def test_days_of_a_sandbox_without_a_zone_do_not_warn(call: str) -> None:
    assert warnings_of(call, address="sandbox") == 0
    with da.Sandbox.demo(until="2024-02-29") as served:
        assert warnings_of(call, repr({"token": served.issue_token()}), served.base_url) == 0


def test_an_argument_a_variable_or_a_profile_with_a_zone_silences_the_warning(tmp_path: Path) -> None:
    (tmp_path / "dataaccess").mkdir()
    (tmp_path / "dataaccess" / "config.toml").write_text('[profiles.staging]\ntimezone = "UTC"\n')
    assert warnings_of("search", '{"timezone": "UTC"}') == 0
    assert warnings_of("search", DATAACCESS_TIMEZONE="UTC") == 0
    assert warnings_of("search", '{"profile": "staging"}', XDG_CONFIG_HOME=str(tmp_path)) == 0


# A folder goes on whether `timezone` is "UTC" or not given.
# Source: a trial of nightly jobs.

ROW = [{"id": "a", "allocated_time": "2024-01-01 10:00:00"}]


def scan_of(client: da.Client, days: int = 1) -> da.Scan:
    until = da.days("2024-01-01", f"2024-01-{days + 1:02}")
    return client.scan_codes(["id", "allocated_time"], allocated_time=until)


@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
@pytest.mark.parametrize("zones", [(None, "UTC"), ("UTC", None), (None, "UTC", None)])
def test_a_folder_goes_on_with_utc_given_or_not(client_of: Any, zones: tuple[str | None, ...], tmp_path: Path) -> None:
    address = client_of(ROW).base_url
    for number, zone in enumerate(zones, 1):
        client = da.Client(address, token="t", timezone=zone) if zone else da.Client(address, token="t")
        scan = scan_of(client, number)
        assert scan.to_folder(tmp_path).rows == scan.read_folder(tmp_path).num_rows == number
        assert client.stats.requests == 1
    first = pl.read_parquet(tmp_path / "day=2024-01-01")["allocated_time"]
    assert pl.read_parquet(tmp_path)["allocated_time"].dtype == first.dtype


def test_another_zone_is_another_folder(client_of: Any, tmp_path: Path) -> None:
    scan = scan_of(client_of(ROW))
    scan.to_folder(tmp_path, tz=None)
    with pytest.raises(kinds.Mismatch):
        scan.to_folder(tmp_path, tz="Europe/Berlin")
