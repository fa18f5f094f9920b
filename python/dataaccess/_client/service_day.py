"""Which day of a service holds an instant: its end is found by which rows come, and not by times in records.

So a service may write times in any zone, which is then read from the rows of the day. Instants are Unix milliseconds.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime

from dataaccess._native import instant_in, start_of_day, zones_beginning_day
from dataaccess.errors import DataAccessError

_HOUR = 3_600_000
_DAY = 24 * _HOUR
# Zones begin their days at quarters of an hour. A day has 25 hours at most.
STEP = _HOUR // 4
_STEPS = 25 * _HOUR // STEP
_NAMES = 3

NO_CALENDAR_DAYS = "the service may not cut calendar days"


class OpenError(DataAccessError):
    """Why questions have no answer, where nothing failed."""


async def end_of_day(
    sent: int, ids_at: Callable[[int], Awaitable[set[str]]], *, is_narrowed: bool
) -> tuple[int, set[str]]:
    """Finds when the day of an instant ends, and the ids of its codes: of all of an audience if that is searched.

    The instant of a search moves, by bisection, until the rows of the next day come: eight searches at most.
    """
    ids = await ids_at(sent)
    if not ids:
        raise OpenError("a search of the day for the audience of one of its codes found nothing")
    # Quarters of an hour after the instant: the day holds the first, and not the last.
    low, high = 0, _STEPS + 1
    while high - low > 1:
        middle = (low + high) // 2
        found = await ids_at(sent + middle * STEP)
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
        self.end, self._zones = end, zones_beginning_day(end)
        self.ends_at = f"{datetime.fromtimestamp(end / 1_000, UTC):%Y-%m-%d %H:%M} UTC"
        read = ((instant_in("UTC", time), time) for time in times if isinstance(time, str))
        written = sorted((instant, time) for instant, time in read if instant is not None)
        self.times = [time for _, time in written[:1] + written[-1:]]
        first, last = (written[0][0], written[-1][0]) if written else (end, end)
        east = -end % _DAY
        offsets = [offset for offset in (east - _DAY, east) if -12 * _HOUR <= offset <= 14 * _HOUR]
        # Offsets and some names of the zones that begin a day at its end. Empty if there is none.
        names = ", ".join(self._zones[:_NAMES] + ["…"] * (len(self._zones) > _NAMES))
        self.zones = names and f"{' or '.join(map(_offset, offsets))} ({names})"
        if len(offsets) > 1:
            # All times are of the date that ends then, if they are of the zone of the days.
            offsets = [at for at in offsets if written and end - _DAY <= first - at <= last - at < end]
        # None if two offsets fit.
        self.zone = self._steady(offsets[0]) if len(offsets) == 1 else None
        if self._start_in(preferred) is not None:
            self.zone = preferred
        self.start = next(filter(None, map(self._start_in, (preferred, *self._zones))), end - _DAY)
        # Whether no zone an hour away has the times on this day too; and the offsets of those that any zone may have.
        self.is_full = last - first > end - self.start - _HOUR
        self.offsets_of_times = f"{_offset(last - end)} to {_offset(first - self.start)}"

    def _start_in(self, zone: str) -> int | None:
        """When the day begins in a zone that begins the next one at its end."""
        return start_of_day(zone, self.end - 1) if start_of_day(zone, self.end) == self.end else None

    def _steady(self, offset: int) -> str | None:
        """A zone of an offset without clock changes."""
        hours, rest = divmod(offset, _HOUR)
        if rest:
            half_years = [self.end + days * _DAY for days in (-182, 182)]
            return next((zone for zone in self._zones if all(start_of_day(zone, at) == at for at in half_years)), None)
        # These names have the sign of POSIX: west is positive.
        return "UTC" if hours == 0 else f"Etc/GMT{-hours:+d}"

    def has_times_of(self, zone: str) -> bool:
        """Whether the times of its rows are of this day, if they are written in a zone."""
        start = self._start_in(zone) or self.start
        read = [instant_in(zone, time) for time in self.times]
        return all(time is not None and start <= time < self.end for time in read)


def _offset(milliseconds: int) -> str:
    """An offset as `UTC+07:00`."""
    minutes = abs(milliseconds) // 60_000
    return f"UTC{'-' if milliseconds < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"
