"""Platforms that cut days and write times in zones of their own, with the same codes at the same instants."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

import dataaccess as da

HANOI = "Asia/Ho_Chi_Minh"
KOLKATA, BERLIN = "Asia/Kolkata", "Europe/Berlin"
DAYS = [dt.date(2024, 3, 28) + dt.timedelta(days=number) for number in range(6)]
_START = dt.datetime(2024, 3, 26, tzinfo=dt.UTC)


def instants() -> list[dt.datetime]:
    """When the codes were allocated: at each half hour of UTC, so at the borders of days, and more and more in between.

    The clocks of Europe change meanwhile. No two days have the same number: equal ones would look capped.
    """
    half_hours = [_START + dt.timedelta(minutes=30 * number) for number in range(440)]
    return half_hours + [_START + dt.timedelta(seconds=int(34_200 * number**0.5)) for number in range(300)]


def codes_of(day: dt.date, zone: str) -> set[str]:
    days = [instant.astimezone(ZoneInfo(zone)).date() for instant in instants()]
    return {f"code-{number}" for number, each in enumerate(days) if each == day}


@dataclass(eq=False)
class Platform:
    """A platform that cuts its days in one zone and writes its records in another."""

    name: str
    zone: str
    source: str
    sandbox: da.Sandbox = field(init=False, repr=False)

    @property
    def client(self) -> da.Client:
        return self.sandbox.client(timezone=self.zone, source_timezone=self.source)

    @contextmanager
    def started(self) -> Iterator[Platform]:
        with da.Sandbox(switches={"day_zone": self.zone, "source_timezone": self.source}) as self.sandbox:
            rows = [{"id": f"code-{number}", "allocated_time": time} for number, time in enumerate(instants())]
            self.sandbox.load("promotion_code", rows)
            yield self


PLATFORMS = [
    Platform("UTC", "UTC", "UTC"),
    Platform("cuts at +07:00", HANOI, "UTC"),
    Platform("cuts and writes at +07:00", HANOI, HANOI),
    Platform("cuts at +05:30, writes at +07:00", KOLKATA, HANOI),
    Platform("cuts and writes in Berlin", BERLIN, BERLIN),
]
