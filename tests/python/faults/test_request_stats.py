"""Request ids, the history of failures, and the stats of a client."""

from __future__ import annotations

import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from support import kinds
from support.failures import throttled
from support.operations import DOWNLOAD, SEARCH, WHOLE
from support.raw_server import Close, Request, always, http, in_turn, serving
from support.searches import search

import dataaccess as da

BROKEN = http(b"", "500 Broken")


def test_each_request_has_an_id_of_its_own_and_a_call_has_its_beginning(connect: Any) -> None:
    def ids(requests: list[Request]) -> list[str]:
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


REASON = "attrs[1] is unknown"
DENIED = {"code": 301, "message": "Permission denied"}
CUSTOMER = "row-of-a-customer"


def refused(body: object, status: str, call: Any = SEARCH) -> da.ApiError:
    """The error of a call whose response this is, as it comes out of a pickle."""
    with serving(always(http(body, status))) as server:
        client = da.Client(server.base_url, token="tok-0123456789", retry_for=0)
        with pytest.raises(da.ApiError) as caught:
            call(client)
    again: da.ApiError = pickle.loads(pickle.dumps(caught.value))
    assert (again.data, again.code_message) == (caught.value.data, caught.value.code_message)
    assert str(again) == str(caught.value)
    return again


@pytest.mark.parametrize("status", ["200 OK", "400 Bad Request", "403 Forbidden", "429 Busy", "500 Broken"])
@pytest.mark.parametrize(
    ("data", "code_message", "kept"),
    [
        (REASON, "SCOPE", (REASON, "SCOPE")),
        # What is no string may have records.
        ({"status": False, "data": [{"id": CUSTOMER}]}, {"a": CUSTOMER}, (None, None)),
        ([CUSTOMER], 7, (None, None)),
        (None, None, (None, None)),
        ("é\n" * 300, "c" * 300, ("é\\n" * 66 + "é\\…", "c" * 200 + "…")),
        ("of tok-0123456789", "tok-0123456789", ("of <redacted>", "<redacted>")),
    ],
    ids=["strings", "objects", "lists", "null", "long", "token"],
)
def test_strings_are_kept_short_and_redacted(status: str, data: Any, code_message: Any, kept: Any) -> None:
    error = refused({**DENIED, "data": data, "codeMessage": code_message}, status)
    assert (error.data, error.code_message) == kept
    assert error.code == 301
    assert kept[0] is None or kept[0][:20] in str(error)
    assert CUSTOMER not in str(error)
    assert "tok-" not in str(error)


@pytest.mark.parametrize("status", ["200 OK", "400 Bad Request"])
@pytest.mark.parametrize("message", [{"message": REASON}, {}])
def test_a_reason_is_shown_once_with_and_without_a_message(status: str, message: dict[str, str]) -> None:
    error = refused({"code": 400, "data": REASON, **message}, status)
    assert error.data == REASON
    assert str(error).count(REASON) == 1


def test_a_refusal_without_an_envelope_has_no_reason() -> None:
    error = refused(b"<html>busy", "502 Bad Gateway")
    assert (error.data, error.code_message) == (None, None)


def test_each_operation_keeps_the_reason() -> None:
    for call in (DOWNLOAD, lambda client: client.post("/access/api/other", {})):
        assert refused({**DENIED, "data": REASON}, "403 Forbidden", call).data == REASON
