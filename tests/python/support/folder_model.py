"""What `docs/folders.md` says about runs into a folder of days, in plain Python: what they request, keep and replace.

It knows no files. A day has at most nine rows here, so that no number of rows looks capped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any, Literal

import dataaccess as da

# Id, time, status and audience, which may be none.
Row = tuple[str, datetime, int, str | None]
Damage = Literal["none", "rows", "footer"]
Outcome = Literal["replaced", "kept", "failed"]
# A newer response was refused; or it was written although it had less.
Doubt = Literal["none", "kept", "less"]


@dataclass(frozen=True)
class Part:
    """A file: the rows of a day as they were when they were requested."""

    rows: tuple[Row, ...]
    requested_at: datetime
    doubt: Doubt = "none"
    is_accepted: bool = False
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

    def loses(self, rows: Sequence[Row]) -> bool:
        """Whether a response lacks, or has lost more than a tenth of the rows."""
        return self.lacks(rows) or 10 * len(rows) < 9 * len(self.rows)


@dataclass(frozen=True)
class Refresh:
    """A form of `refresh=` and `accept=`: as it is written, and the days that it chooses."""

    written: Any
    chosen: Callable[[Order], set[date]]
    # Whether it names days, all of which a scan must have.
    names_days: bool = False

    def __repr__(self) -> str:
        return repr(self.written)


@dataclass(frozen=True)
class Order:
    days: tuple[date, ...]
    zone: tzinfo
    refresh: Refresh | None = None
    accept: Refresh | None = None
    settle: int = 1
    # `rows`: a function that accepts what has rows.
    on_doubt: Literal["warn", "error", "rows"] = "warn"
    # So many rows of a response look cut off.
    cap: int | None = None

    def is_settled(self, day: date, part: Part) -> bool:
        """Whether it was requested after its day was over, plus the hours of `settle`."""
        end = datetime(day.year, day.month, day.day, tzinfo=self.zone) + timedelta(days=1)
        return part.requested_at >= end.astimezone(UTC) + timedelta(hours=self.settle)

    def is_over(self, day: date, part: Part) -> bool:
        """Whether it was requested after its day was over."""
        return replace(self, settle=0).is_settled(day, part)

    def is_final(self, day: date, part: Part) -> bool:
        """Whether no run need request it again."""
        return self.is_settled(day, part) and part.doubt != "kept"

    def is_capped(self, rows: Sequence[Row]) -> bool:
        return len(rows) == self.cap

    def doubts(self, part: Part) -> bool:
        """Whether a file looks wrong to this run."""
        return part.doubt != "none" or (self.is_capped(part.rows) and not part.is_accepted)

    def named(self, which: Refresh | None) -> set[date]:
        return set() if which is None else which.chosen(self)


@dataclass
class FolderModel:
    """The files of a folder by their days."""

    parts: dict[date, Part] = field(default_factory=dict)

    def readable(self, order: Order) -> dict[date, Part]:
        """The files of the days of a run that it can read."""
        return {day: self.parts[day] for day in order.days if day in self.parts and self.parts[day].is_readable}

    def refuses(self, order: Order) -> bool:
        """Whether an argument names a day that the scan does not have."""
        named = (order.named(one) for one in (order.refresh, order.accept) if one is not None and one.names_days)
        return any(not days <= set(order.days) for days in named)

    def requested(self, order: Order) -> set[date]:
        """The days that a run requests."""
        readable = self.readable(order)
        missing = {day for day in order.days if day not in self.parts}
        outdated = {day for day, part in readable.items() if not order.is_final(day, part)}
        accepted = {day for day in order.named(order.accept) & set(readable) if order.doubts(readable[day])}
        return missing | outdated | accepted | order.named(order.refresh)

    def damaged(self, order: Order) -> set[date]:
        """The days whose damage a run reports, as it does not replace them."""
        return {day for day in order.days if day in self.parts} - set(self.readable(order)) - self.requested(order)

    def outcome(self, order: Order, day: date, rows: Sequence[Row]) -> Outcome:
        """What becomes of the file of a requested day by a response with these rows."""
        before = self.readable(order).get(day)
        if self.accepts(order, day, rows):
            return "replaced"
        if order.on_doubt == "warn":
            return "kept" if before is not None and before.lacks(rows) else "replaced"
        loses = order.is_capped(rows) or (before is not None and before.loses(rows))
        return "failed" if (loses if order.on_doubt == "error" else not rows) else "replaced"

    def accepts(self, order: Order, day: date, rows: Sequence[Row]) -> bool:
        """Whether a response is taken as it is."""
        before = self.readable(order).get(day)
        is_known = before is not None and before.is_accepted and len(before.rows) == len(rows)
        return day in order.named(order.accept) or is_known

    def after(self, order: Order, day: date, rows: Sequence[Row], requested_at: datetime) -> Part | None:
        """The file of a requested day after that; none if there is none."""
        outcome, before = self.outcome(order, day, rows), self.parts.get(day)
        if outcome == "replaced":
            is_accepted, readable = self.accepts(order, day, rows), self.readable(order).get(day)
            is_less = not is_accepted and readable is not None and readable.loses(rows)
            return Part(tuple(rows), requested_at, "less" if is_less else "none", is_accepted)
        # A file whose rows are damaged cannot be written with another record.
        if before is None or not before.is_readable or before.damage != "none":
            return before
        return replace(before, doubt="kept", is_accepted=False)


# Not `all` alone: a run also requests days that have no file.
ALL = Refresh("all", lambda order: set(order.days))


def days(first: date, final: date, *, is_text: bool = False) -> Refresh:
    """Named days, both included."""
    named = {first + timedelta(days=number) for number in range((final - first).days + 1)}
    stop = final + timedelta(days=1)
    written: Any = f"days('{first}', '{stop}')" if is_text else da.days(first, stop)
    return Refresh(str(first) if first == final else written, lambda _order: named, names_days=True)
