"""The full figures of what the process around the package may do: Ctrl-C, cancelling, forks, exits, a crowd."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import sys
from collections import Counter
from typing import Any

import pytest
from support.cancelling import seconds_until_closed
from support.forking import STATES, forked
from support.interpreter_exit import WORKS, ended
from support.interrupts import SIX, seconds_late
from support.many_threads import IN_FLIGHT, crowd

import dataaccess as da

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(sys.platform != "linux", reason="forks, signals and figures of a process as Linux has them"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]

# Trials of each state, calls, forks of each state, exits in all, and seconds of the crowd.
INTERRUPTIONS, CANCELS, FORKS, EXITS = 20, 500, 200, 210
SECONDS = float(os.environ.get("SOAK_SECONDS", "600"))


@pytest.fixture
def chance() -> random.Random:
    return random.Random()


@pytest.mark.usefixtures("ctrl_c")
def test_p3_ctrl_c_is_obeyed_within_150_ms_in_each_of_six_states(chance: random.Random) -> None:
    late = {state: max(seconds_late(state, chance.uniform(0, 0.3)) for _ in range(INTERRUPTIONS)) for state in SIX}
    assert max(late.values()) <= 0.15, late


def test_p4_500_cancelled_calls_are_closed_within_50_ms(monkeypatch: pytest.MonkeyPatch) -> None:
    unraisable: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    late = seconds_until_closed(CANCELS, seed=random.randrange(2**32))
    gc.collect()
    assert unraisable == []
    assert max(late) <= 0.05, sorted(late)[-10:]


@pytest.mark.parametrize("state", STATES)
def test_p1_two_hundred_forks_answer_within_a_second(sandbox: da.Sandbox, state: str) -> None:
    first = [forked(state, sandbox) for _ in range(FORKS)]
    assert max(first) < 1, sorted(first)[-10:]


def test_p7_two_hundred_exits_are_quiet(chance: random.Random) -> None:
    works = list(WORKS)

    async def run() -> Counter[tuple[str, tuple[int, str]]]:
        # More at once than there are processors: that is when an exit meets a thread that comes back late.
        places = asyncio.Semaphore(6)

        async def one(number: int) -> tuple[str, tuple[int, str]]:
            work = works[number % len(works)]
            async with places:
                return work, await asyncio.to_thread(ended, work, chance.choice([0.005, chance.uniform(0, 0.2)]))

        return Counter(await asyncio.gather(*(one(number) for number in range(EXITS))))

    ends = asyncio.run(run())
    assert {end for _, end in ends} == {(0, "")}, ends


def test_p8_a_thousand_requests_in_flight_leave_nothing_behind() -> None:
    responses, most, samples = crowd(SECONDS)
    memory, descriptors = zip(*samples, strict=True)
    assert responses > IN_FLIGHT
    assert most >= IN_FLIGHT * 9 // 10
    first, last = max(memory[: len(memory) // 4]), max(memory[-(len(memory) // 4) :])
    assert last <= first * 1.05, memory
    assert max(descriptors) - min(descriptors) <= IN_FLIGHT // 10, descriptors
