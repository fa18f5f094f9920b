"""Figures of a client, and what is told of a search or scan whose answer ended well: figures and doubts."""

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
        bytes: Size of the answers.
        seconds: From the start to the end of the last answer; of batches with the time their consumer took.
        requests: Answers that were read: one for each request of the plan, or fewer where a limit was reached.
        attempts: Requests sent, with those that were sent again.
        empty_shape: What stood in place of the records when there were none, as `data.data []`.
        extra_keys: Keys that were not asked for, and how many records had each. Rows keep them, columns do not.
        absent: Attributes that no record had, not even as null; not told of an answer that was cut by a limit.
    """

    rows: int
    bytes: int
    seconds: float
    requests: int
    attempts: int
    empty_shape: str | None
    extra_keys: dict[str, int]
    absent: list[str]

    @property
    def retries(self) -> int:
        """Requests sent again."""
        return self.attempts - self.requests


@dataclass(frozen=True, slots=True)
class ClientStats:
    """Figures of a client since it was made.

    Attributes:
        requests: Requests sent, with those that were sent again.
        retries: Requests sent again after a failure, which `retries=` bounds.
        free_retries: Requests sent again at once, beyond `retries=`: the service had closed the idle connection
            that they were sent on. A call has at most one.
        throttled: Answers that asked to slow down (HTTP 429 and 503).
        in_flight: Requests whose answer has not ended yet.
        bytes_received: Size of all bodies as they came: compressed, if they were.
        connections_opened: Connections to the service.
        quota_left: What may still be spent on sending again: a retry costs 14, or 5 after being asked to slow down.
            Success pays back; at 0 a failure is told at once, with `quota_exhausted`.
    """

    requests: int
    retries: int
    free_retries: int
    throttled: int
    in_flight: int
    bytes_received: int
    connections_opened: int
    quota_left: int


def stats_of(told: dict[str, Any]) -> ScanStats:
    """The figures as the core tells them."""
    fields = {name: value for name, value in told.items() if name != "warnings"}
    return ScanStats(**{**fields, "extra_keys": dict(told["extra_keys"])})


def warn_of(told: dict[str, Any]) -> None:
    """Warns of whatever is doubtful."""
    for warning in told["warnings"]:
        warn_caller(warning["message"], getattr(errors, warning["category"]))
