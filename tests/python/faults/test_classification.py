"""Which responses are results, which are failures, and which of them are retried."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support import kinds
from support.compressed import packed
from support.raw_server import EXPORT, RESPONSE, Close, RawServer, always, http, serving
from support.searches import collect, raised_by, search, stream

import dataaccess as da

pytestmark = pytest.mark.usefixtures("short_pauses")

REFUSAL = {"code": 301, "message": "Permission denied", "data": "You don't have permission to access this request!"}

# H26: the class of each status that is not 200. Others are classified by their hundred.
BY_HUNDRED: dict[int, type[da.DataAccessError]] = {
    2: da.ApiError,
    3: kinds.Redirect,
    4: da.RequestRejectedError,
    5: da.ServerError,
}
NAMED: dict[int, type[da.DataAccessError]] = {
    204: kinds.Truncated,
    401: da.PermissionDeniedError,
    408: da.ServerError,
    429: da.ThrottledError,
    503: da.ThrottledError,
}
ASKED_AGAIN = {204, 408, 429, 500, 502, 503, 504, 507, *range(520, 528), 529, 530}
# Those that slow a client down come last.
STATUSES = [*sorted(set(range(201, 600)) - {429, 503}), 429, 503]


def download(client: Any) -> Any:
    return client.download_segment(5637051)


WAYS: list[Callable[[Any], Any]] = [search, stream, collect, download]


class Statuses:
    """Responses every request with one status and body, each on a connection of its own."""

    status = 200
    body = b""

    def __call__(self, connection: Any, _number: int) -> None:
        # What has no body by its status must not send one.
        body = b"" if self.status in {204, 205, 304} else self.body
        connection.sendall(http(body, f"{self.status} Reason", headers=("Connection: close", "Retry-After: 0")))
        raise Close


@pytest.mark.slow
def test_h26_each_status_has_a_class_and_is_retried_or_not(connect: Any) -> None:
    statuses = Statuses()
    statuses.body = b"<html>of something on the way"
    with serving(statuses) as server:
        for status in STATUSES:
            # One for all would see an outage.
            client = connect(server.base_url, retry_for=0.2)
            statuses.status = status
            before = len(server.requests)
            error = raised_by(WAYS[status % len(WAYS)], client)
            assert kinds.kind_of(error) is NAMED.get(status, BY_HUNDRED[status // 100]), (status, repr(error))
            sent = len(server.requests) - before
            assert sent == error.attempts == (2 if status in ASKED_AGAIN else 1), (status, repr(error))
            if status != 204:
                assert error.status == status  # type: ignore[attr-defined]
                assert f"HTTP {status}" in str(error)


@pytest.mark.slow
def test_h26_no_body_makes_a_result_of_another_status(connect: Any) -> None:
    statuses = Statuses()
    bodies = [b"", json.dumps(RESPONSE).encode(), json.dumps(EXPORT).encode()]
    with serving(statuses) as server:
        client = connect(server.base_url, retry_for=0)
        for status in STATUSES:
            statuses.status, statuses.body = status, bodies[status % len(bodies)]
            error = raised_by(WAYS[status % len(WAYS)], client)
            assert kinds.kind_of(error) is NAMED.get(status, BY_HUNDRED[status // 100]), (status, repr(error))


@pytest.mark.parametrize("response", [b"HTTP/1.1 204 Empty\r\n\r\n", http(b""), packed(b""), packed(b"", "zstd")])
def test_h28_a_response_without_a_body_is_asked_for_once_more(connect: Any, response: bytes) -> None:
    with serving(always(response)) as server:
        client = connect(server.base_url)
        for number, ask in enumerate(WAYS, 1):
            error = raised_by(ask, client)
            assert isinstance(error, kinds.Truncated), repr(error)
            assert (error.received, error.attempts, len(server.requests)) == (0, 2, 2 * number)


def test_h28_a_connection_lost_before_the_body_is_another_matter(connect: Any) -> None:
    def cut(connection: Any, _number: int) -> None:
        connection.sendall(http().partition(b"\r\n\r\n")[0] + b"\r\n\r\n")
        raise Close

    with serving(cut) as server:
        error = raised_by(search, connect(server.base_url, retry_for=0.2))
        assert isinstance(error, kinds.Truncated)
        assert len(server.requests) == 2


@pytest.mark.slow
def test_h19_h22_only_the_services_own_words_make_a_refusal(connect: Any) -> None:
    statuses = Statuses()
    statuses.body = json.dumps(REFUSAL).encode()
    with serving(statuses) as server:
        client = connect(server.base_url, retry_for=0)
        found: Counter[type[da.DataAccessError]] = Counter()
        for status in STATUSES:
            statuses.status = status
            error = raised_by(WAYS[status % len(WAYS)], client)
            found[type(error)] += 1
            expected = da.PermissionDeniedError if status == 403 else NAMED.get(status, BY_HUNDRED[status // 100])
            assert kinds.kind_of(error) is expected, (status, repr(error))
        assert found[da.PermissionDeniedError] == 2, "403 and 401"
        # The client of before was asked to slow down.
        client = connect(server.base_url, retry_for=0)
        statuses.status = 403
        for words in (b"<html>no", b"", b"null", b"[301]", b'{"code":"301"}', b'{"code":403}', b'{"code":301'):
            statuses.body = words
            assert type(raised_by(search, client)) is da.RequestRejectedError, words


@pytest.mark.parametrize("sent", [0, 1, 20])
def test_h19_a_refusal_that_is_cut_off_is_retried_until_it_can_be_read(connect: Any, sent: int) -> None:
    """Whether a 403 refuses the token is in its body."""
    refusal = json.dumps(REFUSAL).encode()
    tokens = iter(["tok-old", "tok-new"])

    def respond(connection: Any, number: int) -> None:
        if number == 0:
            connection.sendall(http(refusal[:sent], "403 Forbidden", length=len(refusal)))
            raise Close
        is_old = server.requests[number].headers["authorization"].endswith("tok-old")
        connection.sendall(http(refusal, "403 Forbidden") if is_old else http(RESPONSE))

    with serving(respond) as server:
        assert search(connect(server.base_url, token=lambda: next(tokens)))
        assert len(server.requests) == 3


# The response to a refused token: the HTTP status and the code.
REFUSALS: dict[str, tuple[str, dict[str, Any]]] = {
    "H19-403": ("403 Forbidden", REFUSAL),
    "H19-401": ("401 Unauthorized", {}),
    "H20-200": ("200 OK", REFUSAL),
    "H20-200-without-data": ("200 OK", {"code": 301}),
    "H20-200-with-rows": ("200 OK", {**RESPONSE, "code": 301}),
    "H20-200-behind-rows": ("200 OK", {"data": RESPONSE["data"], "code": 301}),
}


@pytest.mark.parametrize("ask", WAYS)
@pytest.mark.parametrize("case", REFUSALS)
def test_a_refused_token_is_renewed_once_and_only_when_another_is_given(connect: Any, case: str, ask: Any) -> None:
    status, body = REFUSALS[case]

    def refuse(connection: Any, _number: int) -> None:
        connection.sendall(http(body, status))

    def refused(tokens: list[str]) -> tuple[list[str], int]:
        given = iter(tokens)
        with serving(refuse) as server:
            error = raised_by(ask, connect(server.base_url, token=lambda: next(given)))
            assert isinstance(error, da.PermissionDeniedError), repr(error)
            sent = [request.headers["authorization"] for request in server.requests]
            assert error.attempts == len(sent)
            return sent, len(list(given))

    assert refused(["tok-1", "tok-2", "tok-3"]) == (["Bearer tok-1", "Bearer tok-2"], 1)
    assert refused(["tok-1", "tok-1", "tok-3"]) == (["Bearer tok-1"], 1)
    with serving(refuse) as server:
        assert raised_by(ask, connect(server.base_url, token="tok")).attempts == len(server.requests) == 1


@pytest.mark.parametrize("ask", WAYS)
@pytest.mark.parametrize("case", REFUSALS)
def test_a_renewed_token_that_is_taken_gives_the_result(connect: Any, case: str, ask: Any) -> None:
    status, body = REFUSALS[case]
    whole = http(EXPORT if ask is download else RESPONSE)

    def respond(server: list[RawServer], connection: Any, number: int) -> None:
        is_new = server[0].requests[number].headers["authorization"] == "Bearer tok-new"
        connection.sendall(whole if is_new else http(body, status))

    servers: list[RawServer] = []
    with serving(lambda connection, number: respond(servers, connection, number)) as server:
        servers.append(server)
        tokens = iter(["tok-old", "tok-new"])
        assert len(ask(connect(server.base_url, token=lambda: next(tokens)))) > 0
        assert len(server.requests) == 2


@pytest.mark.parametrize("ask", WAYS)
def test_h21_a_code_or_a_status_that_is_not_success_is_no_result(connect: Any, ask: Any) -> None:
    good: dict[str, Any] = EXPORT if ask is download else RESPONSE
    codes: list[Any] = ["200", "", None, True, [200], {}, 200.5, 1e300, 2**70]
    states: list[Any] = ["true", "false", 0, 1, [], {}]
    verdicts: list[tuple[dict[str, Any], type[da.DataAccessError]]] = [
        *(({"code": code}, da.ApiError) for code in (0, -1, 201, 299, 300, 302, 403, 501, 2**31, 2**53)),
        *(({"code": code}, kinds.Envelope) for code in codes),
        ({"data": {**good["data"], "status": False}}, da.ApiError),
        *(({"data": {**good["data"], "status": status}}, kinds.Envelope) for status in states),
    ]
    responses: Iterator[bytes] = iter([])

    with serving(lambda connection, _number: connection.sendall(next(responses))) as server:
        client = connect(server.base_url)
        for members, expected in verdicts:
            for last in (False, True):
                body = {**good, **members}
                if last:
                    body = dict(reversed(body.items()))
                responses = iter([http(body)])
                error = raised_by(ask, client)
                assert kinds.kind_of(error) is expected, (members, repr(error))
                assert error.attempts == 1
        for members in ({"code": 200.0}, {"code": 200}, {"data": {**good["data"], "status": None}}):
            responses = iter([http({**good, **members})])
            assert len(ask(client)) > 0


# H30: what follows the rows, and the reported cause.
LATE: dict[int, type[da.DataAccessError]] = {301: da.PermissionDeniedError, 501: da.ApiError, 201: da.ApiError}


@pytest.mark.parametrize("code", LATE)
def test_h30_a_code_behind_the_rows_is_obeyed(connect: Any, code: int) -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        where = {"attrs": ["id"], "allocated_time": da.after("2024-01-01")}
        client = connect(sandbox)
        rows = client.search_codes(**where)
        for collected in (client.search_codes, lambda **options: client.scan_codes(**options).collect()):
            with sandbox.fault("late_code", code=code), pytest.raises(LATE[code]) as caught:
                collected(**where)
            assert caught.value.attempts == 1
        given: list[Any] = []
        with sandbox.fault("late_code", code=code), pytest.raises(da.StreamInterruptedError) as interrupted:
            given.extend(row for batch in client.scan_codes(**where).batches(max_rows=100) for row in batch.to_pylist())
        assert type(interrupted.value.__cause__) is LATE[code]
        # All but the last batch, which waits for the verdict.
        assert interrupted.value.rows_yielded == len(given) == (len(rows) - 1) // 100 * 100
        assert given == rows[: len(given)]
        with sandbox.fault("late_code", code=code), pytest.raises(LATE[code]):
            list(client.scan_codes(**where).batches(max_rows=10**6))
