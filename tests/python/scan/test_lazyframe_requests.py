"""What lazy queries of polars request: the columns, rows and days that they need."""
# ruff: noqa: DTZ001, DTZ901, SIM300 - columns have no zone; conditions are as users write them

from __future__ import annotations

from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from support.lazyframes import STATUS, TIME, WHO, bodies, codes, conditions_of, millis

import dataaccess as da


def test_only_the_columns_of_a_query_are_requested(sandbox: da.Sandbox) -> None:
    (body,) = bodies(sandbox, codes(sandbox).filter(pl.col("pool_id") == 901).select("id"))
    assert body["attrs"] == ["id", "pool_id"]
    assert len(conditions_of(body)) == 1
    (body,) = bodies(sandbox, codes(sandbox).select(pl.len()))
    assert len(body["attrs"]) == 1


def test_the_first_rows_end_the_requests(sandbox: da.Sandbox) -> None:
    month = da.days("2024-01-01", "2024-02-01")
    assert len(bodies(sandbox, codes(sandbox, allocated_time=month).head(3))) == 1
    # polars filters after it has taken three rows.
    (body,) = bodies(sandbox, codes(sandbox, allocated_time=month).head(3).filter(STATUS == 4))
    assert list(conditions_of(body)) == ["equals"]


@pytest.mark.parametrize(
    ("condition", "expected"),
    {
        "status": (STATUS == 4, {}),
        "id": (WHO == "demo-customer-0001", {}),
        "or": ((TIME >= datetime(2024, 2, 1, 12)) | (pl.col("pool_id") == 901), {}),
        "later": (TIME >= datetime(2024, 2, 1, 12), {"after_date": millis("2024-01-30T12:00:00")}),
        "later-day": (TIME.dt.date() > date(2024, 2, 1), {"after_date": millis("2024-01-31T00:00:00")}),
        "earlier": (TIME < datetime(2024, 2, 1), {}),
        "least": (TIME >= datetime.min, {}),
        "later-and-status": (
            (STATUS == 4) & (TIME >= datetime(2024, 2, 1, 12)),
            {"after_date": millis("2024-01-30T12:00:00")},
        ),
        "least-day": (TIME.dt.date() >= date.min, {}),
        "last-day": (TIME.dt.date() <= date.max, {}),
    }.values(),
)
def test_a_condition_of_one_request(sandbox: da.Sandbox, condition: pl.Expr, expected: dict[str, Any]) -> None:
    (body,) = bodies(sandbox, codes(sandbox).filter(condition))
    assert conditions_of(body) == {"after_date": millis("2023-12-31T23:59:59.999"), **expected}


# The check of integers of the user refuses instants of the years before 1973.
@pytest.mark.parametrize("year", [2024, 1972])
def test_an_earlier_end_of_a_search_before_a_day(sandbox: da.Sandbox, year: int) -> None:
    frame = codes(sandbox, allocated_time=da.before(f"{year}-03-01"))
    (body,) = bodies(sandbox, frame.filter(TIME <= datetime(year, 1, 31), STATUS == 4))
    assert conditions_of(body) == {"before_date": millis(f"{year}-02-02T00:00:00")}


def test_a_later_start_before_1973(sandbox: da.Sandbox) -> None:
    frame = codes(sandbox, allocated_time=da.since("1970-06-01"))
    (body,) = bodies(sandbox, frame.filter(TIME >= datetime(1971, 1, 31), STATUS == 4))
    assert conditions_of(body) == {"after_date": millis("1971-01-29T00:00:00")}


@pytest.mark.filterwarnings("ignore::dataaccess.StrayDayWarning")
@pytest.mark.parametrize(
    "condition",
    [TIME.dt.date() == date(2024, 1, 15), TIME.is_between(datetime(2024, 1, 15), datetime(2024, 1, 15, 23, 59))],
)
@pytest.mark.parametrize("zone", ["UTC", "Asia/Ho_Chi_Minh", "America/Los_Angeles"])
def test_a_day_requests_that_day_and_its_neighbors(sandbox: da.Sandbox, condition: pl.Expr, zone: str) -> None:
    quarter = da.days("2024-01-01", "2024-04-01")
    scan = sandbox.client(timezone=zone).scan_codes(allocated_time=quarter)
    requested = bodies(sandbox, scan.to_lazyframe(tz=None).filter(condition))
    whole = [conditions_of(request["body"])["equals"] for request in scan.requests()]
    found = [conditions_of(body)["equals"] for body in requested]
    assert len(found) <= 5
    assert set(found) < set(whole)
    assert whole[13] in found
    assert whole[14] in found
    assert whole[15] in found


DAY = TIME.dt.date()


def hour(number: int, zone: str) -> pl.Expr:
    return pl.lit(datetime(2024, 1, 15, number, tzinfo=ZoneInfo(zone))).dt.convert_time_zone(zone)


@pytest.mark.filterwarnings("ignore::dataaccess.StrayDayWarning")
@pytest.mark.parametrize("zone", ["UTC", "Asia/Ho_Chi_Minh", "America/Los_Angeles"])
def test_a_day_of_a_client_with_a_zone_requests_that_day(sandbox: da.Sandbox, zone: str) -> None:
    scan = sandbox.client(timezone=zone).scan_codes(allocated_time=da.days("2024-01-01", "2024-04-01"))
    lazy = scan.to_lazyframe()
    whole = [conditions_of(request["body"])["equals"] for request in scan.requests()]
    cases: list[tuple[pl.Expr, list[int]]] = [
        (DAY == date(2024, 1, 15), [14]),
        (DAY.is_in([date(2024, 1, 15), date(2024, 1, 17)]), [14, 15, 16]),
        (DAY.is_between(date(2024, 1, 15), date(2024, 1, 16)), [14, 15]),
        ((DAY > date(2024, 1, 14)) & (DAY < date(2024, 1, 17)), [14, 15]),
        ((hour(0, zone) <= TIME) & (hour(23, zone) > TIME), [14]),
        ((hour(3, zone) < TIME) & (DAY == date(2024, 1, 15)), [14]),
        (DAY == date(2023, 12, 31), []),
    ]
    for condition, found in cases:
        requested = sorted(conditions_of(body)["equals"] for body in bodies(sandbox, lazy.filter(condition)))
        assert requested == [whole[number] for number in found], condition
    # polars compares with midnight in UTC, which is in the day before there.
    of_date = sorted(conditions_of(body)["equals"] for body in bodies(sandbox, lazy.filter(TIME <= date(2024, 1, 15))))
    assert of_date == whole[: 14 if zone == "America/Los_Angeles" else 15]
    elsewhere = scan.to_lazyframe(tz="Asia/Tokyo").filter(DAY == date(2024, 1, 15))
    assert len(bodies(sandbox, elsewhere)) > 1, "another zone than that of the days is not exact"


def test_a_contradiction_requests_nothing(sandbox: da.Sandbox) -> None:
    frame = codes(sandbox, allocated_time=da.days("2024-01-01", "2024-01-08"), code_status="sent")
    for condition in [TIME > datetime(2024, 6, 1), (STATUS == 3) & (TIME < datetime(2023, 6, 1))]:
        assert bodies(sandbox, frame.filter(condition)) == []
        assert frame.filter(condition).collect().schema == frame.collect_schema()


def test_the_limit_of_the_scan_holds(sandbox: da.Sandbox) -> None:
    frame = codes(sandbox, allocated_time=da.days("2024-01-14", "2024-01-17"), limit=100)
    assert [frame.head(rows).collect().height for rows in (7, 10_000)] == [7, 100]


def test_inferred_types_are_requested_once() -> None:
    with da.Sandbox() as own:
        own.declare("store", 7, {"city": "string", "size": "number"})
        own.load("store", [{"city": "Hue", "size": 1}, {"city": "Lyon", "size": 2}])
        scan = own.client().scan_items("store", ["city", "size"], item_type_id=7)
        frame = scan.to_lazyframe()
        assert len(bodies(own, frame)) == 2
        assert len(bodies(own, frame.select("size"))) == 1
        assert frame.collect().equals(scan.to_polars())
        nobody = own.client().scan_items("store", ["city"], da.col("city").equals("nowhere"), item_type_id=7)
        assert nobody.to_lazyframe().collect().equals(nobody.to_polars())
