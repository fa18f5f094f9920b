"""The headers of a response that support asks for: on its error and in `last_stats`, short and without secrets."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from support.raw_server import RESPONSE, Close, Responder, always, closing, http, in_turn, serving, silent
from support.searches import search, stream

import dataaccess as da

SUPPORT = {
    "date": "Mon, 15 Jan 2024 08:00:00 GMT",
    "server": "gateway/1.2",
    "x-request-id": "req-17",
    "x-correlation-id": "corr: 18",
    "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "cf-ray": "84a1-FRA",
    "via": "1.1 edge, 1.1 proxy",
    "x-cache": "Miss from edge",
    "age": "0",
    "x-amzn-requestid": "r-19",
}
OTHERS = ("Set-Cookie: session=secret-1", "WWW-Authenticate: Bearer secret-2", "X-Internal: secret-3")
TITLES = tuple(f"{name.title()}: {value}" for name, value in SUPPORT.items())
# The service repeats the token.
ECHO = (*TITLES, "X-Amz-Cf-Id: token-of-the-test")
FRAME = {"content-type": "application/json", "content-length": "2"}
TOKEN = "token-of-the-test"
KEY = "key-of-the-test-0123"


LONG = {**RESPONSE, "data": {"status": True, "data": [{"id": str(number)} for number in range(200_000)]}}


def failing(connect: Any, respond: Responder, call: Any = search, **options: Any) -> da.DataAccessError:
    with serving(respond) as server, pytest.raises(da.DataAccessError) as caught:
        call(connect(server.base_url, token=TOKEN, retry_for=0, timeout=1, **options))
    return caught.value


def test_an_error_of_a_response_has_its_headers_and_no_others(connect: Any) -> None:
    error = failing(connect, closing(http(b"{}", "400 Bad Request", headers=TITLES + OTHERS)))
    assert error.response_headers == SUPPORT | FRAME
    assert "secret-1" not in repr(vars(error))


@pytest.mark.parametrize(
    ("respond", "call", "kind"),
    [
        (closing(http(b"<html>", content_type="text/html", headers=ECHO)), search, da.ResponseError),
        (closing(http({"code": 500, "message": "no"}, headers=ECHO)), search, da.ApiError),
        (closing(http({"code": "?"}, headers=ECHO)), search, da.ResponseError),
        (closing(http(headers=ECHO)[:-5]), search, da.ConnectionLostError),
        (silent(http(headers=ECHO)[:-5]), search, da.RequestTimeoutError),
        (closing(http(LONG, headers=ECHO)[:-5]), stream, da.StreamInterruptedError),
    ],
    ids=["html", "refused", "code", "cut", "without end", "stream"],
)
def test_a_response_that_is_no_result_has_its_headers(connect: Any, respond: Responder, call: Any, kind: Any) -> None:
    error = failing(connect, respond, call)
    assert isinstance(error, kind)
    assert error.response_headers.items() >= (SUPPORT | {"x-amz-cf-id": "<redacted>"}).items()


@pytest.mark.usefixtures("short_pauses")
def test_they_are_those_of_the_last_attempt(connect: Any) -> None:
    def respond(connection: Any, number: int) -> None:
        if number < 1:
            connection.sendall(http(b"", "503 Busy", headers=(f"X-Request-Id: {number}", "Retry-After: 0")))
        raise Close

    def fail(retry_for: float) -> dict[str, str]:
        with serving(respond) as server, pytest.raises(da.DataAccessError) as caught:
            search(connect(server.base_url, retry_for=retry_for, timeout=2))
        return caught.value.response_headers

    assert fail(0)["x-request-id"] == "0"
    # The last attempt had no response.
    assert fail(1) == {}


def test_no_secret_is_in_a_value(connect: Any) -> None:
    headers = (f"X-Request-Id: a-{TOKEN}", f"Via: {KEY}, 1.1 b", f"X-Correlation-Id: {'-' * 250}{TOKEN}")
    options = {"headers": {"X-Api-Key": KEY}}
    error = failing(connect, closing(http(b"{}", "500 Broken", headers=headers)), **options)
    assert error.response_headers["x-request-id"] == "a-<redacted>"
    assert error.response_headers["via"] == "<redacted>, 1.1 b"
    with serving(always(http(headers=headers))) as server:
        scan = connect(server.base_url, token=TOKEN, **options).scan_codes(["id"], allocated_time=da.on("2024-01-15"))
        scan.to_dicts()
    stats = scan.last_stats
    assert stats.response_headers["x-request-id"] == "a-<redacted>"
    for shown in (repr(vars(error)), repr(stats), stats._repr_html_(), repr(pickle.dumps(stats))):
        assert not [secret for secret in (TOKEN[:6], KEY) if secret in shown]


@pytest.mark.parametrize("use", ["to_dicts", "collect", "batches"])
def test_the_stats_of_a_scan_have_those_of_the_last_response(connect: Any, use: str) -> None:
    responses = [http(headers=(*TITLES, f"X-Amz-Cf-Id: {number}", *OTHERS)) for number in range(3)]
    with serving(in_turn(*responses)) as server:
        client = connect(server.base_url, concurrency=1)
        scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-04"))
        result = getattr(scan, use)()
        if use == "batches":
            assert list(result)
    size = len(http().partition(b"\r\n\r\n")[2])
    expected = SUPPORT | FRAME | {"content-length": str(size), "x-amz-cf-id": "2"}
    assert scan.last_stats.response_headers == expected
    if use != "to_dicts":
        assert result.stats.response_headers == expected


def test_a_function_that_judges_sees_them(connect: Any, tmp_path: Any) -> None:
    seen: list[Any] = []

    def judge(stats: da.ScanStats) -> bool:
        seen.append(stats.response_headers)
        return True

    with serving(always(http(headers=TITLES))) as server:
        scan = connect(server.base_url).scan_codes(["id"], allocated_time=da.on("2024-01-15"))
        scan.to_jsonl(tmp_path / "codes.jsonl", on_doubt=judge)
        folder = connect(server.base_url).scan_codes(["id"], allocated_time=da.on("2024-01-15"))
        folder.to_folder(tmp_path / "codes")
        folder.read_folder(tmp_path / "codes")
    assert [each["x-request-id"] for each in seen] == ["req-17"]
    # The rows came from a file.
    assert folder.last_stats.response_headers == {}
