"""The zone in which a service cuts its days, from the times of one of its days."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from collections.abc import Iterable

DAY = timedelta(days=1)
_FORMAT = "%Y-%m-%d %H:%M:%S"
# Zones differ by quarters of an hour.
_STEP = timedelta(minutes=15)
_WEST, _EAST = timedelta(hours=-12), timedelta(hours=14)


def possible_offsets(times: Iterable[str], asked: datetime) -> list[timedelta]:
    """The offsets from UTC at which all times (UTC, as the service writes them) are of the day that has the instant.

    Raises:
        ValueError: A time is not `YYYY-MM-DD HH:MM:SS`.
    """
    read = [datetime.strptime(time, _FORMAT).replace(tzinfo=UTC) for time in times]
    if not read:
        return []
    first, last = min(read), max(read)
    midnight = datetime.combine(asked.date(), datetime.min.time(), UTC)
    offsets = [_WEST + number * _STEP for number in range((_EAST - _WEST) // _STEP + 1)]
    found = []
    for offset in offsets:
        # The beginning of the day, in this zone, that has the instant.
        start = midnight - offset
        while start > asked:
            start -= DAY
        while start + DAY <= asked:
            start += DAY
        if start <= first and last < start + DAY:
            found.append(offset)
    return found


def zone_name(offset: timedelta, preferred: str, day: date) -> str | None:
    """The IANA name of a zone with this offset on a day: the preferred one, if it has it; None if none is simple."""
    noon = datetime.combine(day, datetime.min.time(), UTC) + DAY / 2
    if noon.astimezone(ZoneInfo(preferred)).utcoffset() == offset:
        return preferred
    hours, rest = divmod(offset, timedelta(hours=1))
    if rest:
        return None
    # In these names the sign is that of POSIX: west is positive.
    return "UTC" if hours == 0 else f"Etc/GMT{-hours:+d}"


def shown(offset: timedelta) -> str:
    """An offset as `UTC+07:00`."""
    minutes = int(offset.total_seconds()) // 60
    return f"UTC{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def shown_ranges(offsets: Iterable[timedelta]) -> str:
    """Ascending offsets, each run of quarters of an hour by its ends: `UTC-01:00 to UTC+03:15, UTC+07:00`."""
    runs: list[list[timedelta]] = []
    for offset in offsets:
        if runs and offset - runs[-1][-1] == _STEP:
            runs[-1].append(offset)
        else:
            runs.append([offset])
    return ", ".join(" to ".join(dict.fromkeys(map(shown, (run[0], run[-1])))) for run in runs)
