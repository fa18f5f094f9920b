"""Faults of single days, which last until they are ended, and failures that pass: what each does to a request."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from datetime import date
from typing import Any

from support import kinds
from support.folder_model import Row

import dataaccess as da

PAGE: dict[str, Any] = {"kind": "status", "body": "<html>", "content_type": "text/html"}

# What each does to every request for its day: the class of its error, if it fails.
DAY_FAULTS: dict[str, tuple[dict[str, Any], type[da.DataAccessError] | None]] = {
    "refused": ({"kind": "status", "status": 400}, da.RequestRejectedError),
    "not there": ({**PAGE, "status": 404}, da.RequestRejectedError),
    "a login page": ({**PAGE, "status": 200}, kinds.NotJson),
    "a failure": ({"kind": "code", "code": 418}, da.ApiError),
    "a failure behind the rows": ({"kind": "late_code", "code": 418}, da.ApiError),
    "no code": ({"kind": "status", "status": 200, "body": '{"data": {"data": []}}'}, kinds.Envelope),
    "no records": ({"kind": "status", "status": 200, "body": '{"code": 200, "data": 7}'}, kinds.Envelope),
    "no data": ({"kind": "status", "status": 200, "body": '{"code": 200, "message": "ok"}'}, kinds.Envelope),
    "no rows left": ({"kind": "shrink", "keep": 0}, None),
    "a quarter left": ({"kind": "shrink", "keep": 0.25}, None),
    "most left": ({"kind": "shrink", "keep": 0.75}, None),
    "small pieces": ({"kind": "drip", "chunk_bytes": 50, "seconds": 0}, None),
    "a delay": ({"kind": "delay", "seconds": 0.01}, None),
}
REDIRECT: dict[str, Any] = {"kind": "redirect", "location": "https://elsewhere.example.com"}

# Failures of one request, which is retried.
PASSING: list[dict[str, Any]] = [
    {"kind": "status", "status": 503},
    {"kind": "status", "status": 503, "retry_after": 0},
    {"kind": "status", "status": 429, "retry_after": 0},
    {**PAGE, "status": 502},
    {"kind": "code", "code": 500},
    {"kind": "late_code", "code": 503},
    {"kind": "reset"},
    {"kind": "reset", "after_bytes": 40},
    {"kind": "cut"},
    {"kind": "cut", "after_bytes": 40},
]


class DayFaults:
    """The faults of a service that are active."""

    def __init__(self, service: da.Sandbox) -> None:
        self._service, self._stack = service, ExitStack()
        self._by_day: dict[date, str] = {}
        self._passing: list[da.sandbox.Fault] = []
        self._passed = 0
        # The day whose requests are redirected, which ends a run.
        self.redirected: date | None = None

    def add(self, day: date, name: str) -> None:
        """Begins a fault of a day that has none."""
        if day not in self._by_day and day != self.redirected:
            self._begin(DAY_FAULTS[name][0], where={"day": day})
            self._by_day[day] = name

    def redirect(self, day: date) -> None:
        """Begins to redirect the requests for a day that has no fault."""
        if self.redirected is None and day not in self._by_day:
            self._begin(REDIRECT, where={"day": day})
            self.redirected = day

    def add_passing(self, options: dict[str, Any]) -> None:
        """Begins a failure of one request. Faults that began before it come first."""
        self._passing.append(self._begin(options, times=1))

    def _begin(self, options: dict[str, Any], **others: Any) -> da.sandbox.Fault:
        return self._stack.enter_context(self._service.fault(**options, **others))

    @property
    def may_cut(self) -> bool:
        """Whether the next response may be cut off within its body."""
        return any("after_bytes" in fault._form and not fault.hits for fault in self._passing)

    def clear_requests(self) -> None:
        """Counts requests from here on."""
        self._service.clear_requests()
        self._passed = self._hits()

    def again(self) -> int:
        """How many requests failed since, in passing or for their token, so that they were sent again."""
        refused = sum(request.status in (401, 403) for request in self._service.requests)
        return self._hits() - self._passed + refused

    def _hits(self) -> int:
        return sum(fault.hits for fault in self._passing)

    @property
    def are_of_days(self) -> bool:
        """Whether a fault is of a day."""
        return bool(self._by_day) or self.redirected is not None

    def end(self) -> None:
        self._stack.close()
        self._by_day, self._passing, self.redirected = {}, [], None

    def left(self, day: date, rows: Sequence[Row]) -> list[Row]:
        """The rows that a response for a day has."""
        keep = DAY_FAULTS[self._by_day[day]][0].get("keep", 1) if day in self._by_day else 1
        return list(rows[: int(len(rows) * keep)])

    def is_without_data(self, day: date) -> bool:
        return self._by_day.get(day) == "no data"

    def is_page(self, day: date) -> bool:
        return self._by_day.get(day) == "a login page"

    def fails(self, day: date) -> type[da.DataAccessError] | None:
        """The class of the error of each request for a day; none if it succeeds."""
        return DAY_FAULTS[self._by_day[day]][1] if day in self._by_day else None
