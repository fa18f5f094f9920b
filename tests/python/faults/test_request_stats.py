"""Request ids, the history of failures, and the stats of a client."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from support import kinds
from support.failures import throttled
from support.operations import WHOLE
from support.raw_server import Close, Received, always, http, in_turn, serving
from support.searches import search

import dataaccess as da

BROKEN = http(b"", "500 Broken")


def test_each_request_has_an_id_of_its_own_and_a_call_has_its_beginning(connect: Any) -> None:
    def ids(requests: list[Received]) -> list[str]:
        return [request.headers["x-request-id"] for request in requests]

    with serving(always(BROKEN)) as server:
        client = connect(server.base_url, retry_for=0.2)
        for _ in range(2):
            with pytest.raises(da.ServerError) as caught:
                search(client)
            assert caught.value.request_id == ids(server.requests)[-1]
        calls = [ids(server.requests)[:2], ids(server.requests)[2:]]
    prefixes = set()
    for call in calls:
        found = [re.fullmatch(r"([0-9a-f]{16})-(\d)", name) for name in call]
        assert [match[2] for match in found if match] == ["1", "2"]
        prefixes |= {match[1] for match in found if match}
    assert len(prefixes) == 2


def test_the_history_has_each_failure_in_order(connect: Any) -> None:
    def respond(connection: Any, number: int) -> None:
        if number == 0:
            raise Close
        connection.sendall((BROKEN, http(b"<html>", content_type="text/html"))[number - 1])

    with serving(respond) as server, pytest.raises(kinds.NotJson) as caught:
        search(connect(server.base_url))
    lost, broken, html = caught.value.history
    assert lost.startswith("ConnectionLostError: ")
    assert re.fullmatch(r"ServerError: .*\(HTTP 500\)", broken)
    assert re.fullmatch(r"ResponseError: .*\(Content-Type: text/html\)", html)


@pytest.mark.usefixtures("short_pauses")
def test_figures_count_what_was_done(connect: Any) -> None:
    with serving(in_turn(BROKEN, throttled("Retry-After: 0"), WHOLE)) as server:
        client = connect(server.base_url)
        assert vars_of(client.stats) == dict.fromkeys(vars_of(client.stats), 0)
        search(client)
        assert vars_of(client.stats) == {
            "requests": 3,
            "retries": 2,
            "free_retries": 0,
            "throttled": 1,
            "in_flight": 0,
            "bytes_received": len(WHOLE.partition(b"\r\n\r\n")[2]),
            "connections_opened": 1,
        }
        client.close()
        assert client.stats.requests == 3


def test_a_request_is_in_flight_until_its_response_ends() -> None:
    arrived, over = threading.Event(), threading.Event()

    def respond(connection: Any, _number: int) -> None:
        connection.sendall(WHOLE[:-1])
        arrived.set()
        over.wait(60)
        connection.sendall(WHOLE[-1:])

    with serving(respond) as server, ThreadPoolExecutor(1) as pool:
        client = da.Client(server.base_url, token="tok")
        found = pool.submit(search, client)
        assert arrived.wait(60)
        assert client.stats.in_flight == 1
        over.set()
        assert found.result()
        assert client.stats.in_flight == 0


def vars_of(stats: Any) -> dict[str, int]:
    return {name: getattr(stats, name) for name in type(stats).__slots__}
