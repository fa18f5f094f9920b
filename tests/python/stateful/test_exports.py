"""Segment exports at a clock that a test moves: downloads and waits are what the plans of the entries say."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule
from support.service_machine import Machine, assert_hidden, run_machine

import dataaccess as da

UNKNOWN = 77

# An entry as it is planned: times in hours.
Planned = dict[str, Any]
planned = st.fixed_dictionaries(
    {"delay": st.integers(0, 3), "hours": st.integers(0, 5), "rows": st.integers(0, 2**40)},
    optional={"succeeds": st.booleans(), "code": st.sampled_from([200, 403, 500]), "message": st.text(max_size=5)},
)


@dataclass(frozen=True)
class Export:
    begins: datetime
    entries: list[Planned]

    def at(self, now: datetime) -> list[dict[str, Any]]:
        """Its entries at a time: those that have begun, with nulls until they end."""
        begun = [one for one in self.entries if now >= self.begins + timedelta(hours=one["delay"])]
        return [self._entry(one, now) for one in begun]

    def _entry(self, one: Planned, now: datetime) -> dict[str, Any]:
        if now < self.begins + timedelta(hours=one["delay"] + one["hours"]):
            return {"exportedRows": None, "responseCode": None, "responseMessage": None, "is_over": False}
        code, message = (200, "OK") if one.get("succeeds", True) else (500, "The destination refused the file")
        given = {"responseCode": one.get("code", code), "responseMessage": one.get("message", message)}
        return {"exportedRows": one["rows"], **given, "is_over": True}


def found(response: Any) -> list[dict[str, Any]]:
    """The same of a response."""
    names = ("exportedRows", "responseCode", "responseMessage")
    assert response["meta"]["total"] == len(response["entries"])
    return [
        {**{name: one[name] for name in names}, "is_over": one["endTime"] is not None} for one in response["entries"]
    ]


def is_over(entries: list[dict[str, Any]], *, check: bool) -> bool:
    """Whether a wait ends: all entries have ended, or one has failed."""
    return bool(entries) and (all(one["is_over"] for one in entries) or (check and has_failed(entries)))


def has_failed(entries: list[dict[str, Any]]) -> bool:
    return any(one["is_over"] and one["responseCode"] != 200 for one in entries)


class Exports(Machine):
    def __init__(self) -> None:
        super().__init__()
        self.client = da.Client(self.service.base_url, token=self.tokens)
        self.exports: dict[int, Export] = {}

    @rule(number=st.integers(1, 4), entries=st.lists(planned, max_size=4))
    def an_export_is_started(self, number: int, entries: list[Planned]) -> None:
        """It replaces one with the same id."""
        seconds = [
            {name: value for name, value in one.items() if name != "hours"}
            | {"delay": 3600 * one["delay"], "seconds": 3600 * one["hours"]}
            for one in entries
        ]
        assert self.service.start_export(entries=seconds, export_id=number) == number
        self.exports[number] = Export(self.clock.now, entries)

    @rule(hours=st.integers(1, 4))
    def time_passes(self, hours: int) -> None:
        self.clock.advance(hours)

    @rule()
    def the_token_is_revoked(self) -> None:
        if not self.faults.may_cut:
            self.tokens.revoke()

    @rule()
    def faults_end(self) -> None:
        self.faults.end()

    @rule(number=st.integers(1, 4))
    def a_download(self, number: int) -> None:
        """It is what the export is now, after one request and one for each failure."""
        self.faults.clear_requests()
        may_cut = self.faults.may_cut
        if number in self.exports:
            assert found(self.client.download_segment(number)) == self.exports[number].at(self.clock.now)
        else:
            with pytest.raises(da.RequestRejectedError, check=lambda error: error.status == 404) as caught:
                self.client.download_segment(number)
            assert_hidden(self.tokens.issued, caught.value)
        requests = self.service.requests
        # A refusal needs no body: one that is cut off is not sent again.
        passed = 0 if may_cut and number not in self.exports else self.faults.again()
        assert len(requests) == 1 + passed, [request.status for request in requests]

    @rule(number=st.integers(1, 4), hours=st.integers(1, 3), check=st.booleans())
    def a_wait(self, number: int, hours: int, *, check: bool) -> None:
        """Each look moves the clock, so that it ends; its last look is its result."""
        export = self.exports.get(number)
        if export is None or not export.entries:
            return
        seen: list[datetime] = []

        def on_update(response: Any) -> None:
            # The next look may be before the clock moves.
            times = [time for time in [*seen[-1:], self.clock.now] if found(response) == export.at(time)]
            assert times, (found(response), export.at(self.clock.now))
            seen.append(self.clock.now)
            self.clock.advance(hours)

        begins, failed = self.clock.now, None
        ended: Any
        try:
            ended = self.client.wait_for_segment(number, timeout=600, poll=0.002, on_update=on_update, check=check)
        except da.SegmentExportError as error:
            failed, ended = error, {"entries": error.entries, "meta": {"total": len(error.entries)}}
            assert_hidden(self.tokens.issued, failed)
        entries = found(ended)
        assert (failed is not None) == (check and has_failed(entries))
        assert is_over(entries, check=check)
        at = next(time for time in (begins + timedelta(hours=n) for n in range(99)) if entries == export.at(time))
        assert at <= self.clock.now
        # The look before it showed no end.
        assert not any(is_over(export.at(time), check=check) for time in seen[:-2])

    @rule(number=st.integers(1, 4))
    def a_wait_that_is_too_short(self, number: int) -> None:
        """An error with what the last look found."""
        export = self.exports.get(number)
        if export is None or is_over(export.at(self.clock.now), check=True):
            return
        # A pause that the service asked for may take all of that time, so that nothing is sent.
        with pytest.raises((da.WaitTimeoutError, da.RequestTimeoutError)) as caught:
            self.client.wait_for_segment(number, timeout=0.1, poll=0.03)
        last = getattr(caught.value, "last", None)
        assert last is None or found(last) == export.at(self.clock.now)
        assert_hidden(self.tokens.issued, caught.value)

    @rule()
    def a_token_without_the_scope(self) -> None:
        """Refused, and not retried."""
        self.faults.end()
        self.service.clear_requests()
        token = self.service.issue_token(["item"])
        with da.Client(self.service.base_url, token=token) as client:
            with pytest.raises(da.PermissionDeniedError) as caught:
                client.download_segment(UNKNOWN)
            assert_hidden([token], caught.value, client)
        assert len(self.service.requests) == 1


@pytest.mark.slow
@pytest.mark.hypothesis
@pytest.mark.timeout(3600)
def test_exports_are_what_their_plans_say(time_scale: Any) -> None:
    time_scale(20)
    run_machine(Exports, steps=15)
