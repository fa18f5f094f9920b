"""A service that comes back and whose responses take long (R2): no request waits for the body of another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.raw_server import http, serving
from support.scan_requests import rows_of, rows_of_all, scan_of_parts
from support.streams import response_of

import dataaccess as da

UNAVAILABLE = http(b"", "502 Bad Gateway")
LONG = 20


@contextmanager
def recovering(failures: int) -> Iterator[tuple[str, Callable[[int], None]]]:
    """Fails the first requests, as a service that restarts, and then sends each response but its last bytes.

    Gives its address, and a function that waits until this number of responses has begun: then all are finished.
    """
    begun, finish = threading.Semaphore(0), threading.Event()

    def respond(connection: Any, number: int) -> None:
        if number < failures:
            connection.sendall(UNAVAILABLE)
            return
        part = int(server.requests[number].json["filters"]["OR"][0]["AND"][0]["value"][0])
        whole = response_of(rows_of(part))
        connection.sendall(whole[:-20])
        begun.release()
        finish.wait(LONG)
        connection.sendall(whole[-20:])

    def wait_for(responses: int) -> None:
        for _ in range(responses):
            assert begun.acquire(timeout=LONG)
        finish.set()

    with serving(respond) as server:
        try:
            yield server.base_url, wait_for
        finally:
            finish.set()


@pytest.mark.fault("R2")
@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize("use", ["to_dicts", "run"])
def test_a_response_with_a_slow_body_holds_back_no_other_request(connect: Any, tmp_path: Path, use: str) -> None:
    with recovering(failures=9) as (address, wait_for), ThreadPoolExecutor(1) as pool:
        scan = scan_of_parts(connect(address, retry_for=100, concurrency=3), 6)
        use_of = {"to_dicts": scan.to_dicts, "run": lambda: scan.to_folder(tmp_path).rows}[use]
        result = pool.submit(use_of)
        wait_for(3)
        assert result.result(LONG) == {"to_dicts": rows_of_all(6), "run": 12}[use]


def test_an_iterator_that_rests_holds_back_no_other_scan() -> None:
    with recovering(failures=6) as (address, wait_for), ThreadPoolExecutor(1) as pool:
        client = da.Client(address, token="tok", retry_for=5, concurrency=None)
        resting = iter(scan_of_parts(client, 1).batches(max_rows=1))
        assert next(resting).num_rows == 1
        other = pool.submit(scan_of_parts(client, 2).to_dicts)
        wait_for(3)
        assert other.result(LONG) == rows_of_all(2)
        assert next(resting).num_rows == 1
