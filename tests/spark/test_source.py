"""What Spark reads: the rows of the client, in one partition for each request, with types of Spark."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

import dataaccess as da
from dataaccess.types import Schema

Read = Callable[..., Any]

pytestmark = pytest.mark.timeout(400)

TEN_DAYS = da.days("2024-01-10", "2024-01-20")


def ids(rows: list[Any]) -> list[str]:
    return [row["id"] for row in rows]


def test_the_rows_are_those_of_a_scan_in_one_partition_a_day(read: Read, client: da.Client) -> None:
    frame = read(allocated_time=TEN_DAYS)
    expected = client.scan_codes(allocated_time=TEN_DAYS).collect().to_pylist()

    # Spark shows times in the zone of its session, here seven hours ahead.
    found = [row.asDict() for row in frame.collect()]
    times = ("allocated_time", "date_created", "last_used_time")
    for row in found:
        row.update({name: row[name] and row[name].astimezone(dt.UTC).replace(tzinfo=None) for name in times})

    assert frame.rdd.getNumPartitions() == 10
    assert found == expected
    assert frame.dtypes == [
        ("id", "string"),
        ("name", "string"),
        ("pool_id", "bigint"),
        ("date_created", "timestamp"),
        ("allocated_time", "timestamp"),
        ("allocated_audience", "string"),
        ("audience_type", "bigint"),
        ("code_status", "bigint"),
        ("last_used_source", "string"),
        ("last_used_time", "timestamp"),
    ]


def test_a_timestamp_is_an_instant_and_a_timestamp_ntz_the_time_in_utc(read: Read, client: da.Client) -> None:
    options = {"allocated_time": da.on("2024-01-15")}
    instants = read("id string, allocated_time timestamp", **options)
    wall = read("id string, allocated_time timestamp_ntz", **options)
    expected = client.search_codes(["id", "allocated_time"], allocated_time=da.on("2024-01-15"))

    in_utc = {row["id"]: row["allocated_time"].replace("T", " ").removesuffix("Z")[:19] for row in expected}
    shown = "id", "date_format(allocated_time, 'yyyy-MM-dd HH:mm:ss') as shown"
    assert {row.id: row.shown for row in wall.selectExpr(*shown).collect()} == in_utc
    later = {each: str(dt.datetime.fromisoformat(time) + dt.timedelta(hours=7)) for each, time in in_utc.items()}
    assert {row.id: row.shown for row in instants.selectExpr(*shown).collect()} == later


def test_a_timestamp_is_an_instant_of_the_zone_of_records(read: Read, client: da.Client) -> None:
    """Whatever the zone of the client is, which its results would have elsewhere."""
    # The sandbox cuts days in UTC, so half of its times seem to be of another day.
    options = {
        "allocated_time": da.on("2024-01-15"),
        "source_timezone": "Asia/Tokyo",
        "timezone": "UTC",
        "on_doubt": "warn",
    }
    frame = read("id string, allocated_time timestamp", **options)
    wall = read("id string, allocated_time timestamp_ntz", **options)
    expected = client.search_codes(["id", "allocated_time"], allocated_time=da.on("2024-01-15"))
    written = {row["id"]: dt.datetime.fromisoformat(row["allocated_time"]) for row in expected}

    shown = "id", "date_format(allocated_time, 'yyyy-MM-dd HH:mm:ss') as shown"
    assert {row.id: row.shown for row in wall.selectExpr(*shown).collect()} == {
        name: str(time) for name, time in written.items()
    }
    # Two hours before Tokyo, in the zone of the session.
    assert {row.id: row.shown for row in frame.selectExpr(*shown).collect()} == {
        name: str(time - dt.timedelta(hours=2)) for name, time in written.items()
    }


def test_sql_finds_the_source_without_registration(spark: Any, client: da.Client) -> None:
    spark.sql(
        """create or replace temporary view codes using dataaccess
           options (allocated_time "on('2024-01-15')", attrs "id, code_status", decode_status "true")"""
    )
    counts = {row[0]: row[1] for row in spark.sql("select code_status, count(*) from codes group by 1").collect()}

    table = client.scan_codes(allocated_time=da.on("2024-01-15"), decode_status=True).collect()
    assert counts == {name: list(table["code_status"]).count(name) for name in ("available", "sent", "used")}


def test_items_have_the_columns_of_the_schema(read: Read, service: da.Sandbox, client: da.Client) -> None:
    service.declare("store", 7, {"store_id": "string", "area": "float64", "size": "int64", "opened": "timestamp"})
    service.load(
        "store",
        [
            {"store_id": "s-1", "area": 2.5, "size": 3, "opened": "2024-01-14 18:00:00"},
            {"store_id": "s-2", "opened": "2024-01-16 00:00:00"},
        ],
    )
    where = da.col("opened").on(da.days("2024-01-14", "2024-01-17"))
    frame = read(
        "store_id string, area double, size bigint, opened timestamp_ntz",
        item_type_name="store",
        item_type_id=7,
        where=where,
    )
    types: Schema = {"opened": "timestamp"}
    rows = client.scan_items("store", frame.columns, where, item_type_id=7, schema=types).collect().to_pylist()

    assert frame.rdd.getNumPartitions() == 3
    assert [row.asDict() for row in frame.collect()] == rows
    assert len(rows) == 2

    text = read("store_id string, size string", item_type_name="store", item_type_id=7, json_attrs="size")
    assert sorted(text.collect()) == [("s-1", "3"), ("s-2", None)]


def test_a_day_without_rows_is_an_empty_partition(read: Read) -> None:
    assert read(allocated_time=da.on("2023-01-01")).collect() == []


def test_many_requests_share_partitions(read: Read, client: da.Client) -> None:
    days = da.days("2024-01-01", "2024-03-01")
    frame = read("id string, day date", allocated_time=days, day_column="day")
    assert frame.rdd.getNumPartitions() == 15
    expected = sorted(row["id"] for row in client.search_codes(["id"], allocated_time=days))
    rows = frame.collect()
    assert sorted(row.id for row in rows) == expected
    assert len({row.day for row in rows}) == 60


def test_a_stream_is_refused_in_words(read: Read, spark: Any) -> None:
    from pyspark.errors import StreamingQueryException

    options = {"allocated_time": da.on("2024-01-15")}
    stream = spark.readStream.format("dataaccess").options(**options).load().writeStream.format("noop")
    with pytest.raises(StreamingQueryException, match=r"\bConfigError: .*\bstream\b"):
        stream.start().awaitTermination()


def test_dataframe_filters_are_done_by_spark(read: Read, service: da.Sandbox) -> None:
    service.clear_requests()
    frame = read(allocated_time=da.on("2024-01-15")).where("code_status = 4").select("id")
    assert 0 < frame.count() < read(allocated_time=da.on("2024-01-15")).count()

    conditions = [str(request.body) for request in service.requests]
    assert len(conditions) == 2
    assert not any("code_status" in text.partition("filters")[2] for text in conditions)


def test_the_service_learns_that_spark_asks(spark: Any, service: da.Sandbox) -> None:
    import pyspark

    service.clear_requests()
    spark.read.format("dataaccess").option("allocated_time", "on('2024-01-15')").load().count()
    expected = f") spark/{'.'.join(pyspark.__version__.split('.')[:2])}"
    assert [request for request in service.requests if not request.headers["user-agent"].endswith(expected)] == []
    assert service.requests
