"""A service whose codes change, whose clock moves and which fails: the rules that state machines share."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, time
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from support.changing_codes import DAYS, TIMES, Codes, day_requested
from support.day_faults import DAY_FAULTS, PASSING, DayFaults
from support.machines import Clock, Tokens

import dataaccess as da

BEGINS = datetime(2024, 3, 3, 0, 30, tzinfo=UTC)

days = st.sampled_from(DAYS)
pairs = st.tuples(days, days).map(sorted)
# Days that follow each other.
some_days = pairs.map(lambda both: tuple(day for day in DAYS if both[0] <= day <= both[1]))
zones = st.sampled_from([None, None, "Asia/Ho_Chi_Minh", "America/Lima"])
audiences = st.sampled_from(["customer-1", "customer-2", None])


class ServiceMachine(RuleBasedStateMachine):
    """The service, its model, and a client."""

    def __init__(self) -> None:
        super().__init__()
        self.service = da.Sandbox(now=BEGINS)
        self.clock, self.tokens = Clock(self.service, BEGINS), Tokens(self.service)
        self.faults = DayFaults(self.service)

    def begin(self, zone: str | None, counts: list[int]) -> None:
        """The first days have some codes. The service cuts its days in the zone of its client."""
        self.codes = Codes(self.service, zone)
        self.zone: dict[str, Any] = {} if zone is None else {"timezone": zone}
        self.client = self.connect(self.zone)
        for day, count in zip(DAYS, counts, strict=False):
            self.codes.add(day, count, TIMES[1], 3, "customer-1")

    def teardown(self) -> None:
        self.faults.end()
        self.service.stop()

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

    # A refusal that is cut off may not show that it is of the token: neither is drawn with the other.

    @rule(options=st.sampled_from(PASSING))
    def a_request_fails(self, options: dict[str, Any]) -> None:
        if not ("after_bytes" in options and self.tokens.is_revoked):
            self.faults.add_passing(options)

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
        """Counts requests from here on."""
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
