"""A refused token is renewed once, and a verdict behind the rows of a response counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.operations import ENTRIES, GOOD, SEARCH, WHOLE, Entry
from support.raw_server import RESPONSE, Close, http, serving

import dataaccess as da

pytestmark = pytest.mark.usefixtures("short_pauses")

REFUSAL = {"code": 301, "message": "Permission denied", "data": "You don't have permission to access this request!"}


@pytest.mark.parametrize("sent", [0, 1, 20])
def test_a_refusal_that_is_cut_off_is_retried_until_it_can_be_read(connect: Any, sent: int) -> None:
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
        assert SEARCH(connect(server.base_url, token=lambda: next(tokens)))
        assert len(server.requests) == 3


# The response to a refused token: the HTTP status and the code.
REFUSALS: dict[str, tuple[str, dict[str, Any]]] = {
    "H19-403": ("403 Forbidden", REFUSAL),
    "H19-401": ("401 Unauthorized", {}),
    "H20-200": ("200 OK", REFUSAL),
    "H20-200-without-data": ("200 OK", {"code": 301}),
    "H20-200-with-rows": ("200 OK", {**GOOD, "code": 301}),
    "H20-200-behind-rows": ("200 OK", {"data": GOOD["data"], "code": 301}),
}


@pytest.mark.fault("H19", "H20")
@pytest.mark.parametrize("entry", ENTRIES, ids=str)
@pytest.mark.parametrize("case", REFUSALS)
def test_a_refused_token_is_renewed_once_and_only_when_another_is_given(
    connect: Any, tmp_path: Path, case: str, entry: Entry
) -> None:
    status, body = REFUSALS[case]

    def refused(tokens: list[str]) -> tuple[list[str], int]:
        given = iter(tokens)
        with serving(lambda connection, _number: connection.sendall(http(body, status))) as server:
            token = tokens[0] if len(tokens) == 1 else lambda: next(given)
            with pytest.raises(da.PermissionDeniedError) as caught:
                entry(connect(server.base_url, token=token), tmp_path)
            sent = [request.headers["authorization"] for request in server.requests]
            assert caught.value.attempts == len(sent)
            return sent, len(list(given))

    assert refused(["tok-1", "tok-2", "tok-3"]) == (["Bearer tok-1", "Bearer tok-2"], 1)
    assert refused(["tok-1", "tok-1", "tok-3"]) == (["Bearer tok-1"], 1)
    assert refused(["tok-1"])[0] == ["Bearer tok-1"]


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
@pytest.mark.parametrize("case", REFUSALS)
def test_a_renewed_token_that_is_taken_gives_the_result(connect: Any, tmp_path: Path, case: str, entry: Entry) -> None:
    status, body = REFUSALS[case]

    def respond(connection: Any, number: int) -> None:
        is_new = server.requests[number].headers["authorization"] == "Bearer tok-new"
        connection.sendall(WHOLE if is_new else http(body, status))

    with serving(respond) as server:
        tokens = iter(["tok-old", "tok-new"])
        assert entry(connect(server.base_url, token=lambda: next(tokens)), tmp_path) == entry.result
        assert len(server.requests) == 2


# H30: what follows the rows, and the reported cause.
LATE: dict[int, type[da.DataAccessError]] = {301: da.PermissionDeniedError, 501: da.ApiError, 201: da.ApiError}


@pytest.mark.fault("H30")
@pytest.mark.parametrize("code", LATE)
def test_a_code_behind_the_rows_is_obeyed(connect: Any, code: int) -> None:
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
