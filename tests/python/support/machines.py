"""What the state machines share: how much they draw, a clock that is handed in, and what must show no token."""

from __future__ import annotations

import pickle
import traceback
from datetime import datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

import dataaccess as da

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
        """Moves the clock of the service."""
        self._service.advance(hours=hours)
        self.now += timedelta(hours=hours)

    def is_now(self, time: datetime) -> bool:
        """Whether a time, of whole seconds, is of the present step."""
        return self.now - timedelta(seconds=1) <= time <= self.now + SLACK


def assert_hidden(tokens: list[str], *things: object) -> None:
    """No token is in a text of these, nor in the pickle of those that pickle, nor in the frames of an error."""
    for thing in things:
        shown = [str(thing), repr(thing)]
        if isinstance(thing, BaseException):
            shown += [*traceback.format_exception(thing), *locals_of_package(thing)]
        with_pickle = pickled(thing)
        for token in tokens:
            assert all(token not in text for text in shown), f"a token in {type(thing).__name__}"
            assert token.encode() not in with_pickle, f"a token in a pickle of {type(thing).__name__}"


def locals_of_package(error: BaseException) -> list[str]:
    """The locals of the frames of this package."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return [repr(frame.f_locals) for frame in frames if frame.f_globals["__name__"].startswith("dataaccess")]


def pickled(thing: object) -> bytes:
    try:
        return pickle.dumps(thing)
    except (TypeError, AttributeError, pickle.PicklingError):
        return b""


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
        """Ends all tokens, also those of other clients."""
        for token in self.issued[self._revoked :]:
            self._service.revoke(token)
        self._revoked, self.is_revoked = len(self.issued), True
