"""The times of Spark's columns: instants for `timestamp`, and times as the service wrote them for `timestamp_ntz`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import dataaccess as da
from dataaccess.spark._columns import Columns, SparkColumn
from dataaccess.spark._tasks import batches

COLUMNS = Columns((SparkColumn("id", "string"), SparkColumn("at", "timestamp"), SparkColumn("wall", "timestamp_ntz")))
# A time as the service writes it, and its instant.
BERLIN = {
    "1890-01-01 00:00:00": "1889-12-31 23:06:32",
    "1893-04-01 00:03:00": "1893-03-31 23:06:32",
    "1945-05-24 12:00:00": "1945-05-24 09:00:00",
    "2024-03-31 02:30:00": "2024-03-31 01:00:00",
    "2024-10-27 02:30:00": "2024-10-27 00:30:00",
    "2037-12-31 12:00:00": "2037-12-31 11:00:00",
    "2090-07-01 12:00:00": "2090-07-01 10:00:00",
    "2500-07-01 12:00:00": "2500-07-01 10:00:00",
    "9999-12-31 23:59:59": "9999-12-31 22:59:59",
}


def rows_of(times: list[str], zone: str, split: str) -> list[dict[str, Any]]:
    with da.Sandbox() as sandbox:
        sandbox.declare("visit", 7, {"id": "string", "at": "datetime", "wall": "datetime"})
        sandbox.load("visit", [{"id": f"{n:05}", "at": time, "wall": time} for n, time in enumerate(times)])
        schema: Any = {"at": "timestamp", "wall": "timestamp"}
        client = sandbox.client(source_timezone=zone, timezone="Asia/Tokyo")
        scan = client.scan_items(
            "visit",
            ["id", "at", "wall"],
            item_type_id=7,
            schema=schema,
            on_suspected_cap=split,  # type: ignore[arg-type]
        )
        (task,) = scan.tasks()
        return [row for batch in batches(task, COLUMNS) for row in batch.to_pylist()]


@pytest.mark.parametrize("split", ["warn", "split"])
def test_instants_are_right_in_every_year(split: str) -> None:
    rows = rows_of(list(BERLIN), "Europe/Berlin", split)
    assert [row["wall"] for row in rows] == [datetime.fromisoformat(time) for time in BERLIN]
    assert [row["at"] for row in rows] == [datetime.fromisoformat(f"{time}+00:00") for time in BERLIN.values()]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Pacific/Apia", "Africa/Casablanca", "UTC"])
def test_instants_are_those_of_a_scan(zone: str) -> None:
    begins = [
        datetime(year, month, 1, tzinfo=UTC)
        for year in (1800, 1900, 1947, 2011, 2024, 2038, 2100, 9000)
        for month in (1, 7)
    ]
    changes = [
        datetime(2024, 3, 31, tzinfo=UTC),
        datetime(2011, 12, 29, 12, tzinfo=UTC),
        datetime(2024, 11, 3, tzinfo=UTC),
    ]
    times = [begin + timedelta(minutes=30 * step) for begin in (*begins, *changes) for step in range(12)]
    texts = [f"{time:%Y-%m-%d %H:%M:%S}" for time in times]
    with da.Sandbox() as sandbox:
        sandbox.declare("visit", 7, {"id": "string", "at": "datetime"})
        sandbox.load("visit", [{"id": f"{n:05}", "at": text} for n, text in enumerate(texts)])
        scan = sandbox.client(source_timezone=zone).scan_items(
            "visit", ["at"], item_type_id=7, schema={"at": "timestamp"}
        )
        expected = scan.collect(tz="UTC")["at"]
    assert [row["at"] for row in rows_of(texts, zone, "warn")] == expected
