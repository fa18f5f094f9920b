"""What `docs/folders.md` says about runs into a folder of days, in plain Python: what they request, keep and replace.

It knows neither the package nor files. A day has at most nine rows here, so that no number of rows looks capped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any, Literal

# Id, time, status and audience, which may be none.
Row = tuple[str, datetime, int, str | None]
Damage = Literal["none", "rows", "footer"]
Outcome = Literal["replaced", "in doubt", "failed"]


@dataclass(frozen=True)
class Part:
    """A file: the rows of a day as they were when they were requested."""

    rows: tuple[Row, ...]
    requested_at: datetime
    is_in_doubt: bool = False
    damage: Damage = "none"

    @property
    def is_readable(self) -> bool:
        """Whether a run can read its record."""
        return self.damage != "footer"

    def lacks(self, rows: Sequence[Row]) -> bool:
        """Whether a response has less: less than half of the rows, or no value in a column that has some."""
        if 2 * len(rows) < len(self.rows):
            return True
        has_values = any(row[3] is not None for row in self.rows)
        return bool(rows) and has_values and all(row[3] is None for row in rows)


@dataclass(frozen=True)
class Refresh:
    """A form of `refresh=`: as it is written, and the days that it chooses."""

    written: Any
    chosen: Callable[[Order, dict[date, Part]], set[date]]
    # Whether it names days, all of which a scan must have.
    names_days: bool = False

    def __repr__(self) -> str:
        """As it is written."""
        return repr(self.written)


@dataclass(frozen=True)
class Order:
    """The arguments of a run."""

    days: tuple[date, ...]
    zone: tzinfo
    refresh: tuple[Refresh, ...] = ()
    keep: Literal["final", "all"] = "final"
    settle: int = 1
    on_shrink: Literal["keep", "replace", "error"] = "keep"
    # `rows`: a function that accepts what has rows.
    on_doubt: Literal["warn", "error", "rows"] = "warn"

    def is_settled(self, day: date, part: Part) -> bool:
        """Whether it was requested after its day was over, plus the hours of `settle`."""
        end = datetime(day.year, day.month, day.day, tzinfo=self.zone) + timedelta(days=1)
        return part.requested_at >= end.astimezone(UTC) + timedelta(hours=self.settle)

    def is_final(self, day: date, part: Part) -> bool:
        """Whether no run need request it again."""
        return self.is_settled(day, part) and not part.is_in_doubt


@dataclass
class FolderModel:
    """The files of a folder by their days."""

    parts: dict[date, Part] = field(default_factory=dict)

    def readable(self, order: Order) -> dict[date, Part]:
        """The files of the days of a run that it can read."""
        return {day: self.parts[day] for day in order.days if day in self.parts and self.parts[day].is_readable}

    def refuses(self, order: Order) -> bool:
        """Whether `refresh=` names a day that the scan does not have."""
        named = (one.chosen(order, {}) for one in order.refresh if one.names_days)
        return any(not days <= set(order.days) for days in named)

    def requested(self, order: Order) -> set[date]:
        """The days that a run requests."""
        readable = self.readable(order)
        refreshed = {day for one in order.refresh for day in one.chosen(order, readable)}
        missing = {day for day in order.days if day not in self.parts}
        is_kept = order.keep == "all"
        outdated = {day for day, part in readable.items() if not is_kept and not order.is_final(day, part)}
        return missing | outdated | refreshed

    def damaged(self, order: Order) -> set[date]:
        """The days whose damage a run reports, as it does not replace them."""
        return {day for day in order.days if day in self.parts} - set(self.readable(order)) - self.requested(order)

    def outcome(self, order: Order, day: date, rows: Sequence[Row]) -> Outcome:
        """What becomes of the file of a requested day by a response with these rows."""
        before = self.readable(order).get(day)
        lacks = before is not None and before.lacks(rows)
        if (order.on_doubt == "error" and lacks) or (order.on_doubt == "rows" and not rows):
            return "failed"
        if lacks and order.on_shrink != "replace":
            return "failed" if order.on_shrink == "error" else "in doubt"
        return "replaced"

    def after(self, order: Order, day: date, rows: Sequence[Row], requested_at: datetime) -> Part | None:
        """The file of a requested day after that; none if there is none."""
        outcome, before = self.outcome(order, day, rows), self.parts.get(day)
        if outcome == "replaced":
            return Part(tuple(rows), requested_at)
        if outcome == "in doubt" and before is not None:
            return Part(before.rows, before.requested_at, is_in_doubt=True, damage=before.damage)
        return before


# Not `all` alone: a run also requests days that have no file.
ALL = Refresh("all", lambda order, _: set(order.days))


def last(count: int) -> Refresh:
    """The last days of the scan."""
    days = "day" if count == 1 else "days"
    return Refresh(f"last {count} {days}", lambda order, _: set(order.days[-count:]))


def days(first: date, final: date) -> Refresh:
    """Named days, both included."""
    named = {first + timedelta(days=number) for number in range((final - first).days + 1)}
    written = str(first) if first == final else f"{first} to {final}"
    return Refresh(written, lambda _order, _readable: named, names_days=True)


def requested_before(time: datetime) -> Refresh:
    """Files that were requested before a time."""

    def chosen(_order: Order, readable: dict[date, Part]) -> set[date]:
        return {day for day, part in readable.items() if part.requested_at < time}

    return Refresh(f"requested before {time.isoformat()}", chosen)


def older_than(hours: int) -> Refresh:
    """Old files. The clock of this machine is years ahead of the service's, so that every file is older."""
    return Refresh(f"older than {hours} hours", lambda _, readable: set(readable))


def one_of(count: int) -> Refresh:
    """A share of the tasks, the oldest of the final files first."""

    def chosen(order: Order, readable: dict[date, Part]) -> set[date]:
        final = [(part.requested_at, day) for day, part in readable.items() if order.is_final(day, part)]
        return {day for _, day in sorted(final)[: -(-len(order.days) // count)]}

    return Refresh(f"1/{count}", chosen)
