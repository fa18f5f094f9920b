"""Responses behind the first: read ahead within a budget, and never left unread until a proxy closes them."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.raw_server import reset, serving
from support.scan_requests import ScanRequest, ok_response, rows_of_all, scan_of_parts, scan_server
from support.streams import CLOSING, HEAD, OPENING

import dataaccess as da

DAYS = 4
ROWS = 60_000
MEBIBYTE = 2**20


@lru_cache(maxsize=DAYS)
def body(day: int) -> bytes:
    # So long that a response is larger than the buffers of its sockets and two batches.
    return b",".join(b'{"n":%d,"text":"%s"}' % (n, b"x" * 700) for n in range(day * ROWS, (day + 1) * ROWS))


class Impatient:
    """Behind a proxy that resets a connection if a write waits for too long: the first response takes its time."""

    server: Any = None

    def __init__(self, first_takes: float, write_waits: float) -> None:
        self.first_takes, self.write_waits = first_takes, write_waits
        self.requests: list[int] = []
        self.given_up: list[int] = []

    def __call__(self, connection: Any, number: int) -> None:
        day = int(self.server.requests[number].json["filters"]["OR"][0]["AND"][0]["value"][0])
        self.requests.append(day)
        connection.sendall(HEAD + OPENING)
        rows = memoryview(body(day))
        try:
            while rows:
                if day == 0:
                    time.sleep(self.first_takes / 20)
                    rows = rows[connection.send(rows[: ROWS * 800 // 20]) :]
                else:
                    connection.settimeout(self.write_waits)
                    rows = rows[connection.send(rows[: 64 * 1024]) :]
        except TimeoutError:
            self.given_up.append(day)
            reset(connection)
        connection.sendall(CLOSING)
        connection.close()


USES: dict[str, Callable[[Any, Path], pa.Table]] = {
    "batches": lambda scan, _path: pa.Table.from_batches([batch.to_arrow() for batch in scan.batches()]),
    "capsule": lambda scan, _path: pa.table(scan),
    "parquet": lambda scan, path: (scan.to_parquet(path), pq.read_table(path))[1],
}


def check_rows(service: Impatient, use: str, folder: Path) -> None:
    with serving(service) as server:
        service.server = server
        scan = scan_of_parts(da.Client(server.base_url, token="tok-test"), DAYS)
        assert USES[use](scan, folder / "rows.parquet").column("n").to_pylist() == list(range(DAYS * ROWS))


@pytest.mark.filterwarnings("ignore::dataaccess.IncompleteWarning")
@pytest.mark.slow
@pytest.mark.parametrize("use", USES)
def test_r7_responses_behind_a_slow_one_outlive_a_proxy_that_closes_unread_connections(
    use: str, tmp_path: Path, time_scale: Any, buffered_bytes: Any
) -> None:
    # Unread responses are dropped after 0.4 to 0.8 s instead of 4 to 8 s.
    time_scale(10)
    buffered_bytes(MEBIBYTE)
    service = Impatient(first_takes=3, write_waits=1.5)
    check_rows(service, use, tmp_path)
    assert service.given_up == []
    # What was dropped for lack of memory was requested again.
    assert len(service.requests) > DAYS
    assert set(service.requests) == set(range(DAYS))


def test_responses_are_read_ahead_as_far_as_the_budget_goes(tmp_path: Path, buffered_bytes: Any) -> None:
    buffered_bytes(256 * MEBIBYTE)
    service = Impatient(first_takes=1, write_waits=10)
    check_rows(service, "capsule", tmp_path)
    # All fit, so each was requested once.
    assert sorted(service.requests) == list(range(DAYS))


def test_requests_wait_until_their_responses_fit_into_the_budget(connect: Any, buffered_bytes: Any) -> None:
    buffered_bytes(100)
    in_flight: list[int] = []

    def respond(asked: ScanRequest) -> bytes:
        in_flight.append(service.in_flight)
        time.sleep(0.01)
        return ok_response(asked)

    with scan_server(respond) as service:
        scan = scan_of_parts(connect(service.base_url, concurrency=4), 12)
        assert [row for batch in scan.batches() for row in batch.to_pylist()] == rows_of_all(12)
    # The first ones are sent before the size of a response is known.
    assert set(in_flight[6:]) == {1}


@pytest.mark.slow
def test_a_complete_response_that_waits_for_its_consumer_is_not_requested_again(
    connect: Any, time_scale: Any, buffered_bytes: Any
) -> None:
    # Unread responses are dropped after 0.05 s instead of 4 s.
    time_scale(80)
    buffered_bytes(1)
    with scan_server(ok_response) as service:
        client = connect(service.base_url, concurrency=2)
        with scan_of_parts(client, 2).batches(max_rows=1) as batches:
            rows = next(batches).to_pylist()
            time.sleep(0.2)
            rows += [row for batch in batches for row in batch.to_pylist()]
    assert rows == rows_of_all(2)
    assert sorted(service.asked) == [0, 1]
