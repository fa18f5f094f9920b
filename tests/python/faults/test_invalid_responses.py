"""Invalid responses: each raises its class, is retried or not, and is never returned as a result.

The ids are those of the table of faults that the client is built against.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterable
from typing import Any

import pytest
from support import kinds
from support.compressed import packed, spaces, zstd
from support.operations import DOWNLOAD, GOOD, SEARCH, WHOLE, Operation
from support.raw_server import Close, always, http, in_turn, reset, serving

import dataaccess as da

pytestmark = pytest.mark.usefixtures("short_pauses")

BODY = json.dumps(GOOD).encode()
GZIP = gzip.compress(BODY)
# The beginning of an envelope.
MANY_KEYS = b'{"code":200,"data":[],' + b",".join(b'"k%d":1' % number for number in range(30))


def once_and_close(data: bytes) -> Any:
    """Sends something and closes the connection properly."""

    def respond(connection: Any, _number: int) -> None:
        connection.sendall(data)
        raise Close

    return respond


def and_reset(data: bytes) -> Any:
    """Sends something and resets the connection."""

    def respond(connection: Any, _number: int) -> None:
        connection.sendall(data)
        time.sleep(0.05)
        reset(connection)

    return respond


def chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n", headers: bytes = b"") -> bytes:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + headers + b"\r\n"
    return head + b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + end


def envelope(**members: Any) -> bytes:
    return http({**GOOD, **members})


def until_close(body: bytes, headers: bytes = b"") -> bytes:
    return b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + headers + b"\r\n" + body


# The response, the class that it raises, and whether it is retried.
CASES: dict[str, tuple[Any, type[da.DataAccessError], bool]] = {
    "H1-closed-without-a-byte": (once_and_close(b""), kinds.Lost, True),
    "C4-reset-without-a-byte": (and_reset(b""), kinds.Lost, True),
    "H3-half-a-status-line": (once_and_close(b"HTTP/1.1 2"), kinds.Lost, True),
    "H3-half-the-headers": (once_and_close(WHOLE[:40]), kinds.Lost, True),
    "H4-body-short-of-its-length": (once_and_close(WHOLE[:-9]), kinds.Truncated, True),
    "H5-reset-in-the-body": (and_reset(WHOLE[:-9]), kinds.Lost, True),
    "H6-no-last-chunk": (once_and_close(chunked(BODY, end=b"")), kinds.Truncated, True),
    "H6-cut-inside-a-chunk": (once_and_close(chunked(BODY)[:-20]), kinds.Truncated, True),
    "H6-a-chunk-without-size": (once_and_close(chunked(end=b"zz\r\n")), kinds.Malformed, True),
    "H7-length-too-small": (once_and_close(http(GOOD, length=len(BODY) - 5)), kinds.Truncated, True),
    "H8-closed-early-without-length": (once_and_close(until_close(BODY[:-2])), kinds.Truncated, True),
    "H10-two-lengths": (always(http(GOOD, headers=("Content-Length: 3",))), kinds.Malformed, False),
    "H10-no-http-at-all": (once_and_close(b"hello, this is a mail server\r\n\r\n"), kinds.Malformed, False),
    "H12-a-header-of-a-megabyte": (always(http(GOOD, headers=("X-A: " + "a" * 2**20,))), kinds.Malformed, False),
    "H16-gzip-cut": (always(packed(GZIP[:-1])), kinds.Truncated, True),
    "H16-gzip-cut-in-the-second-member": (always(packed(GZIP + GZIP[:9])), kinds.Truncated, True),
    "H16-gzip-without-a-byte": (always(packed(b"")), kinds.Truncated, True),
    "H16-gzip-corrupt": (always(packed(GZIP[:-5] + b"\0" + GZIP[-4:])), kinds.Malformed, True),
    "H16-gzip-lie": (always(packed(BODY)), kinds.Malformed, True),
    "H16-gzip-and-more": (always(packed(GZIP + b"\n")), kinds.Malformed, True),
    "H16-gzip-of-half-a-response": (always(packed(gzip.compress(BODY[:-1]))), kinds.Truncated, True),
    "H16-zstd-cut": (always(packed(zstd(BODY)[:-1], "zstd")), kinds.Truncated, True),
    "H16-zstd-lie": (always(packed(GZIP, "zstd")), kinds.Malformed, True),
    "H16-zstd-and-more": (always(packed(zstd(BODY) + b"{}", "zstd")), kinds.Malformed, True),
    "H16-two-layers": (always(packed(gzip.compress(GZIP), "gzip, gzip")), kinds.Malformed, False),
    "H16-compressed-unasked": (always(packed(BODY, "br")), kinds.Malformed, False),
    "H16-compressed-failure": (always(packed(b"\x1f\x8b", status="503 Busy")), da.ThrottledError, True),
    "H16-unreadable-failure": (always(packed(b"?", "br", status="503 Busy")), da.ThrottledError, True),
    "H17-bomb-that-is-no-json": (always(packed(gzip.compress(bytes(2**24)))), kinds.NotJson, False),
    "H17-bomb-of-zstd": (always(packed(zstd(BODY + bytes(2**22)), "zstd")), kinds.InvalidJson, False),
    "H17-bomb-as-a-failure": (always(packed(spaces(4), status="503 Busy")), da.ThrottledError, True),
    "H18-redirect": (
        always(http(b"", "307 Moved", headers=("Location: http://127.0.0.2:9/x",))),
        kinds.Redirect,
        False,
    ),
    "H20-refusal-in-a-200": (always(envelope(code=301, data="no")), da.PermissionDeniedError, False),
    "H21-another-code": (always(envelope(code=400)), da.ApiError, False),
    "H21-code-429": (always(envelope(code=429)), da.ThrottledError, True),
    "H21-code-500": (always(envelope(code=500)), da.ServerError, True),
    "H21-code-502": (always(envelope(code=502)), da.ServerError, True),
    "H21-code-504": (always(envelope(code=504)), da.ServerError, True),
    "H21-code-503": (always(envelope(code=503)), da.ThrottledError, True),
    "H23-507": (always(http(b"", "507 Full")), da.ServerError, True),
    "H23-520": (always(http(b"", "520 Unknown")), da.ServerError, True),
    "H23-530": (always(http(b"", "530 Unknown")), da.ServerError, True),
    "H23-528": (always(http(b"", "528 Unknown")), da.ServerError, False),
    "H21-status-false": (always(envelope(data={"status": False, "data": []})), da.ApiError, False),
    "H21-code-absent": (always(http({"data": {"status": True, "data": []}})), kinds.Envelope, False),
    "H21-code-is-text": (always(envelope(code="200")), kinds.Envelope, False),
    "H21-status-is-text": (always(envelope(data={"status": "yes", "data": []})), kinds.Envelope, False),
    "H22-html-403": (always(http(b"<html>no", "403 Forbidden")), da.RequestRejectedError, False),
    "H19-any-401": (always(http(b"", "401 Unauthorized")), da.PermissionDeniedError, False),
    "H23-html-502": (always(http(b"<html>bad", "502 Bad Gateway")), da.ServerError, True),
    "H24-html-200": (always(http(b"<html>login", content_type="text/html")), kinds.NotJson, False),
    "H25-429": (always(http(b"", "429 Slow", headers=("Retry-After: 0",))), da.ThrottledError, True),
    "H25-503": (always(http(b"", "503 Busy", headers=("Retry-After: 0",))), da.ThrottledError, True),
    "H25-503-for-too-long": (always(http(b"", "503 Busy", headers=("Retry-After: 999",))), da.ThrottledError, False),
    "H26-408": (always(http(b"", "408 Slow")), da.ServerError, True),
    "H26-500": (always(http(b"", "500 Broken")), da.ServerError, True),
    "H26-501": (always(http(b"", "501 Never")), da.ServerError, False),
    "H27-413": (always(http(b"", "413 Large")), da.RequestRejectedError, False),
    "H28-204": (always(b"HTTP/1.1 204 Empty\r\n\r\n"), kinds.Truncated, True),
    "H28-empty-200": (always(http(b"")), kinds.Truncated, True),
    "H29-data-is-text": (always(envelope(data="none")), kinds.Envelope, False),
    "H29-null": (always(http(b"null")), kinds.Envelope, False),
    "J1-not-a-number": (always(http(BODY.replace(b'"a"', b"NaN"))), kinds.InvalidJson, False),
    "J1-beyond-a-float": (always(http(BODY.replace(b'"a"', b"1e400"))), kinds.Record, False),
    "J5-too-deep": (always(http(b'{"x":' + b"[" * 100_000)), kinds.InvalidJson, False),
    "J6-code-twice": (always(http(b'{"code":200,"data":[],"code":301}')), kinds.Envelope, False),
    "J6-code-twice-among-many": (always(http(MANY_KEYS + b',"code":301}')), kinds.Envelope, False),
    "J6-one-of-many-twice": (always(http(MANY_KEYS + b',"k29":301}')), kinds.Envelope, False),
    "J7-lone-surrogate": (always(http(BODY.replace(b'"a"', b'"\\ud800"'))), kinds.Record, False),
    "J8-invalid-utf8": (always(http(BODY.replace(b'"a"', b'"\xff"'))), kinds.InvalidJson, False),
    "J10-trailing-bytes": (always(http(BODY + b"x")), kinds.InvalidJson, False),
    "J13-a-record-is-no-object": (always(envelope(data={"data": [{"id": "a"}, 7]})), kinds.Record, False),
}
# What only a search looks for: a download has no records.
OF_RECORDS = {"J1-beyond-a-float", "J7-lone-surrogate", "J13-a-record-is-no-object"}


def operations(cases: Iterable[str]) -> list[tuple[str, Operation]]:
    return [(case, ask) for case in cases for ask in (SEARCH, DOWNLOAD) if ask is SEARCH or case not in OF_RECORDS]


every_case = pytest.mark.parametrize(("case", "ask"), operations(CASES), ids=str)
every_case_that_mends = pytest.mark.parametrize(
    ("case", "ask"), operations(case for case, (_, _, tried_again) in CASES.items() if tried_again), ids=str
)


@every_case
def test_what_is_no_result_is_reported_as_what_it_is(connect: Any, case: str, ask: Operation) -> None:
    respond, expected, tried_again = CASES[case]
    with serving(respond) as server:
        with pytest.raises(da.DataAccessError) as caught:
            # A code 429 asks for a pause of a second.
            ask(connect(server.base_url, retry_for=1.9 if "code-429" in case else 0.2, token="tok-secret"))
        error = caught.value
        assert kinds.kind_of(error) is expected, repr(error)
        assert error.attempts == len(server.requests)
        assert (error.attempts > 1) is tried_again
    assert len(error.history) == error.attempts
    assert error.operation == ask.name
    assert error.request_id == server.requests[-1].headers["x-request-id"]
    message = str(error)
    assert message.startswith(f"{ask.name}: ")
    assert message.isprintable()
    assert "tok-secret" not in message + repr(error.__dict__)


@every_case_that_mends
def test_what_succeeds_later_is_never_noticed(connect: Any, case: str, ask: Operation) -> None:
    bad, _, _ = CASES[case]

    def respond(connection: Any, number: int) -> None:
        if number == 0:
            bad(connection, number)
            raise Close
        connection.sendall(WHOLE)

    with serving(respond) as server:
        assert ask(connect(server.base_url)) == ask.result
        assert len(server.requests) == 2


def test_rows_of_an_attempt_that_failed_are_not_counted_twice(connect: Any) -> None:
    many = [{"id": f"row-{number}"} for number in range(30_000)]
    whole = http({**GOOD, "data": {"status": True, "data": many}})

    def respond(connection: Any, number: int) -> None:
        if number == 0:
            connection.sendall(whole[: len(whole) * 3 // 4])
            raise Close
        connection.sendall(whole)

    with serving(respond) as server:
        assert SEARCH(connect(server.base_url)) == many


def test_no_retries_sends_one_request(connect: Any) -> None:
    with serving(always(http(b"", "503 Busy"))) as server:
        with pytest.raises(da.ThrottledError) as caught:
            SEARCH(connect(server.base_url, retry_for=0))
        assert len(server.requests) == caught.value.attempts == 1


def test_a_free_call_is_retried_only_when_it_may_be(connect: Any) -> None:
    with serving(in_turn(http(b"", "500 Broken"), http())) as server:
        with pytest.raises(da.ServerError):
            connect(server.base_url).post("/access/api/other", {})
        assert len(server.requests) == 1
    with serving(in_turn(http(b"", "500 Broken"), http())) as server:
        assert connect(server.base_url).post("/access/api/other", {}, idempotent=True)["code"] == 200
        assert len(server.requests) == 2


@pytest.mark.parametrize("path", ["access", "//evil.example.com/", "/a/../b", "/a?b", "/a%2e%2e/b"])
def test_a_path_stays_below_the_base_url(connect: Any, path: str) -> None:
    with serving(always(http())) as server:
        with pytest.raises(da.ConfigError, match="path"):
            connect(server.base_url).post(path, {})
        assert server.connections == 0


def test_the_deadline_holds_over_all_attempts_and_drips(connect: Any) -> None:
    def drip(connection: Any, _number: int) -> None:
        for byte in WHOLE:
            connection.sendall(bytes([byte]))
            time.sleep(0.05)

    with serving(drip) as server:
        started = time.monotonic()
        with pytest.raises(da.RequestTimeoutError) as caught:
            SEARCH(connect(server.base_url, timeout=0.4))
    assert time.monotonic() - started < 5
    assert caught.value.phase == "headers"
    assert isinstance(caught.value, TimeoutError)


def test_a_value_that_does_not_fit_is_shown_by_its_field_alone(connect: Any) -> None:
    body = BODY.replace(b'"b"', b'"customer \\udead 42"')
    with serving(always(http(body))) as server, pytest.raises(kinds.Record) as caught:
        SEARCH(connect(server.base_url))
    error = caught.value
    assert (error.row, error.column) == (1, "id")
    assert error.value == '"customer \\udead 42"'
    assert "customer" not in str(error) + repr(error) + repr(error.history)
