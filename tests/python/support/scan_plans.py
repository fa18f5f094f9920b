"""The planned requests of a scan, for tests."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any
from zoneinfo import ZoneInfo

QUARTER = dt.timedelta(minutes=15)


def conditions(scan: Any) -> list[list[dict[str, Any]]]:
    """The conditions of each request, all of which have one group."""
    groups = [request["body"]["filters"]["OR"] for request in scan.requests()]
    assert all(len(group) == 1 for group in groups)
    return [group["AND"] for (group,) in groups]


def values(scan: Any, column: str) -> list[Any]:
    """The values that each request compares a column with."""
    return [condition["value"] for group in conditions(scan) for condition in group if condition["column"] == column]


def items(client: Any, where: Any, **options: Any) -> Any:
    return client.scan_items("store", ["x"], where, item_type_id=7, **options)


def day_starts(zone: str, start: dt.date, stop: dt.date) -> Iterator[dt.datetime]:
    """The first instant of each day, found by looking at every quarter of an hour."""
    instant = dt.datetime(start.year, start.month, start.day, tzinfo=dt.UTC) - dt.timedelta(days=2)
    before = None
    while (day := instant.astimezone(ZoneInfo(zone)).date()) < stop:
        if day != before and day >= start:
            yield instant
        before = max(day, before) if before else day
        instant += QUARTER
