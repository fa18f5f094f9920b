"""Tokens: refused alike for every reason, asked once for all (sections 5 and 7)."""

from __future__ import annotations

import asyncio
import os
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.fast_clock import short_pauses
from support.raw_server import always, http, serving
from support.searches import search

import dataaccess as da

__all__ = ["short_pauses"]


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


def test_many_threads_ask_once() -> None:
    asked: list[int] = []

    def token() -> str:
        asked.append(1)
        time.sleep(0.2)
        return "tok-1"

    with serving(always(http())) as server, ThreadPoolExecutor(8) as pool:
        client = da.Client(server.base_url, token=token)
        list(pool.map(lambda _: search(client), range(16)))
    assert asked == [1]


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
