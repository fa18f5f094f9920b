"""Which day of a service holds an instant: its end is found by which rows come, and not by times in records.

So a service may write times in any zone, which is then read from the rows of the day. Instants are Unix milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from datetime import UTC, datetime
from typing import TypeVar

from dataaccess._native import instant_in, start_of_day, zones_beginning_day

HOUR = 3_600_000
_DAY = 24 * HOUR
# Zones begin their days at quarters of an hour. A day has 25 hours at most.
STEP = HOUR // 4
_STEPS = 25 * HOUR // STEP
_NAMES = 3
_R = TypeVar("_R")

NO_CALENDAR_DAYS = "the service may not cut calendar days"


class OpenError(Exception):
    """Why questions have no answer."""


def end_of_day(
    sent: int, ids_at: Callable[[datetime], Generator[_R, None, set[str]]], *, is_narrowed: bool
) -> Generator[_R, None, tuple[int, set[str]]]:
    """Finds when the day of an instant ends, and the ids of its codes: of all of an audience if that is searched.

    The instant of a search moves, by bisection, until the rows of the next day come: eight searches at most.
    """
    ids = yield from ids_at(moment(sent))
    if not ids:
        raise OpenError("a search of the day for the audience of one of its codes found nothing")
    # Quarters of an hour after the instant: the day holds the first, and not the last.
    low, high = 0, _STEPS + 1
    while high - low > 1:
        middle = (low + high) // 2
        found = yield from ids_at(moment(sent + middle * STEP))
        if found.isdisjoint(ids):
            high = middle
        elif is_narrowed and found != ids:
            raise OpenError(f"a later instant finds other codes of the same audience: {NO_CALENDAR_DAYS}")
        else:
            low = middle
    if low == _STEPS:
        raise OpenError("the same codes come 25 hours later: the service cuts no days")
    return sent + high * STEP, ids


class ServiceDay:
    """A day of a service, whose end is known, with the times of its rows as written."""

    def __init__(self, end: int, times: Iterable[object], preferred: str) -> None:
        """Reads the times as if they were in UTC, and prefers a zone if it begins a day at the end."""
        self.end, self._zones, self.ends_at = end, zones_beginning_day(end), f"{moment(end):%Y-%m-%d %H:%M} UTC"
        read = ((instant_in("UTC", time), time) for time in times if isinstance(time, str))
        written = sorted((instant, time) for instant, time in read if instant is not None)
        self.times = [time for _, time in written[:1] + written[-1:]]
        first, last = (written[0][0], written[-1][0]) if written else (end, end)
        east = -end % _DAY
        self._offsets = [offset for offset in (east - _DAY, east) if -12 * HOUR <= offset <= 14 * HOUR]
        # At these, all times are of the date that ends then, if they are of the zone of the days.
        of_dates = [at for at in self._offsets if written and end - _DAY <= first - at <= last - at < end]
        # None if two offsets fit.
        self.zone = self._named(preferred, self._offsets if len(self._offsets) == 1 else of_dates)
        starts = map(self._start_in, (preferred, *self._zones))
        self.start = next((start for start in starts if start is not None), end - _DAY)
        # Whether no zone an hour away has the times on this day too; and the offsets of those that any zone may have.
        self.is_full = last - first > end - self.start - HOUR
        self.offsets_of_times = f"{_offset(last - end)} to {_offset(first - self.start)}"

    def _start_in(self, zone: str) -> int | None:
        """When the day begins in a zone that begins the next one at its end."""
        return start_of_day(zone, self.end - 1) if start_of_day(zone, self.end) == self.end else None

    def _named(self, preferred: str, offsets: list[int]) -> str | None:
        """The preferred zone if it begins a day at the end, else one without clock changes."""
        if self._start_in(preferred) is not None:
            return preferred
        if len(offsets) != 1:
            return None
        hours, rest = divmod(offsets[0], HOUR)
        if rest:
            half_years = [self.end + days * _DAY for days in (-182, 182)]
            return next((zone for zone in self._zones if all(start_of_day(zone, at) == at for at in half_years)), None)
        # These names have the sign of POSIX: west is positive.
        return "UTC" if hours == 0 else f"Etc/GMT{-hours:+d}"

    @property
    def zones(self) -> str:
        """The offsets and some names of the zones that begin a day at its end. Empty if there is none."""
        names = ", ".join(self._zones[:_NAMES] + ["…"] * (len(self._zones) > _NAMES))
        return names and f"{' or '.join(map(_offset, self._offsets))} ({names})"

    def has_times_of(self, zone: str) -> bool:
        """Whether the times of its rows are of this day, if they are written in a zone."""
        start = self._start_in(zone) or self.start
        read = [instant_in(zone, time) for time in self.times]
        return all(time is not None and start <= time < self.end for time in read)


def moment(milliseconds: int) -> datetime:
    """An instant of Unix milliseconds."""
    return datetime.fromtimestamp(milliseconds / 1_000, UTC)


def _offset(milliseconds: int) -> str:
    """An offset as `UTC+07:00`."""
    minutes = abs(milliseconds) // 60_000
    return f"UTC{'-' if milliseconds < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"
