"""What state machines share: a service whose codes change, whose clock moves and which fails, and rules for it."""

from __future__ import annotations

import pickle
import traceback
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from support import kinds
from support.folder_model import Row

import dataaccess as da

FIRST = date(2024, 3, 1)
DAYS = [FIRST + timedelta(days=number) for number in range(6)]
# So many codes a day look capped to no run.
MOST = 9
# The times of a day that are first, last and between.
TIMES = [time(0, 0, 0), time(9, 30, 0), time(23, 59, 59)]


class Codes:
    """The codes of a service by their ids. A change is loaded into the service too."""

    def __init__(self, service: da.Sandbox, zone: str | None) -> None:
        """No codes, at a service that cuts its days in a zone."""
        self._service = service
        self.zone: tzinfo = ZoneInfo(zone or "UTC")
        service.switch(day_zone=zone or "UTC")
        self.by_id: dict[str, Row] = {}
        self._next = 0

    def add(self, day: date, count: int, at: time, status: int, audience: str | None) -> None:
        """New codes of a day, no more than a day may have."""
        allocated = datetime.combine(day, at, self.zone).astimezone(UTC)
        count = min(count, MOST - len(self.of_day(day)))
        new = [(f"code-{self._next + number:04}", allocated, status, audience) for number in range(count)]
        self._next += count
        self._put(new)

    def use(self, day: date) -> None:
        """Every other code of a day was used, or sent again."""
        self._put([(name, at, 7 - status, audience) for name, at, status, audience in self.of_day(day)[::2]])

    def lose(self, day: date, keep: int) -> None:
        """The service lost the codes of a day but the first ones."""
        lost = {row[0] for row in self.of_day(day)[keep:]}
        self.by_id = {name: row for name, row in self.by_id.items() if name not in lost}
        self._service.clear("promotion_code")
        self._load(self.by_id.values())

    def forget(self, day: date) -> None:
        """The service no longer knows who has the codes of a day."""
        self._put([(name, at, status, None) for name, at, status, _ in self.of_day(day)])

    def of_day(self, day: date) -> list[Row]:
        """The codes of a day, in the order of a response."""
        return sorted(row for row in self.by_id.values() if row[1].astimezone(self.zone).date() == day)

    def _put(self, rows: list[Row]) -> None:
        self.by_id |= {row[0]: row for row in rows}
        self._load(rows)

    def _load(self, rows: Iterable[Row]) -> None:
        loaded = [as_record(row) for row in rows]
        if loaded:
            self._service.load("promotion_code", loaded, replace=True)


ATTRS = ["id", "allocated_time", "code_status", "allocated_audience"]


def as_record(row: Row) -> dict[str, Any]:
    """A code as the service has it: its time is in UTC."""
    name, at, status, audience = row
    return dict(zip(ATTRS, (name, f"{at:%Y-%m-%d %H:%M:%S}", status, audience), strict=True))


def as_row(record: dict[str, Any]) -> Row:
    """A code of a file or a result, whose time is a datetime or a string, in UTC if it has no zone."""
    at: Any = record["allocated_time"]
    at = datetime.fromisoformat(at) if isinstance(at, str) else at
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return record["id"], at, record["code_status"], record["allocated_audience"]


def day_requested(request: da.sandbox.ReceivedRequest, zone: tzinfo) -> date:
    milliseconds = request.body["filters"]["OR"][0]["AND"][-1]["value"]
    return datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone(zone).date()


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


# How often a state machine runs, for each example of a property of one call.
SHARE = 0.2
SCOPES = ["item", "download"]
# Real time that an example takes at most: no rule depends on less of the service's clock.
SLACK = timedelta(minutes=20)


def run_machine(machine: Any, *, steps: int = 20, share: float = SHARE) -> None:
    """Runs the machines that a class or function makes: a few in `make test`, hundreds in `pytest -m soak`."""
    profile = settings()
    chosen = settings(
        profile,
        max_examples=max(1, round(profile.max_examples * share)),
        stateful_step_count=steps,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    run_state_machine_as_test(machine, settings=chosen)


class Clock:
    """The time of a service: where it began, and by how much it was advanced. Real seconds count as none."""

    def __init__(self, service: da.Sandbox, begins: datetime) -> None:
        self._service, self.now = service, begins

    def advance(self, hours: int) -> None:
        self._service.advance(hours=hours)
        self.now += timedelta(hours=hours)

    def is_now(self, time: datetime) -> bool:
        """Whether a time, of whole seconds, is of the present step."""
        return self.now - timedelta(seconds=1) <= time <= self.now + SLACK


def locals_of_package(error: BaseException) -> list[str]:
    """The locals of the frames of this package."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return [repr(frame.f_locals) for frame in frames if frame.f_globals["__name__"].startswith("dataaccess")]


def assert_hidden(tokens: list[str], *things: object) -> None:
    """No token is in a text of these, nor in the pickle of those that pickle, nor in the frames of an error."""
    for thing in things:
        shown = [str(thing), repr(thing)]
        if isinstance(thing, BaseException):
            shown += [*traceback.format_exception(thing), *locals_of_package(thing)]
        pickled = b""
        with suppress(TypeError, AttributeError, pickle.PicklingError):
            pickled = pickle.dumps(thing)
        for token in tokens:
            assert all(token not in text for text in shown), f"a token in {type(thing).__name__}"
            assert token.encode() not in pickled, f"a token in a pickle of {type(thing).__name__}"


class Tokens:
    """A `token=` callable: each call gives a new token, unless the source is stuck."""

    def __init__(self, service: da.Sandbox) -> None:
        self._service = service
        self.is_stuck = self.is_revoked = False
        self._revoked = 0
        self.issued = [service.issue_token(SCOPES)]

    def __call__(self) -> str:
        if not self.is_stuck:
            self.issued.append(self._service.issue_token(SCOPES))
            self.is_revoked = False
        return self.issued[-1]

    def revoke(self) -> None:
        """Ends all tokens, also of other clients."""
        for token in self.issued[self._revoked :]:
            self._service.revoke(token)
        self._revoked, self.is_revoked = len(self.issued), True


BEGINS = datetime(2024, 3, 3, 0, 30, tzinfo=UTC)

days = st.sampled_from(DAYS)
pairs = st.tuples(days, days).map(sorted)
# Days that follow each other.
some_days = pairs.map(lambda both: tuple(day for day in DAYS if both[0] <= day <= both[1]))
zones = st.sampled_from([None, None, "Asia/Ho_Chi_Minh", "America/Lima"])
audiences = st.sampled_from(["customer-1", "customer-2", None])


class Machine(RuleBasedStateMachine):
    """A service, its clock, its tokens and its faults."""

    def __init__(self) -> None:
        super().__init__()
        self.service = da.Sandbox(now=BEGINS)
        self.clock, self.tokens = Clock(self.service, BEGINS), Tokens(self.service)
        self.faults = DayFaults(self.service)

    def teardown(self) -> None:
        self.faults.end()
        self.service.stop()

    # A refusal that is cut off may not show that it is of the token: neither is drawn with the other.

    @rule(options=st.sampled_from(PASSING))
    def a_request_fails(self, options: dict[str, Any]) -> None:
        if not ("after_bytes" in options and self.tokens.is_revoked):
            self.faults.add_passing(options)


class ServiceMachine(Machine):
    def begin(self, zone: str | None, counts: list[int]) -> None:
        """The first days have some codes. The service cuts its days in the zone of its client."""
        self.codes = Codes(self.service, zone)
        self.zone: dict[str, Any] = {} if zone is None else {"timezone": zone}
        self.client = self.connect(self.zone)
        for day, count in zip(DAYS, counts, strict=False):
            self.codes.add(day, count, TIMES[1], 3, "customer-1")

    def connect(self, options: dict[str, Any]) -> da.Client:
        return da.Client(**{"base_url": self.service.base_url, "token": self.tokens, "concurrency": 3, **options})

    @rule(day=days, count=st.integers(1, 6), at=st.sampled_from(TIMES), audience=audiences)
    def codes_are_allocated(self, day: date, count: int, at: time, audience: str | None) -> None:
        self.codes.add(day, count, at, 3, audience)

    @rule(day=days)
    def codes_are_used(self, day: date) -> None:
        self.codes.use(day)

    @rule(day=days, keep=st.integers(0, 5))
    def codes_are_lost(self, day: date, keep: int) -> None:
        self.codes.lose(day, keep)

    @rule(day=days)
    def a_column_loses_its_values(self, day: date) -> None:
        self.codes.forget(day)

    @rule(hours=st.sampled_from([1, 5, 24, 48]))
    def time_passes(self, hours: int) -> None:
        self.clock.advance(hours)

    @rule(day=days, name=st.sampled_from(list(DAY_FAULTS)))
    def a_day_fails_or_shrinks(self, day: date, name: str) -> None:
        self.faults.add(day, name)

    @rule(day=days)
    def a_day_is_redirected(self, day: date) -> None:
        self.faults.redirect(day)

    @rule(is_stuck=st.booleans())
    def the_token_is_revoked(self, *, is_stuck: bool) -> None:
        if not self.faults.may_cut:
            self.tokens.is_stuck |= is_stuck
            self.tokens.revoke()

    @rule()
    def the_service_recovers(self) -> None:
        self.faults.end()
        self.tokens.is_stuck = False

    def begin_call(self) -> None:
        self.faults.clear_requests()
        self._sent = self.client.stats.requests

    def check_requests(self, days: Counter[date], *, by_client: bool = True) -> None:
        """Each of these was requested, and once more for each failure that passed. Nothing else was sent."""
        requests = self.service.requests
        asked = Counter(day_requested(request, self.codes.zone) for request in requests)
        assert set(asked) == set(days), f"requested {sorted(map(str, asked))} and not {sorted(map(str, days))}"
        for day in filter(self.faults.is_page, asked):
            # Retried, as from the middle of an outage, once the service has responded properly.
            asked[day] = days[day]
        assert asked.total() == days.total() + self.faults.again(), [(each.status, each.fault) for each in requests]
        assert not by_client or self.client.stats.requests - self._sent == len(requests)
