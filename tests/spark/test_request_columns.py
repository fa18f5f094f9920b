"""Columns that tell of the request: its day, whatever the zone of the session is, and its time."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da

Read = Callable[..., Any]

pytestmark = pytest.mark.timeout(400)

THREE_DAYS = da.days("2024-01-15", "2024-01-18")


def counts(client: da.Client) -> dict[dt.date, int]:
    """The rows of each of the three days."""
    days = [dt.date(2024, 1, day) for day in (15, 16, 17)]
    return {day: len(client.search_codes(["id"], allocated_time=da.on(day))) for day in days}


def test_the_day_is_the_requested_one_in_every_session_zone(read: Read, client: da.Client, tmp_path: Path) -> None:
    frame = read(allocated_time=THREE_DAYS, day_column="day")
    assert frame.dtypes[-1] == ("day", "date")
    # By the zone of the session, seven hours ahead, these rows are of four days.
    assert frame.selectExpr("to_date(allocated_time) as day").distinct().count() == 4

    assert {row.day: row["count"] for row in frame.groupBy("day").count().collect()} == counts(client)
    frame.write.partitionBy("day").parquet(str(tmp_path / "codes"))
    assert sorted(path.name for path in tmp_path.glob("codes/day=*")) == [
        "day=2024-01-15",
        "day=2024-01-16",
        "day=2024-01-17",
    ]


def test_a_schema_has_the_day_where_and_as_it_says(read: Read, client: da.Client) -> None:
    frame = read("on_day string, id string", allocated_time=THREE_DAYS, day_column="on_day", attrs="id")
    assert frame.columns == ["on_day", "id"]
    found = {row.on_day: row["count"] for row in frame.groupBy("on_day").count().collect()}
    assert found == {str(day): rows for day, rows in counts(client).items()}


def test_each_row_has_the_time_of_its_request(read: Read) -> None:
    before = dt.datetime.now(dt.UTC).replace(microsecond=0)
    frame = read(allocated_time=THREE_DAYS, requested_at="true", day_column="day")
    assert frame.dtypes[-2:] == [("day", "date"), ("requested_at", "timestamp")]
    rows = frame.select("day", "requested_at").distinct().collect()
    # One time for each request. The service reports whole seconds.
    assert len(rows) == 3
    for row in rows:
        assert before <= row.requested_at.astimezone(dt.UTC) <= dt.datetime.now(dt.UTC)


@pytest.mark.parametrize(
    ("schema", "options", "named"),
    [
        (None, {"allocated_time": da.since("2024-01-15"), "day_column": "day"}, "day_column: "),
        (None, {"allocated_time": THREE_DAYS, "day_column": "id"}, "day_column: 'id' "),
        (None, {"allocated_time": THREE_DAYS, "day_column": " "}, "day_column: "),
        (None, {"allocated_time": THREE_DAYS, "requested_at": "when"}, "requested_at: 'when' "),
        ("id string", {"allocated_time": THREE_DAYS, "day_column": "day"}, "schema: .*'day'"),
        (
            "id string, day bigint",
            {"allocated_time": THREE_DAYS, "day_column": "day"},
            r'schema\["day"\]: .*\bday_column\b.*\bdate\b.*\bstring\b.*\bbigint',
        ),
        (
            "id string, requested_at timestamp_ntz",
            {"allocated_time": THREE_DAYS, "requested_at": "true"},
            r'schema\["requested_at"\]: .*\brequested_at\b.*\btimestamp\b.*\btimestamp_ntz',
        ),
    ],
)
def test_a_wrong_column_of_the_request_is_an_error(
    read: Read, service: da.Sandbox, schema: str | None, options: dict[str, object], named: str
) -> None:
    from pyspark.errors import AnalysisException

    service.clear_requests()
    with pytest.raises(AnalysisException, match=rf"\bdataaccess\.ValidationError: {named}"):
        read(schema, **options).count()
    assert service.requests == []
