"""Tokens: refused alike for every reason, asked once for all, renewed in time (sections 5 and 7)."""

from __future__ import annotations

import asyncio
import os
import pickle
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support.fast_clock import short_pauses
from support.raw_server import always, http, in_turn, serving

import dataaccess as da

__all__ = ["short_pauses"]

DENIED = http(
    {
        "code": 301,
        "message": "Permission denied",
        "data": "You don't have permission to access this request!",
    },
    "403 Forbidden",
)


def search(client: Any) -> Any:
    return client.search_codes(["id"], allocated_time=da.on("2024-01-15"))


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


def test_a_refusal_inside_a_200_is_a_refusal(connect: Any) -> None:
    body = {"code": 301, "message": "Permission denied", "data": "no"}
    with serving(always(http(body))) as server, pytest.raises(da.PermissionDeniedError) as caught:
        search(connect(server.base_url))
    assert (caught.value.status, caught.value.code) == (200, 301)


def test_a_401_says_only_what_the_service_said(connect: Any) -> None:
    with serving(always(http(b"", "401 Unauthorized"))) as server, pytest.raises(da.PermissionDeniedError) as caught:
        search(connect(server.base_url))
    assert (caught.value.status, caught.value.code, caught.value.api_message) == (401, None, None)
    assert "(HTTP 401);" in str(caught.value)


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


@pytest.mark.slow
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
        client = connect(server.base_url, token=token, retries=0)
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
    asked: list[int] = []

    def token() -> str:
        asked.append(1)
        if len(asked) < 3:
            raise OSError("the service of the tokens is away")
        return "tok-1"

    with serving(always(http())) as server:
        assert search(connect(server.base_url, token=token))
        assert len(server.requests) == 1
    assert [record.name for record in caplog.records] == ["dataaccess.retry"] * 2
    with serving(always(http())) as server:
        asked.clear()
        with pytest.raises(da.ConfigError, match="raised OSError"):
            search(connect(server.base_url, token=token, retries=0))
        assert asked == [1]


@pytest.mark.usefixtures("short_pauses")
def test_a_run_outlives_a_source_that_is_away_for_a_while(tmp_path: Any) -> None:
    asked: list[int] = []

    def token() -> tuple[str, float]:
        asked.append(1)
        if 1 < len(asked) < 12:
            raise OSError("the service of the tokens is away")
        return "tok-1", time.time() + (0.2 if len(asked) == 1 else 60)

    def answer(connection: Any, _number: int) -> None:
        time.sleep(0.15)
        connection.sendall(http())

    with serving(answer) as server:
        client = da.Client(server.base_url, token=token, concurrency=1)
        report = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-05")).run(tmp_path / "run")
    assert (report.rows, len(asked)) == (8, 12)


def test_many_threads_ask_once_for_a_token_of_a_short_life() -> None:
    asked: list[int] = []

    def token() -> tuple[str, float]:
        asked.append(1)
        time.sleep(0.1)
        return "tok-1", time.time() + 20

    with serving(always(http())) as server, ThreadPoolExecutor(8) as pool:
        client = da.Client(server.base_url, token=token)
        list(pool.map(lambda _: search(client), range(16)))
    assert asked == [1]


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
        with pytest.raises(da.RequestTimeoutError):
            search(hasty)
        with pytest.raises(da.RequestTimeoutError):
            search(hasty)
        assert most == [1]
        assert search(client)


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
        search(connect(server.base_url, token=failing_token, retries=0))
    assert isinstance(caught.value.__cause__, KeyError)
    client = da.Client(server.base_url, token=failing_token)
    assert pickle.loads(pickle.dumps(client))._token.callable is failing_token


def test_a_callable_may_use_a_client_itself(connect: Any, sandbox: da.Sandbox) -> None:
    inner = sandbox.client()

    def token() -> str:
        inner.download_segment(5637051)
        return sandbox.issue_token()

    assert search(connect(sandbox.base_url, token=token))


def test_a_file_that_is_rotated_is_followed(connect: Any, tmp_path: Any) -> None:
    path = tmp_path / "token"
    path.write_text("tok-old\n")
    path.chmod(0o600)

    def answer(connection: Any, number: int) -> None:
        path.write_text("  tok-new\n")
        connection.sendall(DENIED if number == 0 else http())

    with serving(answer) as server:
        search(connect(server.base_url, token=da.token_file(path)))
        sent = [request.headers["authorization"] for request in server.requests]
    assert sent == ["Bearer tok-old", "Bearer tok-new"]


def test_a_file_others_may_read_is_reported(tmp_path: Any) -> None:
    path = tmp_path / "token"
    path.write_text("tok")
    path.chmod(0o644)
    with pytest.warns(da.DataAccessWarning, match="chmod 600"):
        assert da.token_file(path)() == "tok"
    with pytest.raises(da.ConfigError, match="cannot be read"):
        da.token_file(tmp_path / "nothing")()


def test_a_file_that_is_missing_is_reported_by_its_name(connect: Any, tmp_path: Any) -> None:
    with serving(always(http())) as server, pytest.raises(da.ConfigError, match=r"token file .*nothing cannot be read"):
        search(connect(server.base_url, token=da.token_file(tmp_path / "nothing")))


OWN = "tok-of-a-file-0123456789"


def everything_in(error: BaseException) -> str:
    """All that an error, and each it came from, holds: its text, arguments, fields, and the locals of our frames."""
    seen: list[object] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None:
            continue
        waiting += [one.__cause__, one.__context__]
        fields = [getattr(one, name) for name in dir(one) if name in {"object", "reason", "doc"}]
        frames = traceback.TracebackException.from_exception(one, capture_locals=True).stack
        ours = [frame.locals for frame in frames if frame.filename.startswith(str(Path(da.__file__).parent))]
        seen += [repr(one), str(one), one.args, vars(one), fields, ours]
    return repr(seen)


def is_told(token: str, error: BaseException) -> bool:
    """Whether an error holds a token, in any of the encodings that a file may have."""
    seen = everything_in(error)
    encoded = [repr(token.encode(name))[2:-1] for name in ("utf-8", "utf-16-le", "utf-16-be")]
    return any(part in seen for part in [token, *encoded, repr(token.encode("utf-16-le").decode())[1:-1]])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1"])
def test_a_file_that_is_not_utf_8_is_reported_without_its_bytes(connect: Any, tmp_path: Any, encoding: str) -> None:
    path = tmp_path / "token"
    path.write_bytes((f"{OWN}\xe9" if encoding == "latin-1" else OWN).encode(encoding))
    path.chmod(0o600)
    token = da.token_file(path)
    with (
        serving(always(http())) as server,
        pytest.raises(da.ConfigError, match=r"UTF-8|a header cannot hold") as caught,
    ):
        search(connect(server.base_url, token=token))
    assert not is_told(OWN, caught.value)
    if encoding in {"utf-16", "utf-32", "latin-1"}:
        with pytest.raises(da.ConfigError, match=r"token file .*token is not valid UTF-8; save it as UTF-8") as caught:
            token()
        assert not is_told(OWN, caught.value)
    assert server.requests == []


@pytest.mark.parametrize("given", [f"{OWN}\udc80", (f"{OWN}\udc80", time.time() + 3600)])
def test_a_callable_with_invalid_unicode_is_reported_without_the_token(connect: Any, given: Any) -> None:
    with serving(always(http())) as server, pytest.raises(da.ConfigError, match="cannot be encoded as UTF-8") as caught:
        search(connect(server.base_url, token=lambda: given))
    assert not is_told(OWN, caught.value)


def test_a_token_that_is_no_unicode_is_reported_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(da.ConfigError, match="token= holds a lone surrogate") as caught:
        da.Client("https://cdp.example.com", token=f"{OWN}\udc80")
    assert not is_told(OWN, caught.value)
    monkeypatch.setenv("DATAACCESS_TOKEN", f"{OWN}\udc80")
    with pytest.raises(da.ConfigError) as caught:
        da.Client("https://cdp.example.com")
    assert not is_told(OWN, caught.value)
