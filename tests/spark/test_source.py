"""What Spark reads: the rows of the client, in one partition for each request, with types of Spark."""

from __future__ import annotations

import datetime as dt
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.errors import AnalysisException, StreamingQueryException

import dataaccess as da
from dataaccess.types import Schema

Read = Callable[..., Any]

TEN_DAYS = da.days("2024-01-10", "2024-01-20")


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


def test_many_requests_share_partitions(read: Read, client: da.Client) -> None:
    days = da.days("2024-01-01", "2024-03-01")
    frame = read("id string, day date", allocated_time=days, day_column="day")
    assert frame.rdd.getNumPartitions() == 15
    expected = sorted(row["id"] for row in client.search_codes(["id"], allocated_time=days))
    rows = frame.collect()
    assert sorted(row.id for row in rows) == expected
    assert len({row.day for row in rows}) == 60


def test_a_stream_is_refused_in_words(read: Read, spark: Any) -> None:
    options = {"allocated_time": da.on("2024-01-15")}
    stream = spark.readStream.format("dataaccess").options(**options).load().writeStream.format("noop")
    with pytest.raises(StreamingQueryException, match=r"\bConfigError: .*\bstream\b"):
        stream.start().awaitTermination()


THREE_DAYS = da.days("2024-01-15", "2024-01-18")


def counts(client: da.Client) -> dict[dt.date, int]:
    days = [dt.date(2024, 1, day) for day in (15, 16, 17)]
    return {day: len(client.search_codes(["id"], allocated_time=da.on(day))) for day in days}


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
        (
            None,
            {"allocated_time": THREE_DAYS, "day_column": "requested_at", "requested_at": "true"},
            "day_column: .*requested_at",
        ),
        ("id string", {"allocated_time": THREE_DAYS, "day_column": "day"}, "schema: .*'day'"),
        ("id string", {"allocated_time": THREE_DAYS, "attrs": "id, name"}, "attrs: "),
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
    with pytest.raises(AnalysisException, match=rf"\bdataaccess\.ValidationError: {named}"):
        read(schema, **options).count()
    assert service.requests == []


ROOT = Path(__file__).parents[2]


def test_loads_of_other_days_stay_and_a_day_is_replaced(
    spark: Any, client: da.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program of `docs/spark.md`."""
    # The program ends the session, which other tests need.
    monkeypatch.setattr(type(spark), "stop", lambda _self: None)

    def load(start: str, stop: str) -> dict[str, int]:
        monkeypatch.setattr(sys, "argv", ["spark_codes.py", start, stop, str(tmp_path / "codes")])
        runpy.run_path(str(ROOT / "examples" / "recipes" / "spark_codes.py"))
        rows = spark.read.parquet(str(tmp_path / "codes")).groupBy("day").count().collect()
        return {str(row.day): row["count"] for row in rows}

    january = load("2024-01-25", "2024-02-01")
    assert len(january) == 7
    both = load("2024-02-01", "2024-02-05")
    assert {day: rows for day, rows in both.items() if day < "2024-02"} == january
    assert sorted(set(both) - set(january)) == [f"2024-02-0{day}" for day in range(1, 5)]
    # The session is seven hours ahead; the days are UTC's, as the client cuts them.
    for day, rows in both.items():
        assert rows == len(client.search_codes(["id"], allocated_time=da.on(day)))
    assert load("2024-01-31", "2024-02-02") == both


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
    """With a source that reads filters (`pushFilters`), Spark gives a second use the rows of the first filter."""
    used = sorted(code for code, status, _ in rows if status == 4)
    assert ids(frame.where("code_status = 4")) == used
    assert frame.count() == len(rows)
    assert ids(frame.where("day = '2024-01-15'")) == sorted(code for code, _, day in rows if day == "2024-01-15")
    assert ids(frame) == sorted(code for code, _, _ in rows)
    either = frame.where("code_status = 4 or day = '2024-01-15'")
    assert ids(either) == sorted(code for code, status, day in rows if status == 4 or day == "2024-01-15")
    frame.write.parquet(str(tmp_path / "codes"))
    assert frame.sparkSession.read.parquet(str(tmp_path / "codes")).count() == len(rows)


def test_each_use_requests_the_days_of_the_options(frame: Any, service: da.Sandbox) -> None:
    frame.where("day = '2024-01-15' and code_status = 4").count()
    assert len(service.requests) == 3


def test_the_service_learns_that_spark_asks(spark: Any, service: da.Sandbox) -> None:
    service.clear_requests()
    spark.read.format("dataaccess").option("allocated_time", "on('2024-01-15')").load().count()
    expected = f") spark/{'.'.join(pyspark.__version__.split('.')[:2])}"
    assert [request for request in service.requests if not request.headers["user-agent"].endswith(expected)] == []
    assert service.requests
