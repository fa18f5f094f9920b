"""The full figures, at the true pace: processes, chaos, outages, kills, damage, cuts, properties of many examples."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import secrets
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support.chaos import BY, chaotic
from support.damage import check, cuts, flips, scan_of
from support.forking import STATES, forked
from support.interpreter_exit import WORKS, ended
from support.interrupts import SIX, seconds_late, seconds_until_closed
from support.killed_runs import killed
from support.many_threads import IN_FLIGHT, crowd
from support.operations import up_after
from support.programs import free_port
from support.raw_server import http, serving
from support.runs import some_days
from support.slow_consumer import MEBIBYTE, rest
from support.slow_responses import CASES, closing_idle
from support.truncation import client_of, cutting, every_wire, wires

import dataaccess as da

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(3600),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]
on_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="forks, signals and figures of a process as Linux has them"
)

# Trials of each state, calls, forks of each state, exits in all, and seconds of the crowd.
INTERRUPTIONS, CANCELS, FORKS, EXITS = 20, 500, 200, 210
SECONDS = float(os.environ.get("SOAK_SECONDS", "600"))


@pytest.fixture
def chance() -> random.Random:
    return random.Random()


@on_linux
@pytest.mark.usefixtures("ctrl_c")
def test_p3_ctrl_c_is_obeyed_within_150_ms_in_each_of_six_states(chance: random.Random) -> None:
    late = {state: max(seconds_late(state, chance.uniform(0, 0.3)) for _ in range(INTERRUPTIONS)) for state in SIX}
    assert max(late.values()) <= 0.15, late


@on_linux
def test_p4_500_cancelled_calls_are_closed_within_50_ms(monkeypatch: pytest.MonkeyPatch) -> None:
    unraisable: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    late = seconds_until_closed(CANCELS, seed=random.randrange(2**32))
    gc.collect()
    assert unraisable == []
    assert max(late) <= 0.05, sorted(late)[-10:]


@on_linux
@pytest.mark.parametrize("state", STATES)
def test_p1_two_hundred_forks_answer_within_a_second(sandbox: da.Sandbox, state: str) -> None:
    first = [forked(state, sandbox) for _ in range(FORKS)]
    assert max(first) < 1, sorted(first)[-10:]


@on_linux
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


@on_linux
def test_p8_a_thousand_requests_in_flight_leave_nothing_behind() -> None:
    responses, most, samples = crowd(SECONDS)
    memory, descriptors = zip(*samples, strict=True)
    assert responses > IN_FLIGHT
    assert most >= IN_FLIGHT * 9 // 10
    first, last = max(memory[: len(memory) // 4]), max(memory[-(len(memory) // 4) :])
    assert last <= first * 1.05, memory
    assert max(descriptors) - min(descriptors) <= IN_FLIGHT // 10, descriptors


SEARCHES = 5_000


@pytest.mark.parametrize("kind", BY)
@pytest.mark.parametrize(("retries", "good"), [(0, 0.78), (1, 0.95)])
def test_five_thousand_searches_are_right_or_fail_as_they_must(
    kind: str, retries: int, good: float, time_scale: Any
) -> None:
    # Silence is given up after three seconds instead of thirty.
    time_scale(10)
    run = secrets.token_hex(4)
    with chaotic() as server:
        keys = [f"key-{run}-{number}" for number in range(SEARCHES)]
        found, stats = BY[kind](server.base_url, keys, retry_for=0.2 * retries)
    # Five failures in a row are an outage of all requests, and it may be older than `retry_for`.
    assert sum(one.check(retries) for one in found) <= SEARCHES // 50
    # A fifth of all requests fails.
    assert sum(one.rows is not None for one in found) >= SEARCHES * good
    assert stats.requests <= SEARCHES * 1.3


@pytest.mark.parametrize("idle", [0.001, 0.004])
def test_ten_thousand_requests_survive_idle_connection_closes(connect: Any, idle: float) -> None:
    with serving(closing_idle(http(), idle)) as server:
        client = connect(server.base_url, retry_for=0.2)
        for _ in range(10_000):
            client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
            time.sleep(idle)
        stats = client.stats
        assert stats.retries == 0, stats
        assert len(server.requests) <= 10_000 * 1.01, stats


DAYS = da.days("2024-01-01", "2024-04-01")
RESTART = 3


def test_a_call_outlasts_a_restart(connect: Any) -> None:
    for _ in range(10):
        with up_after(RESTART) as address:
            began = time.monotonic()
            assert connect(address).search_codes(["id"], allocated_time=da.on("2024-01-15"))
        assert time.monotonic() - began < 5


def test_a_run_outlasts_a_restart(connect: Any, tmp_path: Path) -> None:
    for number in range(10):
        with up_after(RESTART) as address:
            began = time.monotonic()
            scan = connect(address).scan_codes(["id"], allocated_time=DAYS)
            assert scan.to_folder(tmp_path / str(number)).rows == 182
        assert time.monotonic() - began < 6


def test_a_service_that_is_down_is_one_error_after_retry_for(connect: Any, tmp_path: Path) -> None:
    client = connect(f"http://127.0.0.1:{free_port()}")
    began = time.monotonic()
    with pytest.raises(da.ConnectError, match=rf"^(?!.*{tmp_path.name})"):
        client.scan_codes(["id"], allocated_time=DAYS).to_folder(tmp_path)
    assert 60 <= time.monotonic() - began < 62
    assert client.stats.requests < 40


# From when and until when each is found. The stall rule begins after a grace of 20 seconds and looks at 30.
TIMES = {"headers": (60, 70), "body": (30, 40), "stall": (50, 60)}


def test_every_response_that_never_ends_is_given_up_in_its_time() -> None:
    def given_up(case: str) -> tuple[str, da.RequestTimeoutError]:
        with (
            serving(CASES[case][0]) as server,
            da.Client(server.base_url, token="tok", retry_for=0, timeout=65, concurrency=None) as client,
            pytest.raises(da.RequestTimeoutError) as caught,
        ):
            client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        return case, caught.value

    with ThreadPoolExecutor(len(CASES)) as pool:
        for case, error in pool.map(given_up, CASES):
            phase = CASES[case][1]
            assert error.phase == phase, case
            earliest, latest = TIMES[phase]
            assert earliest <= error.elapsed < latest, case


@every_wire
def test_a_response_cut_at_any_byte_is_never_a_result(connect: Any, framing: str, encoding: str) -> None:
    with cutting() as cutter:
        client = client_of(connect, cutter)
        count = 0
        for wire in wires(framing, encoding):
            for place in range(wire.places()):
                cutter.check(client, wire, place)
                count += 1
    assert count > 500


REST = 60


@on_linux
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_r6_a_minute_of_rest_within_a_gibibyte_costs_nothing(kind: str) -> None:
    rested, records = rest(kind, 1024 * MEBIBYTE, REST)
    assert rested.sent_before == rested.sent_after < 32 * MEBIBYTE, rested
    assert rested.grown_while_resting < 8 * MEBIBYTE, rested
    assert rested.grown < 24 * MEBIBYTE, rested
    assert rested.rows == records > 1_000_000


TASKS = 500
KILLS = 100


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed the POSIX way")
def test_s1_a_hundred_kills_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    outcomes = killed(tmp_path / "run", tasks=TASKS, kills=KILLS, seed=random.randrange(2**32))
    assert (outcomes.kills, outcomes.refusals) == (KILLS, 1)
    assert outcomes.requests / 10 < outcomes.failures < outcomes.requests / 3
    assert sum(outcomes.again) > KILLS // 4


def test_s5_each_byte_of_a_folder_counts(connect: Any, tmp_path: Path) -> None:
    chance = random.Random()
    with some_days() as service:
        client = connect(service)
        scan_of(client).to_folder(tmp_path / "whole")
        outcomes = [
            check(client, tmp_path / "whole", damage, tmp_path / "run") for damage in flips(tmp_path / "whole", chance)
        ]
        # The others are in rows, which only reading looks at.
        assert sum(outcomes) > len(outcomes) // 2
        assert all(check(client, tmp_path / "whole", damage, tmp_path / "run") for damage in cuts(tmp_path / "whole"))


ROOT = Path(__file__).parents[3]


def test_every_property_holds_on_thousands_of_examples() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "hypothesis", "--timeout", "1800"],
        cwd=ROOT,
        env=os.environ | {"HYPOTHESIS_PROFILE": "soak"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
