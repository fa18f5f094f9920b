"""Synchronous calls of one request and their connections, during a call and between two."""

from __future__ import annotations

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from support.interrupts import endless, until_gone
from support.raw_server import ENTRY, EXPORT, Close, http, in_turn, serving
from support.searches import search
from support.slow_responses import closing_idle
from support.streams import CLOSING, OPENING, gone, records, search_of

import dataaccess as da

WHOLE = http()


def test_a_call_that_must_not_be_repeated_uses_no_connection_that_closed_meanwhile() -> None:
    with serving(closing_idle(WHOLE, 0.002)) as server, da.Client(server.base_url, token="tok") as client:
        for pause in [0.01] * 30 + [0.12] * 3:
            client.post("/access/api/other", {})
            time.sleep(pause)
        assert len(server.requests) == 33


def test_an_idle_connection_is_closed_when_the_service_closes_it() -> None:
    closed = threading.Event()

    def respond(connection: socket.socket, _number: int) -> None:
        connection.sendall(WHOLE)
        # After the call has ended.
        time.sleep(0.2)
        connection.shutdown(socket.SHUT_WR)
        until_gone(connection)
        closed.set()

    with serving(respond) as server, da.Client(server.base_url, token="tok") as client:
        search(client)
        assert closed.wait(2)


def test_a_limit_closes_the_connection_early() -> None:
    with endless.serving() as (server, _), da.Client(server.base_url, token="tok") as client:
        assert len(client.search_codes(["id"], allocated_time=da.on("2024-01-15"), limit=3)) == 3
        assert gone(server)


def test_each_thread_has_its_own_deadline() -> None:
    limits = [0.2, 0.3, 0.4, 0.5] * 2

    def seconds_until_timeout(limit: float) -> float:
        began = time.monotonic()
        with pytest.raises(da.RequestTimeoutError):
            client.search_codes(["id"], allocated_time=da.on("2024-01-15"), timeout=limit)
        return time.monotonic() - began

    with serving(lambda connection, _number: until_gone(connection)) as server, ThreadPoolExecutor(8) as pool:
        client = da.Client(server.base_url, token="tok", concurrency=None)
        for limit, seconds in zip(limits, pool.map(seconds_until_timeout, limits), strict=True):
            # Far from the next limit in quiet; loosely here, for busy machines.
            assert limit <= seconds < limit + 1


def test_a_callback_may_use_the_client_and_take_its_time() -> None:
    done = http({**EXPORT, "data": {"entries": [{**ENTRY, "endTime": "t"}], "meta": {"total": 1}}})
    seen = []

    def on_update(status: Any) -> None:
        time.sleep(0.1)
        seen.append(client.post("/access/api/other", {})["code"])
        assert len(status["entries"]) == 1

    with serving(in_turn(http(EXPORT), WHOLE, done, WHOLE)) as server:
        client = da.Client(server.base_url, token="tok")
        client.wait_for_segment(1, timeout=10, poll=0.3, on_update=on_update)
    assert seen == [200, 200]


@pytest.mark.both_clients
@pytest.mark.parametrize("rows", [10, 9_000])
def test_rows_of_a_response_that_was_cut_off_are_not_in_the_result(connect: Any, rows: int) -> None:
    long, whole = (http(OPENING + records(0, count) + CLOSING) for count in (30_000, rows))

    def respond(connection: socket.socket, number: int) -> None:
        if number == 0:
            # Full blocks have become dicts by then.
            connection.sendall(long[: len(long) * 9 // 10])
            raise Close
        connection.sendall(whole)

    with serving(respond) as server:
        client = connect(server.base_url)
        found = search_of(client, ["n"])
        assert [row["n"] for row in found] == list(range(rows))
        assert len(server.requests) == 2
