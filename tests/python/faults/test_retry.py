"""Sending again: what is free, what counts, when it stops, and what is told of it.

The ids are those of docs/reliability.md.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from support.forking import end_if_it_hangs
from support.idle import closing_idle, once_a_connection
from support.operations import DOWNLOAD, SEARCH, WHOLE, Operation
from support.pairs import cycled
from support.raw_server import Close, Received, always, http, in_turn, reset, serving

import dataaccess as da

BROKEN = http(b"", "500 Broken")


def search(client: Any) -> Any:
    return client.search_codes(["id"], allocated_time=da.on("2024-01-15"))


def throttled(*headers: str, status: str = "429 Slow") -> bytes:
    return http(b"", status, headers=headers)


def test_h1_a_request_lost_on_an_old_connection_is_sent_again_free(connect: Any, ask: Operation) -> None:
    with serving(once_a_connection(WHOLE)) as server:
        client = connect(server.base_url, retries=1)
        for _ in range(100):
            assert ask(client) == ask.result
        stats = client.stats()
        assert (stats.free_retries, stats.retries, stats.connections_opened) == (99, 0, 100)
        assert stats.quota_left == 500


def test_h1_what_was_free_leaves_the_retries_as_they_were(connect: Any) -> None:
    def answer(connection: Any, number: int) -> None:
        if number == 1:
            raise Close
        connection.sendall(BROKEN if number == 2 else WHOLE)

    with serving(answer) as server:
        client = connect(server.base_url, retries=1)
        for _ in range(2):
            search(client)
        assert len(server.requests) == 4
        stats = client.stats()
        assert (stats.requests, stats.free_retries, stats.retries) == (4, 1, 1)


def test_h1_a_new_connection_that_is_lost_is_a_failure(connect: Any, ask: Operation) -> None:
    with serving(once_a_connection()) as server:
        client = connect(server.base_url, retries=1)
        with pytest.raises(da.ConnectionLostError):
            ask(client)
        assert len(server.requests) == 2
        assert client.stats().free_retries == 0


def test_h1_nothing_is_free_without_retries_or_where_twice_does_harm(connect: Any, ask: Operation) -> None:
    with serving(once_a_connection(WHOLE)) as server:
        client = connect(server.base_url, retries=0)
        ask(client)
        with pytest.raises(da.ConnectionLostError):
            ask(client)
        assert len(server.requests) == 2
    with serving(once_a_connection(WHOLE)) as server:
        client = connect(server.base_url)
        client.call("/access/api/other", {})
        with pytest.raises(da.ConnectionLostError):
            client.call("/access/api/other", {})
        assert len(server.requests) == 2


@pytest.mark.slow
def test_h2_a_service_that_closes_idle_connections_is_never_noticed(connect: Any) -> None:
    idle = 0.004
    with serving(closing_idle(WHOLE, idle)) as server:
        client = connect(server.base_url, retries=1)
        for _ in range(300):
            search(client)
            time.sleep(idle)
        assert len(server.requests) <= 300 * 1.01
        assert client.stats().retries == 0


def test_h9_two_answers_that_end_at_the_same_byte_are_enough(connect: Any, ask: Operation) -> None:
    body = json.dumps({"code": 200, "message": "ok", "data": {"status": True, "data": [{"id": "a"}] * 99}}).encode()

    def capped(connection: Any, _number: int) -> None:
        connection.sendall(http(body)[: 600 - len(body)])
        raise Close

    def shrinking(connection: Any, number: int) -> None:
        connection.sendall(http(body)[: -100 - number])
        raise Close

    with serving(capped) as server:
        with pytest.raises(da.TruncatedResponseError, match="Request fewer rows per call") as caught:
            ask(connect(server.base_url, retries=3))
        assert len(server.requests) == caught.value.attempts == 2
        assert f"at byte {caught.value.received}" in str(caught.value)
    with serving(shrinking) as server:
        with pytest.raises(da.TruncatedResponseError) as caught:
            ask(connect(server.base_url, retries=3))
        assert len(server.requests) == 4
        assert "fewer rows" not in str(caught.value)


NONSENSE = [
    "0",
    "-10",
    "soon",
    "",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "1" + "0" * 35,
    "Mon, 06 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 100000 08:49:37 GMT",
    formatdate(0, usegmt=True),
]
TOO_LONG = ["121", "100000", "Fri, 31 Dec 9999 23:59:59 GMT"]
OPERATIONS = [SEARCH, DOWNLOAD]


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize(("asked", "ask"), cycled(NONSENSE, OPERATIONS), ids=str)
def test_r1_a_wait_that_makes_no_sense_is_our_own(connect: Any, ask: Operation, asked: str) -> None:
    with serving(in_turn(throttled(f"Retry-After: {asked}", status="503 Busy"), WHOLE)) as server:
        assert ask(connect(server.base_url, timeout=30))
        assert len(server.requests) == 2


@pytest.mark.parametrize(("asked", "ask", "status"), cycled(TOO_LONG, OPERATIONS, ["429 Slow", "503 Busy"]), ids=str)
def test_r1_a_wait_that_is_too_long_is_told_at_once(connect: Any, ask: Operation, status: str, asked: str) -> None:
    with serving(always(throttled(f"Retry-After: {asked}", status=status))) as server:
        with pytest.raises(da.ThrottledError) as caught:
            ask(connect(server.base_url))
        assert len(server.requests) == 1
        assert (caught.value.retry_after or 0) >= 121


@pytest.mark.slow
@pytest.mark.parametrize("ask", OPERATIONS, ids=str)
def test_r1_a_wait_is_kept_in_seconds_and_by_date(connect: Any, ask: Operation) -> None:
    # A second: in figures, and by a clock that is wrong.
    now = time.time() - 5_000
    dates = (f"Date: {formatdate(now, usegmt=True)}", f"Retry-After: {formatdate(now + 1, usegmt=True)}")
    busy = throttled("Retry-After: 1") if ask is SEARCH else throttled(*dates, status="503 Busy")
    with serving(in_turn(busy, WHOLE)) as server:
        started = time.monotonic()
        assert ask(connect(server.base_url))
        assert 1 <= time.monotonic() - started < 20
        assert len(server.requests) == 2


def test_r1_other_failures_may_not_ask_for_a_wait(connect: Any) -> None:
    with serving(in_turn(http(b"", "500 Broken", headers=("Retry-After: 999",)), WHOLE)) as server:
        assert search(connect(server.base_url))


@pytest.mark.usefixtures("short_pauses")
def test_r2_an_outage_is_not_made_worse(connect: Any, ask: Operation) -> None:
    with serving(always(http(b"", "503 Down"))) as server:
        client = connect(server.base_url, retries=1)
        errors = []
        for _ in range(100):
            with pytest.raises(da.ThrottledError) as caught:
                ask(client)
            errors.append(caught.value)
        # 500 tokens at 14 each.
        assert len(server.requests) == 100 + 35
        assert [error.quota_exhausted for error in errors] == [False] * 35 + [True] * 65
        assert errors[-1].retryable
        assert "of late" in str(errors[-1])
        assert (errors[-1].attempts, len(errors[-1].history)) == (1, 1)
        stats = client.stats()
        assert (stats.requests, stats.retries, stats.throttled, stats.quota_left) == (135, 35, 135, 10)
        server.answer = always(WHOLE)
        ask(client)
        assert client.stats().quota_left == 11


def test_r2_copies_that_share_connections_share_what_they_may_spend(connect: Any) -> None:
    with serving(always(BROKEN)) as server:
        client = connect(server.base_url, retries=1)
        with pytest.raises(da.ServerError):
            search(client)
        copy = client.with_options(timeout=9)
        assert copy.stats().quota_left == client.stats().quota_left == 486


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_r3_forked_children_do_not_wait_in_step() -> None:
    times: dict[str, list[float]] = {}

    def answer(connection: Any, number: int) -> None:
        call = server.requests[number].headers["x-request-id"].rpartition("-")[0]
        times.setdefault(call, []).append(time.monotonic())
        connection.sendall(WHOLE if len(times[call]) == 6 else BROKEN)

    with serving(answer) as server:
        client = da.Client(server.base_url, token="tok", retries=5)
        children = []
        for _ in range(8):
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    end_if_it_hangs()
                    status = 0 if search(client) else 2
                finally:
                    os._exit(status)
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
    # The last pause is of up to 800 ms. That eight fair ones lie within 100 happens once in 200,000 times.
    pauses = [requests[5] - requests[4] for requests in times.values()]
    assert len(pauses) == 8
    assert max(pauses) - min(pauses) > 0.1


@pytest.mark.slow
def test_r4_one_refusal_pauses_every_task_of_the_client() -> None:
    times: list[float] = []

    def answer(connection: Any, number: int) -> None:
        times.append(time.monotonic())
        connection.sendall(throttled("Retry-After: 1") if number == 0 else WHOLE)

    with serving(answer) as server, ThreadPoolExecutor(8) as pool:
        client = da.Client(server.base_url, token="tok")
        first = pool.submit(search, client)
        while not client.stats().throttled:
            time.sleep(0.001)
        assert all(task.result() for task in [pool.submit(search, client) for _ in range(4)])
        assert first.result()
        assert len(times) == 6
        assert times[1] - times[0] >= 1


def test_r4_who_waits_at_the_gate_has_their_own_deadline(connect: Any, ask: Operation) -> None:
    with serving(always(throttled("Retry-After: 60"))) as server:
        client = connect(server.base_url, timeout=0.2)
        with pytest.raises(da.ThrottledError):
            ask(client)
        with pytest.raises(da.RequestTimeoutError, match="asked to stay away") as caught:
            ask(client)
        assert (caught.value.phase, caught.value.attempts) == ("deadline", 0)
        assert len(server.requests) == 1


LEAK = """
import os, sys
from concurrent.futures import ThreadPoolExecutor
import dataaccess as da

def fail(_):
    try:
        client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
    except da.DataAccessError as error:
        return type(error).__name__

client = da.Client(sys.argv[1], token="tok", retries=1, timeout=20)
with ThreadPoolExecutor(4) as pool:
    names = set(pool.map(fail, range(200)))
def sockets():
    found = 0
    for number in os.listdir("/proc/self/fd"):
        try:
            found += os.readlink(f"/proc/self/fd/{number}").startswith("socket:")
        except OSError:
            pass
    return found
print(sockets(), len(names), flush=True)
sys.stdin.read(1)
"""


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="there is no /proc")
def test_r5_failures_leave_no_connection_open() -> None:
    def answer(connection: Any, number: int) -> None:
        match number % 5:
            case 0:
                connection.sendall(http({"code": 1, "message": "no"}, "500 Broken"))
            case 1:
                connection.sendall(WHOLE[:-9])
                raise Close
            case 2:
                reset(connection)
            case 3:
                connection.sendall(http(b"<html>"))
            case 4:
                connection.sendall(http(b"x" * 200_000, "502 Bad"))

    with serving(answer) as server:
        child = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", LEAK, server.base_url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        with child:
            assert child.stdout is not None
            sockets, names = map(int, child.stdout.readline().split())
            child.communicate("x")
    assert child.returncode == 0
    # At most what the pool keeps: a connection for each thread.
    assert sockets <= 4
    assert names >= 3


def test_each_request_has_an_id_of_its_own_and_a_call_has_its_beginning(connect: Any) -> None:
    def ids(requests: list[Received]) -> list[str]:
        return [request.headers["x-request-id"] for request in requests]

    with serving(always(BROKEN)) as server:
        client = connect(server.base_url, retries=2)
        for _ in range(2):
            with pytest.raises(da.ServerError) as caught:
                search(client)
            assert caught.value.request_id == ids(server.requests)[-1]
        calls = [ids(server.requests)[:3], ids(server.requests)[3:]]
    prefixes = set()
    for call in calls:
        found = [re.fullmatch(r"([0-9a-f]{16})-(\d)", name) for name in call]
        assert [match[2] for match in found if match] == ["1", "2", "3"]
        prefixes |= {match[1] for match in found if match}
    assert len(prefixes) == 2


def test_the_history_tells_each_failure_in_its_turn(connect: Any) -> None:
    def answer(connection: Any, number: int) -> None:
        if number == 0:
            raise Close
        connection.sendall((BROKEN, http(b"<html>", content_type="text/html"))[number - 1])

    with serving(answer) as server, pytest.raises(da.NotJsonError) as caught:
        search(connect(server.base_url))
    lost, broken, html = caught.value.history
    assert lost.startswith("ConnectionLostError: the connection was lost before the response")
    assert broken == "ServerError: the service failed (HTTP 500)"
    assert html == "NotJsonError: the response is not JSON but text/html"


@pytest.mark.usefixtures("short_pauses")
def test_figures_count_what_was_done(connect: Any) -> None:
    with serving(in_turn(BROKEN, throttled("Retry-After: 0"), WHOLE)) as server:
        client = connect(server.base_url)
        assert vars_of(client.stats()) == {**dict.fromkeys(vars_of(client.stats()), 0), "quota_left": 500}
        search(client)
        assert vars_of(client.stats()) == {
            "requests": 3,
            "retries": 2,
            "free_retries": 0,
            "throttled": 1,
            "in_flight": 0,
            "bytes_received": len(WHOLE.partition(b"\r\n\r\n")[2]),
            "connections_opened": 1,
            # Paid 14 and 5, and got the last one back.
            "quota_left": 486,
        }
        client.close()
        assert client.stats().requests == 3


def test_a_request_under_way_is_in_flight_until_its_answer_ends() -> None:
    arrived, over = threading.Event(), threading.Event()

    def answer(connection: Any, _number: int) -> None:
        connection.sendall(WHOLE[:-1])
        arrived.set()
        over.wait(60)
        connection.sendall(WHOLE[-1:])

    with serving(answer) as server, ThreadPoolExecutor(1) as pool:
        client = da.Client(server.base_url, token="tok")
        found = pool.submit(search, client)
        assert arrived.wait(60)
        assert client.stats().in_flight == 1
        over.set()
        assert found.result()
        assert client.stats().in_flight == 0


def vars_of(stats: Any) -> dict[str, int]:
    return {name: getattr(stats, name) for name in type(stats).__slots__}
