"""Scans of several requests: how many are in flight, back-pressure and rate."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from support.scan_requests import (
    OUTPUTS,
    ScanRequest,
    ok_response,
    rows_of_all,
    scan_of_parts,
    scan_server,
)
from support.scan_waits import LONG

import dataaccess as da

pytestmark = pytest.mark.usefixtures("short_pauses")

every_output = pytest.mark.parametrize("output", OUTPUTS)


@every_output
def test_as_many_requests_as_wanted_are_in_flight_and_no_more(connect: Any, output: str) -> None:
    together = threading.Barrier(4)

    def respond(asked: ScanRequest) -> bytes:
        # Broken when fewer are sent: this one would wait in vain.
        together.wait(LONG)
        return ok_response(asked)

    with scan_server(respond) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=4), 12)
        assert OUTPUTS[output](scan) == rows_of_all(12)
        assert parts.most == 4


def test_one_at_a_time_is_one_at_a_time(connect: Any) -> None:
    with scan_server(ok_response) as parts:
        client = connect(parts.base_url, concurrency=1)
        for output in OUTPUTS.values():
            assert output(scan_of_parts(client, 5)) == rows_of_all(5)
        assert parts.most == 1
        assert parts.asked == [*range(5)] * len(OUTPUTS)


def test_a_slow_consumer_slows_the_requests(connect: Any) -> None:
    with scan_server(ok_response) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=3), 12)
        rows: list[dict[str, Any]] = []
        for taken, batch in enumerate(scan.batches(), start=1):
            rows.extend(batch.to_pylist())
            time.sleep(0.05)
            assert len(parts.asked) <= taken + 3, "more than `concurrency` responses are buffered"
    assert rows == rows_of_all(12)
    assert parts.most <= 3


def test_an_unread_stream_stops_the_requests(connect: Any) -> None:
    with scan_server(ok_response) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=3), 40)
        with scan.batches() as batches:
            assert next(iter(batches)).num_rows == 2
            time.sleep(0.5)
            assert len(parts.asked) <= 1 + 3
        asked = len(parts.asked)
        time.sleep(0.2)
        assert len(parts.asked) == asked
        with pytest.raises(da.StreamInterruptedError, check=lambda error: error.rows_yielded == 2):
            next(iter(batches))


@every_output
def test_the_rate_is_that_of_all_requests(connect: Any, output: str) -> None:
    with scan_server(ok_response) as parts:
        scan = scan_of_parts(connect(parts.base_url, requests_per_second=20), 6)
        begun = time.monotonic()
        assert OUTPUTS[output](scan) == rows_of_all(6)
        assert time.monotonic() - begun >= 5 / 20
