"""Nothing hangs: responses that drip, stall or never begin, on a clock that runs sixty times faster than usual.

`tests/python/soak` has the same at the true pace.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.operations import SEARCH, WHOLE, Operation
from support.raw_server import always, serving, silent
from support.slow_responses import CASES, chunks, forever, records
from support.streams import HEAD, OPENING, scan_of
from support.streams import records as rows

import dataaccess as da

pytestmark = pytest.mark.slow

TIME_SCALE = 60


@pytest.fixture(autouse=True)
def _faster(time_scale: Any) -> None:
    time_scale(TIME_SCALE)


ON_A_DAY: dict[str, Any] = {"allocated_time": da.on("2024-01-15")}


def a_scan(client: Any, timeout: float) -> Any:
    return client.with_options(timeout=timeout).scan_codes(["id"], **ON_A_DAY)


CALLS: dict[str, Callable[[Any, float], Any]] = {
    "search_codes": lambda client, timeout: client.search_codes(["id"], **ON_A_DAY, timeout=timeout),
    "search_items": lambda client, timeout: client.search_items(
        "customer", ["id"], da.col("id").equals("1"), timeout=timeout
    ),
    "scan_codes": lambda client, timeout: a_scan(client, timeout).to_dicts(),
    "scan_items": lambda client, timeout: (
        client.with_options(timeout=timeout).scan_items("customer", ["id"], da.col("id").equals("1")).collect()
    ),
    "tasks": lambda client, timeout: a_scan(client, timeout).tasks()[0].to_dicts(),
    "download_segment": lambda client, timeout: client.download_segment(7, timeout=timedelta(seconds=timeout)),
    "post": lambda client, timeout: client.post("/access/api/item/search", {}, timeout=timeout),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_has_a_timeout_of_its_own(connect: Any, call: str) -> None:
    with serving(silent(b"")) as server:
        client = connect(server.base_url, retry_for=0)
        with pytest.raises(da.RequestTimeoutError) as caught:
            CALLS[call](client, 0.2)
        assert (caught.value.phase, isinstance(caught.value, TimeoutError)) == ("headers", True)
        with pytest.raises(da.ConfigError):
            CALLS[call](client, -1)


def test_a_task_that_travelled_keeps_its_timeout() -> None:
    with serving(silent(b"")) as server:
        client = da.Client(server.base_url, token=da.token_file(__file__), retry_for=0)
        (task,) = a_scan(client, 0.2).tasks()
        copy = pickle.loads(pickle.dumps(task))
        assert copy._client.settings["timeout"].value == 0.2


@pytest.mark.fault("H13", "H14", "H15")
@pytest.mark.parametrize("case", CASES)
def test_a_response_that_never_ends_is_given_up(connect: Any, ask: Operation, case: str) -> None:
    respond, phase = CASES[case]
    with serving(respond) as server:
        with pytest.raises(da.RequestTimeoutError) as caught:
            ask(connect(server.base_url, retry_for=0.4, timeout=0.5 if phase == "headers" else 60))
        error = caught.value
        assert error.phase == phase
        # `timeout=` is for all attempts of a call.
        assert error.attempts == len(server.requests) == (1 if phase == "headers" else 2)
        assert error.retryable
        assert len(error.history) == error.attempts
        assert all(line.startswith("RequestTimeoutError: ") for line in error.history)


def test_a_service_that_thinks_for_longer_than_any_other_limit_is_waited_for(
    connect: Any, ask: Operation, time_scale: Any
) -> None:
    # As 150 seconds at the true pace.
    time_scale(750)

    def think(connection: Any, _number: int) -> None:
        time.sleep(0.2)
        connection.sendall(WHOLE)

    with serving(think) as server:
        assert ask(connect(server.base_url, timeout=60)) == ask.result
        assert len(server.requests) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="timers of sockets are read from /proc")
def test_a_connection_that_waits_for_headers_is_probed(connect: Any) -> None:
    probed: list[bool] = []

    def look(connection: Any, _number: int) -> None:
        ours = f"{connection.getpeername()[1]:04X}"
        sockets = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]]
        # State 01 is an open connection, not the rest of one with the same port; timer 2 is keep-alive's.
        probed.extend(
            fields[5][:2] == "02" for fields in sockets if fields[1].endswith(":" + ours) and fields[3] == "01"
        )
        connection.sendall(WHOLE)

    with serving(look) as server:
        SEARCH(connect(server.base_url))
    assert probed == [True]


def test_the_deadline_is_over_all_attempts_and_the_pauses_between(connect: Any, ask: Operation) -> None:
    with serving(CASES["H14-silence-in-the-body"][0]) as server:
        with pytest.raises(da.RequestTimeoutError) as caught:
            ask(connect(server.base_url, timeout=1.25))
        # Where its time ends: in a pause, or in the attempt of that moment.
        assert caught.value.phase in {"deadline", "headers", "body"}
        assert 1 <= len(server.requests) <= 3
        assert caught.value.elapsed < 20


@pytest.mark.fault("H15")
def test_a_slow_consumer_is_not_blamed(connect: Any) -> None:
    with serving(always(chunks(*records(12, 1_000)))) as server:
        scan = connect(server.base_url).scan_codes(["id"], allocated_time=da.on("2024-01-15"))
        seen = 0
        for batch in scan.batches(max_rows=1):
            seen += batch.num_rows
            # In total longer than the stall grace period plus window, below the minimum transfer rate.
            time.sleep(0.15)
    assert seen == 12


def test_a_stream_that_drips_after_its_first_batch_is_interrupted(connect: Any) -> None:
    with serving(forever(HEAD + OPENING + rows(0, 10) + b',{"n":1,"text":"', b"x", 0.01)) as server:
        batches = scan_of(connect(server.base_url, timeout=60)).batches(max_rows=10)
        assert next(batches).num_rows == 10
        with pytest.raises(da.StreamInterruptedError) as caught:
            next(batches)
        assert caught.value.rows_yielded == 10
        assert len(server.requests) == 1
    assert isinstance(caught.value.__cause__, da.RequestTimeoutError)
    assert caught.value.__cause__.phase == "stall"
