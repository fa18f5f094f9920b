"""A service whose promotion codes change, and the same codes in plain Python: what each response has."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from support.folder_model import Row

import dataaccess as da

FIRST = date(2024, 3, 1)
DAYS = [FIRST + timedelta(days=number) for number in range(6)]
# So many codes a day look capped to no run.
MOST = 9
# The times of a day that are first, last and between.
TIMES = [time(0, 0, 0), time(9, 30, 0), time(23, 59, 59)]


class Codes:
    """The codes of a service by their ids. A change is loaded into the service too."""

    def __init__(self, service: da.Sandbox, zone: str | None) -> None:
        """No codes, at a service that cuts its days in a zone."""
        self._service = service
        self.zone: tzinfo = ZoneInfo(zone or "UTC")
        service.switch(day_zone=zone or "UTC")
        self.by_id: dict[str, Row] = {}
        self._next = 0

    def add(self, day: date, count: int, at: time, status: int, audience: str | None) -> None:
        """New codes of a day, no more than a day may have."""
        allocated = datetime.combine(day, at, self.zone).astimezone(UTC)
        count = min(count, MOST - len(self.of_day(day)))
        new = [(f"code-{self._next + number:04}", allocated, status, audience) for number in range(count)]
        self._next += count
        self._put(new)

    def use(self, day: date) -> None:
        """Every other code of a day was used, or sent again."""
        self._put([(name, at, 7 - status, audience) for name, at, status, audience in self.of_day(day)[::2]])

    def lose(self, day: date, keep: int) -> None:
        """The service lost the codes of a day but the first ones."""
        lost = {row[0] for row in self.of_day(day)[keep:]}
        self.by_id = {name: row for name, row in self.by_id.items() if name not in lost}
        self._service.clear("promotion_code")
        self._load(self.by_id.values())

    def forget(self, day: date) -> None:
        """The service no longer knows who has the codes of a day."""
        self._put([(name, at, status, None) for name, at, status, _ in self.of_day(day)])

    def of_day(self, day: date) -> list[Row]:
        """The codes of a day, in the order of a response."""
        return sorted(row for row in self.by_id.values() if row[1].astimezone(self.zone).date() == day)

    def _put(self, rows: list[Row]) -> None:
        self.by_id |= {row[0]: row for row in rows}
        self._load(rows)

    def _load(self, rows: Iterable[Row]) -> None:
        loaded = [as_record(row) for row in rows]
        if loaded:
            self._service.load("promotion_code", loaded, replace=True)


ATTRS = ["id", "allocated_time", "code_status", "allocated_audience"]


def as_record(row: Row) -> dict[str, Any]:
    """A code as the service has it: its time is in UTC."""
    name, at, status, audience = row
    return dict(zip(ATTRS, (name, f"{at:%Y-%m-%d %H:%M:%S}", status, audience), strict=True))


def as_row(record: dict[str, Any]) -> Row:
    """A code of a file or a result, whose time is a datetime or a string, in UTC if it has no zone."""
    at: Any = record["allocated_time"]
    at = datetime.fromisoformat(at) if isinstance(at, str) else at
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return record["id"], at, record["code_status"], record["allocated_audience"]


def day_requested(request: da.sandbox.ReceivedRequest, zone: tzinfo) -> date:
    milliseconds = request.body["filters"]["OR"][0]["AND"][-1]["value"]
    return datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone(zone).date()
