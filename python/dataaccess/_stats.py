"""What is told of a search or scan whose answer ended well: its figures, and warnings of what is doubtful."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dataaccess import errors
from dataaccess._warn import warn_caller


@dataclass(frozen=True, slots=True)
class ScanStats:
    """Figures of one use of a scan.

    Attributes:
        rows: Rows handed over.
        bytes: Size of the answer.
        seconds: From the start to the end of the answer; of batches with the time their consumer took.
        attempts: Requests sent.
        empty_shape: What stood in place of the records when there were none, as `data.data []`.
        extra_keys: Keys that were not asked for, and how many records had each. Rows keep them, columns do not.
        absent: Attributes that no record had, not even as null; not told of an answer that was cut by a limit.
    """

    rows: int
    bytes: int
    seconds: float
    attempts: int
    empty_shape: str | None
    extra_keys: dict[str, int]
    absent: list[str]

    @property
    def retries(self) -> int:
        """Requests sent after the first."""
        return self.attempts - 1


def stats_of(told: dict[str, Any]) -> ScanStats:
    """The figures as the core tells them."""
    fields = {name: value for name, value in told.items() if name != "doubts"}
    return ScanStats(**{**fields, "extra_keys": dict(told["extra_keys"])})


def warn_of(told: dict[str, Any]) -> None:
    """Warns of whatever is doubtful."""
    for doubt in told["doubts"]:
        warn_caller(doubt["message"], getattr(errors, doubt["category"]))
