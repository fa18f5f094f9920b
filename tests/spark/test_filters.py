"""A frame has its own rows, however often and with which filters it is used, with and without Spark's push-down.

With a source that reads filters (`pushFilters`), Spark 4.1 to 4.3 give a second use of a frame the rows of the first
filter. This source reads none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da

Read = Callable[..., Any]

pytestmark = pytest.mark.timeout(400)

SETTING = "spark.sql.python.filterPushdown.enabled"
DAYS = da.days("2024-01-14", "2024-01-17")


@pytest.fixture(params=["false", "true"])
def frame(spark: Any, read: Read, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Three days of codes, with the setting of Spark off and on."""
    spark.conf.set(SETTING, request.param)
    yield read(allocated_time=DAYS, day_column="day")
    spark.conf.unset(SETTING)


@pytest.fixture
def rows(client: da.Client) -> list[tuple[str, int, str]]:
    """The id, the status and the day of the same codes."""
    table = client.scan_codes(["id", "code_status", "allocated_time"], allocated_time=DAYS).to_dicts()
    return [(row["id"], row["code_status"], row["allocated_time"][:10]) for row in table]


def ids(frame: Any) -> list[str]:
    return sorted(row.id for row in frame.select("id").collect())


def test_a_frame_used_twice_has_all_rows(frame: Any, rows: list[tuple[str, int, str]], tmp_path: Path) -> None:
    used = sorted(code for code, status, _ in rows if status == 4)
    assert ids(frame.where("code_status = 4")) == used
    assert frame.count() == len(rows)
    assert ids(frame.where("day = '2024-01-15'")) == sorted(code for code, _, day in rows if day == "2024-01-15")
    assert ids(frame) == sorted(code for code, _, _ in rows)
    either = frame.where("code_status = 4 or day = '2024-01-15'")
    assert ids(either) == sorted(code for code, status, day in rows if status == 4 or day == "2024-01-15")
    frame.write.parquet(str(tmp_path / "codes"))
    assert frame.sparkSession.read.parquet(str(tmp_path / "codes")).count() == len(rows)


def test_a_union_has_the_rows_of_both_filters(frame: Any, rows: list[tuple[str, int, str]]) -> None:
    both = frame.where("day = '2024-01-14'").union(frame.where("day = '2024-01-16'"))
    assert ids(both) == sorted(code for code, _, day in rows if day != "2024-01-15")


def test_a_self_join_filters_one_side(frame: Any, rows: list[tuple[str, int, str]]) -> None:
    one = frame.where("day = '2024-01-14'")
    assert ids(one.join(frame, "id").select("id")) == sorted(code for code, _, day in rows if day == "2024-01-14")


def test_each_use_requests_the_days_of_the_options(frame: Any, service: da.Sandbox) -> None:
    service.clear_requests()
    frame.where("day = '2024-01-15' and code_status = 4").count()
    assert len(service.requests) == 3
