"""Nothing hangs: answers that drip, stall or never begin, on a clock that runs sixty times faster than usual.

The ids are those of docs/reliability.md. `tests/python/soak` has the same at the true pace.
"""

from __future__ import annotations

import time
from typing import Any

import pytest
from support.operations import Operation
from support.raw_server import always, serving
from support.slow_answers import CASES, chunks, forever, records
from support.streams import HEAD, OPENING, scan_of
from support.streams import records as rows

import dataaccess as da

pytestmark = pytest.mark.slow

TIME_SCALE = 60


@pytest.fixture(autouse=True)
def _faster(time_scale: Any) -> None:
    time_scale(TIME_SCALE)


@pytest.mark.parametrize("case", CASES)
def test_an_answer_that_never_ends_is_given_up(connect: Any, ask: Operation, case: str) -> None:
    answer, phase = CASES[case]
    with serving(answer) as server:
        with pytest.raises(da.RequestTimeoutError) as caught:
            ask(connect(server.base_url, retries=1))
        error = caught.value
        assert error.phase == phase
        assert error.attempts == len(server.requests) == 2
        assert error.retryable
        assert all(line.startswith("RequestTimeoutError: ") for line in error.history)


def test_the_deadline_is_over_all_attempts_and_the_pauses_between(connect: Any, ask: Operation) -> None:
    with serving(CASES["H14-silence-in-the-body"][0]) as server:
        with pytest.raises(da.RequestTimeoutError) as caught:
            ask(connect(server.base_url, retries=100, timeout=1.25))
        assert caught.value.phase in {"deadline", "body"}
        assert 1 <= len(server.requests) <= 3
        assert caught.value.elapsed < 20


def test_h15_a_slow_consumer_is_not_blamed(connect: Any) -> None:
    with serving(always(chunks(*records(12, 1_000)))) as server:
        scan = connect(server.base_url).scan_codes(["id"], allocated_time=da.on("2024-01-15"))
        seen = 0
        for batch in scan.batches(max_rows=1):
            seen += batch.num_rows
            # Together longer than grace and window, at less than the least that must come.
            time.sleep(0.15)
    assert seen == 12


def test_h15_a_stream_that_drips_after_its_first_batch_is_interrupted(connect: Any) -> None:
    with serving(forever(HEAD + OPENING + rows(0, 10) + b',{"n":1,"text":"', b"x", 0.01)) as server:
        batches = scan_of(connect(server.base_url, timeout=60)).batches(max_rows=10)
        assert next(batches).num_rows == 10
        with pytest.raises(da.StreamInterruptedError) as caught:
            next(batches)
        assert caught.value.rows_yielded == 10
        assert len(server.requests) == 1
    assert isinstance(caught.value.__cause__, da.RequestTimeoutError)
    assert caught.value.__cause__.phase == "stall"
