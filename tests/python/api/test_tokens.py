"""Tokens: refused alike for every reason, asked once for all (sections 5 and 7)."""

from __future__ import annotations

import asyncio
import os
import pickle
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import repeat
from typing import Any
from unittest.mock import Mock

import pytest
from support.failures import DENIED
from support.operations import WHOLE
from support.raw_server import always, http, in_turn, serving
from support.searches import search

import dataaccess as da


def test_every_bad_token_fails_in_the_same_way(connect: Any, sandbox: da.Sandbox) -> None:
    expired = sandbox.issue_token(expires_in=0)
    revoked = sandbox.issue_token()
    sandbox.revoke(revoked)
    seen = set()
    for token in ("tok-wrong", expired, revoked, sandbox.issue_token(["download"])):
        with pytest.raises(da.PermissionDeniedError) as caught:
            search(connect(sandbox.base_url, token=token))
        error = caught.value
        assert (error.status, error.code, error.attempts) == (403, 301, 1)
        assert token not in str(error) + repr(error.__dict__)
        seen.add(str(error))
    assert len(seen) == 1


def test_a_scope_is_for_its_operation(connect: Any, sandbox: da.Sandbox) -> None:
    items, downloads = connect(sandbox, scopes=["item"]), connect(sandbox, scopes=["download"])
    assert search(items)
    assert downloads.download_segment(5637051)
    with pytest.raises(da.PermissionDeniedError):
        items.download_segment(5637051)
    with pytest.raises(da.PermissionDeniedError):
        search(downloads)


def test_a_callable_is_asked_once_and_its_text_is_kept(connect: Any) -> None:
    asked: list[str] = []

    def token() -> str:
        asked.append(threading.current_thread().name)
        return "tok-1"

    with serving(always(http())) as server:
        client = connect(server.base_url, token=token)
        for _ in range(3):
            search(client)
    assert len(asked) == 1
    assert asked != [threading.current_thread().name]


def after(seconds: float, answer: Any) -> Any:
    time.sleep(seconds)
    return answer


def test_many_threads_ask_once() -> None:
    token = Mock(side_effect=partial(after, 0.2, "tok-1"))
    with serving(always(http())) as server, ThreadPoolExecutor(8) as pool:
        client = da.Client(server.base_url, token=token)
        list(pool.map(lambda _: search(client), range(16)))
    token.assert_called_once_with()


@pytest.mark.fault("P6")
def test_a_callable_that_waits_for_itself_is_reported_at_once(connect: Any) -> None:
    clients: list[Any] = []

    def token() -> str:
        clients[0].download_segment(1)
        return "tok"

    with serving(always(http())) as server:
        client = connect(server.base_url, token=token, timeout=20)
        clients.append(da.Client(server.base_url, token=token, timeout=20))
        started = time.monotonic()
        with pytest.raises(da.ConfigError) as caught:
            search(client)
    assert time.monotonic() - started < 10
    assert isinstance(caught.value.__cause__, RuntimeError)


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        (lambda: None, "NoneType"),
        (lambda: b"tok", "bytes"),
        (lambda: "tok\n", "position 3"),
        (lambda: ("tok", datetime(2030, 1, 1)), "zone"),  # noqa: DTZ001 - that is the mistake
        (lambda: ("tok", "soon"), "neither"),
        (lambda: ("tok", 3600), "duration"),
        (lambda: os.environ["DATAACCESS_NOT_SET"], "KeyError"),
    ],
)
def test_a_callable_that_returns_no_token_is_reported(connect: Any, given: Any, seen: str) -> None:
    with serving(always(http())) as server:
        with pytest.raises(da.ConfigError, match=seen) as caught:
            search(connect(server.base_url, token=given))
        assert server.requests == []
    if seen == "KeyError":
        assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.both_clients
def test_a_coroutine_function_is_a_token_callable(connect: Any, sandbox: da.Sandbox) -> None:
    loops = []

    async def token() -> tuple[str, datetime]:
        await asyncio.sleep(0)
        loops.append(asyncio.get_running_loop())
        return sandbox.issue_token(), datetime.now(UTC) + timedelta(hours=1)

    client = connect(sandbox.base_url, token=token)
    assert search(client) == search(client)
    assert len(loops) == 1
    assert loops[0].is_closed()


async def failing_token() -> str:
    raise KeyError("no vault")


def test_a_coroutine_that_fails_is_the_cause(connect: Any) -> None:
    with serving(always(http())) as server, pytest.raises(da.ConfigError, match="KeyError") as caught:
        search(connect(server.base_url, token=failing_token, retry_for=0))
    assert isinstance(caught.value.__cause__, KeyError)
    client = da.Client(server.base_url, token=failing_token)
    assert pickle.loads(pickle.dumps(client))._settings.token.callable is failing_token


def test_a_callable_may_use_a_client_itself(connect: Any, sandbox: da.Sandbox) -> None:
    inner = sandbox.client()

    def token() -> str:
        inner.download_segment(5637051)
        return sandbox.issue_token()

    assert search(connect(sandbox.base_url, token=token))


def test_a_refused_token_is_renewed_once_and_the_call_continues(connect: Any) -> None:
    tokens = iter(["tok-old", "tok-new"])
    with serving(in_turn(DENIED, http())) as server:
        rows = search(connect(server.base_url, token=lambda: next(tokens)))
        sent = [request.headers["authorization"] for request in server.requests]
    assert rows == [{"id": "a"}, {"id": "b"}]
    assert sent == ["Bearer tok-old", "Bearer tok-new"]


def test_a_token_that_stays_the_same_is_not_sent_again(connect: Any) -> None:
    with serving(always(DENIED)) as server:
        with pytest.raises(da.PermissionDeniedError):
            search(connect(server.base_url, token=lambda: "tok-1"))
        assert len(server.requests) == 1


def test_an_expiring_token_is_renewed_in_time_and_not_before(connect: Any) -> None:
    asked: list[float] = []

    def token() -> tuple[str, datetime]:
        asked.append(time.monotonic())
        return f"tok-{len(asked)}", datetime.now(UTC) + timedelta(seconds=0.8 if len(asked) == 1 else 3600)

    sent: list[str] = []
    with serving(always(http())) as server:
        client = connect(server.base_url, token=token)
        deadline = time.monotonic() + 20
        while "Bearer tok-2" not in sent and time.monotonic() < deadline:
            search(client)
            sent = [request.headers["authorization"] for request in server.requests]
            time.sleep(0.05)
        search(client)
        sent = [request.headers["authorization"] for request in server.requests]
    assert sent == ["Bearer tok-1"] * (len(sent) - 2) + ["Bearer tok-2"] * 2
    first, second = asked
    assert second - first > 0.35, "renewed before half of its life was over"


@pytest.mark.quiet
@pytest.mark.parametrize("renewal", ["fails", "hangs"])
def test_r8_a_valid_token_is_sent_whatever_an_early_renewal_does(connect: Any, renewal: str) -> None:
    asked: list[int] = []

    def token() -> tuple[str, datetime]:
        asked.append(1)
        if len(asked) > 1 and renewal == "fails":
            raise OSError("the service of the tokens is away")
        if len(asked) > 1:
            time.sleep(3)
        return "tok-1", datetime.now(UTC) + timedelta(seconds=5)

    with serving(always(http())) as server:
        client = connect(server.base_url, token=token, retry_for=0)
        search(client)
        time.sleep(2.6)
        took = 0.0
        for _ in range(3):
            started = time.monotonic()
            search(client)
            took += time.monotonic() - started
            # The first call begins the renewal, in another thread; the next ones are made while it hangs or after it.
            while len(asked) == 1 and time.monotonic() < started + 1:
                time.sleep(0.005)
        assert took < 0.9
        assert len(asked) == 2


def test_a_source_that_fails_is_retried(connect: Any, caplog: Any) -> None:
    away = OSError("the service of the tokens is away")
    token, once = Mock(side_effect=[away, away, "tok-1"]), Mock(side_effect=away)
    with serving(always(http())) as server:
        assert search(connect(server.base_url, token=token))
        assert len(server.requests) == 1
        assert [record.name for record in caplog.records] == ["dataaccess.retry"] * 2
        with pytest.raises(da.ConfigError, match=r"\bOSError: "):
            search(connect(server.base_url, token=once, retry_for=0))
        once.assert_called_once_with()


@pytest.mark.parametrize("mistake", [TypeError, NameError, KeyError, ZeroDivisionError, AssertionError, RuntimeError])
def test_a_mistake_in_the_source_is_not_retried(connect: Any, mistake: type[Exception]) -> None:
    token = Mock(side_effect=mistake("in my code"))
    with pytest.raises(da.ConfigError, match=rf"\b{mistake.__name__}: ") as caught:
        search(connect("http://127.0.0.1:9", token=token))
    assert (token.call_count, caught.value.retryable) == (1, False)


@pytest.mark.usefixtures("short_pauses")
def test_a_run_outlives_a_source_that_is_away_for_a_while(tmp_path: Any) -> None:
    def tokens() -> Iterator[Any]:
        yield "tok-1", time.time() + 0.2
        yield from repeat(OSError("the service of the tokens is away"), 10)
        yield "tok-1", time.time() + 60

    token = Mock(side_effect=tokens())
    with serving(lambda connection, _: connection.sendall(after(0.15, http()))) as server:
        client = da.Client(server.base_url, token=token, concurrency=1)
        scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-05"))
        report = scan.to_folder(tmp_path / "run")
    assert (report.rows, token.call_count) == (8, 12)


def test_many_threads_ask_once_for_a_token_of_a_short_life() -> None:
    token = Mock(side_effect=partial(after, 0.1, ("tok-1", time.time() + 20)))
    with serving(always(http())) as server, ThreadPoolExecutor(8) as pool:
        client = da.Client(server.base_url, token=token)
        list(pool.map(lambda _: search(client), range(16)))
    token.assert_called_once_with()


def test_a_call_that_ends_early_leaves_its_question_to_the_next() -> None:
    running: list[int] = []
    most: list[int] = []

    def token() -> str:
        running.append(1)
        most.append(len(running))
        time.sleep(0.4)
        running.pop()
        return "tok-1"

    with serving(always(http())) as server:
        client = da.Client(server.base_url, token=token)
        hasty = client.with_options(timeout=0.1)
        for _ in range(2):
            with pytest.raises(da.RequestTimeoutError):
                search(hasty)
        assert most == [1]
        assert search(client)


def test_r8_a_callable_that_outlasts_the_timeout_of_a_scan_is_named(connect: Any) -> None:
    returned = threading.Event()

    def token() -> str:
        returned.wait(10)
        return "tok-test"

    with serving(always(WHOLE)) as server:
        client = connect(server.base_url, token=token, timeout=0.3)
        scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-03"))
        with pytest.raises(da.RequestTimeoutError, match=r" 0\.3 s\b.*\bcallable\b") as caught:
            scan.to_dicts()
        returned.set()
    assert caught.value.phase == "token"
    assert server.requests == []


def test_r8_a_callable_that_hangs_is_called_again_by_the_call_after_one_that_gave_up(connect: Any) -> None:
    returned = threading.Event()
    calls: list[int] = []

    def token() -> str:
        calls.append(1)
        if len(calls) == 1:
            returned.wait(30)
        return "tok-test"

    with serving(always(WHOLE)) as server:
        client = connect(server.base_url, token=token, timeout=1.2)
        with pytest.raises(da.RequestTimeoutError, match=r"\btoken\b") as caught:
            search(client)
        assert caught.value.phase == "deadline"
        assert search(client)
        returned.set()
    assert len(calls) == 2
