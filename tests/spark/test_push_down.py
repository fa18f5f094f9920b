"""With Spark's setting on, filters narrow the requests, and the rows stay those of Spark without it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import dataaccess as da

Read = Callable[..., Any]
Pushed = Callable[..., tuple[list[Any], list[Any]]]

pytestmark = pytest.mark.timeout(400)

SETTING = "spark.sql.python.filterPushdown.enabled"
JANUARY = da.days("2024-01-01", "2024-02-01")
# In the zone of the session, Asia/Ho_Chi_Minh: from 17:00 of the 14th to 17:00 of the 15th in UTC.
OF_DAY = "allocated_time >= '2024-01-15' and allocated_time < '2024-01-16'"
OF_UTC_DAY = (
    "allocated_time >= timestamp'2024-01-15 00:00:00 UTC' and allocated_time < timestamp'2024-01-16 00:00:00 UTC'"
)


def has_push_down() -> bool:
    from pyspark.sql.datasource import DataSourceReader

    return hasattr(DataSourceReader, "pushFilters")


needs_push_down = pytest.mark.skipif("not has_push_down()", reason="Spark 4.0 passes no filters on")


@pytest.fixture
def setting(spark: Any) -> Iterator[Callable[[str], None]]:
    """Sets the setting of Spark, until the test ends."""
    yield lambda value: spark.conf.set(SETTING, value)
    spark.conf.unset(SETTING)


@pytest.fixture
def pushed(read: Read, service: da.Sandbox, setting: Callable[[str], None]) -> Pushed:
    """Reads filtered rows with the setting on. Returns the bodies of the requests and the rows.

    Asserts that the rows are those without the setting, which requests everything.
    """

    def pushed(condition: str, schema: str | None = None, **options: object) -> tuple[list[Any], list[Any]]:
        found = {}
        for value in ("false", "true"):
            setting(value)
            service.clear_requests()
            found[value] = sorted(read(schema, **options).where(condition).collect(), key=repr)
        assert found["true"] == found["false"]
        return [request.body for request in service.requests], found["true"]

    return pushed


def conditions(body: dict[str, Any]) -> dict[str, Any]:
    (group,) = body["filters"]["OR"]
    return {condition["column"]: condition["value"] for condition in group["AND"]}


@needs_push_down
@pytest.mark.parametrize(
    ("condition", "options", "requests"),
    [
        (OF_UTC_DAY, {}, 4),
        (OF_UTC_DAY, {"timezone": "UTC"}, 1),
        (OF_DAY, {}, 5),
        (OF_DAY, {"timezone": "UTC"}, 2),
        ("allocated_time = timestamp'2024-01-15 12:34:56 UTC'", {"timezone": "UTC"}, 1),
        ("allocated_time > timestamp'2024-01-31 10:00:00 UTC'", {"timezone": "UTC"}, 1),
        ("allocated_time < timestamp'2024-01-02 00:00:00 UTC'", {"timezone": "UTC"}, 1),
        ("allocated_time <= timestamp'2024-01-02 00:00:00 UTC'", {"timezone": "UTC"}, 2),
        ("allocated_time < '2023-06-01'", {"timezone": "UTC"}, 0),
        ("allocated_time < '2023-06-01'", {}, 0),
        (f"({OF_DAY}) or code_status = 4", {}, 31),
    ],
)
def test_days_narrow_the_requests(pushed: Pushed, condition: str, options: dict[str, str], requests: int) -> None:
    bodies, _ = pushed(condition, allocated_time=JANUARY, **options)
    assert len(bodies) == requests


@needs_push_down
def test_a_date_of_a_timestamp_narrows_where_spark_compares_times_instead(pushed: Pushed) -> None:
    """Newer versions do."""
    bodies, _ = pushed("to_date(allocated_time) = '2024-01-15'", allocated_time=JANUARY, timezone="UTC")
    assert len(bodies) in (2, 31)


@needs_push_down
def test_a_timestamp_ntz_is_compared_as_the_service_writes_it(pushed: Pushed) -> None:
    condition = "allocated_time >= timestamp_ntz'2024-01-15 00:00:00' and allocated_time < timestamp_ntz'2024-01-16'"
    bodies, rows = pushed(condition, "id string, allocated_time timestamp_ntz", allocated_time=JANUARY, timezone="UTC")
    assert len(bodies) == 4
    assert len(rows) == 73


@needs_push_down
def test_the_day_of_the_request_is_exact_and_left_to_the_source(
    read: Read, pushed: Pushed, setting: Callable[[str], None]
) -> None:
    for condition, requests in {
        "requested = '2024-01-15'": 1,
        "requested in ('2024-01-15', '2024-01-17', '2025-01-01')": 2,
        "requested > '2024-01-29'": 2,
        "requested between '2024-01-10' and '2024-01-12' and requested is not null": 3,
        "requested <> '2024-01-15'": 31,
        "requested = '2023-01-15'": 0,
        "requested = '2024-01-15' and allocated_time > '2024-01-20'": 0,
    }.items():
        bodies, _ = pushed(condition, allocated_time=JANUARY, day_column="requested", attrs="id, allocated_time")
        assert len(bodies) == requests, condition
        if 0 < requests < 4:
            # As strings, days compare likewise.
            schema = "id string, requested string, allocated_time timestamp"
            bodies, _ = pushed(
                condition, schema, allocated_time=da.days("2024-01-09", "2024-02-01"), day_column="requested"
            )
            assert len(bodies) == requests, condition

    setting("true")
    frame = read(allocated_time=JANUARY, day_column="requested")
    plans = [
        frame.where(condition)._jdf.queryExecution().executedPlan().toString()
        for condition in ("requested = '2024-01-15'", "code_status = 4")
    ]
    assert ["Filter (" in plan for plan in plans] == [False, True]


@needs_push_down
def test_statuses_and_ids_narrow_the_requests(pushed: Pushed, client: da.Client) -> None:
    options = {"allocated_time": da.on("2024-01-15")}
    [body], _ = pushed("code_status = 4", **options)
    assert conditions(body)["code_status"] == [4]
    [body], _ = pushed("code_status in (1, 4) and code_status > 0", **options)
    assert conditions(body)["code_status"] == [1, 4]
    [body], _ = pushed("code_status = 'used'", **options, decode_status="true")
    assert conditions(body)["code_status"] == [4]
    [body], _ = pushed("code_status = 4", "code_status double, id string", **options)
    assert "code_status" not in conditions(body)
    bodies, _ = pushed("code_status = 4 and code_status = 3", **options)
    assert bodies == []

    found = client.search_codes(allocated_time=da.on("2024-01-15"))
    code = next(row for row in found if row["allocated_audience"] and row["audience_type"] == -1003)
    condition = f"allocated_audience = '{code['allocated_audience']}' and audience_type = -1003"
    [body], rows = pushed(condition, **options)
    assert conditions(body)["allocated_audience"] == [code["allocated_audience"]]
    assert conditions(body)["audience_type"] == [-1003]
    assert code["id"] in {row.id for row in rows}


@needs_push_down
def test_ids_of_customers_narrow_the_request(pushed: Pushed) -> None:
    [body], rows = pushed(
        "customer_id in ('demo-customer-0001', 'demo-customer-0002')",
        "customer_id string, name string",
        item_type_name="customer",
    )
    assert conditions(body)["customer_id"] == ["demo-customer-0001", "demo-customer-0002"]
    assert len(rows) == 2


@needs_push_down
def test_what_a_filter_causes_is_no_doubt(read: Read, setting: Callable[[str], None]) -> None:
    setting("true")
    options = {"allocated_time": da.on("2024-01-15"), "on_doubt": "error"}
    assert read(**options).where("allocated_audience = 'nobody'").collect() == []


@needs_push_down
def test_random_filters_select_what_spark_selects_alone(
    read: Read, service: da.Sandbox, setting: Callable[[str], None]
) -> None:
    """The rows without the setting, read once, are the oracle."""
    rng = random.Random(32)  # noqa: S311 - of a test
    days = da.days("2024-01-12", "2024-01-18")
    setting("false")
    everything = read(allocated_time=days, day_column="requested").cache()
    some = [row.allocated_audience for row in everything.where("allocated_audience is not null").take(6)]
    operators = ("=", "<=>", "<", "<=", ">", ">=", "<>")

    def atom() -> str:
        time = f"'2024-01-{rng.randint(11, 19)} {rng.choice(['00:00:00', '07:00:00', '16:59:59.999999'])}'"
        day = f"'2024-01-{rng.randint(11, 19)}'"
        return rng.choice(
            [
                f"code_status {rng.choice(operators)} {rng.randint(0, 5)}",
                f"code_status in ({rng.randint(1, 4)}, {rng.randint(1, 4)}, null)",
                f"audience_type = {rng.choice([-1003, -1007])}",
                f"allocated_audience in ('{rng.choice(some)}', '{rng.choice(some)}')",
                f"allocated_time {rng.choice(operators)} {time}",
                f"allocated_time between {time} and timestamp'2024-01-16'",
                f"requested {rng.choice(operators)} {day}",
                f"not (requested = {day})",
                "allocated_audience is null",
                "code_status is not null",
                f"(pool_id = 901 or code_status = {rng.randint(1, 4)})",
            ]
        )

    setting("true")
    narrowed = 0
    for number in range(14):
        condition = " and ".join(atom() for _ in range(rng.randint(1, 3)))
        zone = {"timezone": "UTC"} if number % 2 else {}
        service.clear_requests()
        found = read(allocated_time=days, day_column="requested", **zone).where(condition).collect()
        expected = everything.where(condition).collect()
        assert sorted(found, key=repr) == sorted(expected, key=repr), condition
        narrowed += len(service.requests) < 6
    everything.unpersist()
    assert narrowed > 4


def test_without_the_setting_spark_filters(read: Read, service: da.Sandbox, spark: Any) -> None:
    spark.conf.unset(SETTING)
    service.clear_requests()
    assert read(allocated_time=JANUARY).where("code_status = 4").count() > 0
    assert len(service.requests) == 31
