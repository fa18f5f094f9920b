"""A service that comes back and whose responses take long (R2): no request waits for the body of another."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.raw_server import RawServer, http
from support.scan_requests import rows_of, rows_of_all, scan_of_parts
from support.streams import response_of

import dataaccess as da

UNAVAILABLE = http(b"", "502 Bad Gateway")
LONG = 20


class Recovering:
    """Fails the first requests, as a service that restarts, and then sends each response but its last bytes.

    The rest follows when the test says so.
    """

    def __init__(self, failures: int) -> None:
        """Begins to listen."""
        self._changed = threading.Condition()
        self._failures = failures
        self._begun = 0
        self.finish = threading.Event()
        self.server = RawServer(self._serve)
        self.base_url = self.server.base_url

    def _serve(self, connection: Any, number: int) -> None:
        part = int(self.server.requests[number].json["filters"]["OR"][0]["AND"][0]["value"][0])
        with self._changed:
            is_failing = self._failures > 0
            self._failures -= 1
        if is_failing:
            connection.sendall(UNAVAILABLE)
            return
        whole = response_of(rows_of(part))
        connection.sendall(whole[:-20])
        with self._changed:
            self._begun += 1
            self._changed.notify_all()
        self.finish.wait(LONG)
        connection.sendall(whole[-20:])

    def wait_for(self, responses: int) -> None:
        """Returns when so many responses have begun."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._begun >= responses, LONG)


@contextmanager
def recovering(failures: int) -> Iterator[Recovering]:
    """Runs such a service for the time of a block."""
    service = Recovering(failures)
    try:
        yield service
    finally:
        service.finish.set()
        service.server.close()


@pytest.mark.fault("R2")
@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize("use", ["to_dicts", "run"])
def test_a_response_with_a_slow_body_holds_back_no_other_request(connect: Any, tmp_path: Path, use: str) -> None:
    with recovering(failures=9) as service, ThreadPoolExecutor(1) as pool:
        scan = scan_of_parts(connect(service.base_url, retry_for=100, concurrency=3), 6)
        use_of = {"to_dicts": scan.to_dicts, "run": lambda: scan.to_folder(tmp_path).rows}[use]
        result = pool.submit(use_of)
        service.wait_for(3)
        service.finish.set()
        assert result.result(LONG) == {"to_dicts": rows_of_all(6), "run": 12}[use]


def test_an_iterator_that_rests_holds_back_no_other_scan() -> None:
    with recovering(failures=6) as service, ThreadPoolExecutor(1) as pool:
        client = da.Client(service.base_url, token="tok", retry_for=5, concurrency=None)
        resting = iter(scan_of_parts(client, 1).batches(max_rows=1))
        assert next(resting).num_rows == 1
        other = pool.submit(scan_of_parts(client, 2).to_dicts)
        service.wait_for(3)
        service.finish.set()
        assert other.result(LONG) == rows_of_all(2)
        assert next(resting).num_rows == 1
