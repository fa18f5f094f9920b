"""Which day of a service holds an instant: its end is found by which rows come, and not by times in records.

Pure: each search is sent by the caller. The instant of a search moves, by bisection, until the rows of the next day
come. So a service may write times in any zone, which is then read from the rows of the day whose end is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from dataaccess._contract import CUSTOMER, VISITOR
from dataaccess._native import instant_in, start_of_day, zones_beginning_day

# What is read of a row of the day.
ATTRIBUTES = ("id", "allocated_time", "audience_type", "allocated_audience")
# Rows of the day that are read, at most.
MOST_ROWS = 5_000

_HOUR = 3_600_000
_DAY = 24 * _HOUR
# Zones begin their days at quarters of an hour.
_STEP = _HOUR // 4
# A day has 25 hours at most.
_STEPS = 25 * _HOUR // _STEP
_NAMES = 3

NO_CALENDAR_DAYS = "the service may not cut calendar days"


class DaySearch:
    """Finds the end of the day that holds an instant, in at most eight searches."""

    def __init__(self, sent: int, rows: Sequence[dict[str, Any]]) -> None:
        """Takes the instant for which the rows of a day came, in Unix milliseconds."""
        self._sent = sent
        by_time = sorted(rows, key=lambda row: str(row.get("allocated_time")))
        held = [(*found, row.get("allocated_time")) for row in by_time if (found := audience_of(row)) is not None]
        kinds, audiences, times = zip(*(held[:1] + held[-1:]), strict=True) if held else ((), (), ())
        # The audience types and audiences of the first and the last code that has one, to which searches are narrowed.
        self.audience = (list(dict.fromkeys(kinds)), list(dict.fromkeys(audiences))) if held else None
        first, last = (instant_in("UTC", str(time)) for time in times) if held else (None, None)
        # Codes at times further apart than the last two searches come together only if days are calendar days.
        self.has_spread = first is not None and last is not None and last - first > _STEP
        # The ids of the codes that searches find on the day, and why its end cannot be found.
        self.ids: set[object] = set()
        self.problem: str | None = None
        # Quarters of an hour after the instant: the day holds the first, and not the last.
        self._low, self._next, self._high = 0, 0, _STEPS + 1

    @property
    def end(self) -> int | None:
        """The end of the day in Unix milliseconds, once it is known."""
        return self._sent + self._high * _STEP if self.problem is None and self._high - self._low == 1 else None

    @property
    def instant(self) -> datetime | None:
        """The instant for which the next search asks; None if no search is needed."""
        is_over = self.problem is not None or self._high - self._low == 1
        return None if is_over else moment(self._sent + self._next * _STEP)

    def add(self, ids: Iterable[object]) -> None:
        """Takes the ids of the codes that a search found for the instant."""
        found = set(ids)
        if not self.ids:
            self.ids = found
            if not found:
                self.problem = "a search of the day for the audience of one of its codes found nothing"
        elif self.audience is not None and found & self.ids and found != self.ids:
            self.problem = f"a later instant finds other codes of the same audience: {NO_CALENDAR_DAYS}"
        elif found & self.ids:
            self._low = self._next
            if self._low == _STEPS:
                self.problem = "the same codes come 25 hours later: the service cuts no days"
        else:
            self._high = self._next
        self._next = (self._low + self._high) // 2


class ServiceDay:
    """A day of a service, whose end is known, with the times of its rows. Instants are in Unix milliseconds."""

    def __init__(self, end: int, times: Iterable[object]) -> None:
        """Takes the end, and the times of rows as written."""
        self.end = end
        # The zones that begin a day then; in the first of them, this one begins.
        self.zones = zones_beginning_day(end)
        before = start_of_day(self.zones[0], end - 1) if self.zones else None
        self.start = end - _DAY if before is None else before
        read = ((instant_in("UTC", time), time) for time in times if isinstance(time, str))
        written = sorted((instant, time) for instant, time in read if instant is not None)
        self._first_and_last = [time for _, time in written[:1] + written[-1:]]
        first, last = (written[0][0], written[-1][0]) if written else (end, end)
        self.has_times = bool(written)
        east = -end % _DAY
        self._offsets = [offset for offset in (east - _DAY, east) if -12 * _HOUR <= offset <= 14 * _HOUR]
        # At these, all times are of the date that ends then, if they are of the zone of the days.
        self._offsets_of_dates = [at for at in self._offsets if written and end - _DAY <= first - at <= last - at < end]
        self.has_own_times = bool(self._offsets_of_dates)
        # Whether no zone an hour away has the times of its rows on this day too; and those that any zone may have.
        self.has_times_of_both_ends = last - first > end - self.start - _HOUR
        self.record_offsets = f"{_offset(last - end)} to {_offset(first - self.start)}"
        self.end_time = f"{moment(end):%Y-%m-%d %H:%M} UTC"

    def begins_with(self, zone: str) -> bool:
        """Whether a zone begins a day at the end of this one."""
        return start_of_day(zone, self.end) == self.end

    def zone_named(self, preferred: str) -> str | None:
        """The preferred zone if it begins a day then, else one without clock changes. None if two offsets fit."""
        if self.begins_with(preferred):
            return preferred
        offsets = self._offsets if len(self._offsets) == 1 else self._offsets_of_dates
        if len(offsets) != 1:
            return None
        hours, rest = divmod(offsets[0], _HOUR)
        if rest:
            half_years = [self.end + days * _DAY for days in (-182, 182)]
            return next((zone for zone in self.zones if all(start_of_day(zone, at) == at for at in half_years)), None)
        # These names have the sign of POSIX: west is positive.
        return "UTC" if hours == 0 else f"Etc/GMT{-hours:+d}"

    @property
    def end_shown(self) -> str:
        """When it ends, with the zones in which it does."""
        named = [zone for zone in self.zones if not zone.startswith("Etc/")]
        names = ", ".join([*named[:_NAMES], *(["…"] if len(named) > _NAMES else [])])
        offsets = " or ".join(map(_offset, self._offsets))
        return f"ends at {self.end_time}: {offsets}{f' ({names})' if names else ''}"

    def has_times_of(self, zone: str) -> bool:
        """Whether the times of its rows are of this day, if they are written in a zone."""
        read = [instant_in(zone, time) for time in self._first_and_last]
        return all(time is not None and self.start <= time < self.end for time in read)


def audience_of(row: dict[str, Any]) -> tuple[int, str] | None:
    """Whom a search can name."""
    kind, audience = row.get("audience_type"), row.get("allocated_audience")
    if not isinstance(kind, int) or kind not in {CUSTOMER, VISITOR} or not isinstance(audience, str) or not audience:
        return None
    return kind, audience


def moment(milliseconds: int) -> datetime:
    """An instant of Unix milliseconds."""
    return datetime.fromtimestamp(milliseconds / 1_000, UTC)


def _offset(milliseconds: int) -> str:
    """An offset as `UTC+07:00`."""
    minutes = abs(milliseconds) // 60_000
    return f"UTC{'-' if milliseconds < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"
