"""The access log: a line for each request whose response was read or that failed, and nothing if nobody listens."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import pytest
from support.raw_server import EXPORT, Close, always, http, in_turn, serving
from support.searches import search

import dataaccess as da
from dataaccess._core import log

pytestmark = pytest.mark.usefixtures("short_pauses")

BUSY = http(b"", "503 Busy", headers=("Retry-After: 0",))
SEARCH = "/access/api/item/search"


class Kept(logging.Handler):
    """Keeps the attributes of records, and their text as `message`."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append({**vars(record), "message": record.getMessage()})


@pytest.fixture
def access() -> Iterator[list[dict[str, Any]]]:
    """The access log, as a program has it that chose INFO for everything."""
    handler, root = Kept(), logging.getLogger("dataaccess")
    logging.getLogger("dataaccess.access").addHandler(handler)
    root.setLevel(logging.INFO)
    yield handler.lines
    root.setLevel(logging.NOTSET)
    logging.getLogger("dataaccess.access").removeHandler(handler)


def of(line: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(line[name] for name in ("method", "path", "status", "outcome", "rows", "attempt"))


def test_a_retried_response_has_a_line_for_each_attempt(connect: Any, access: list[dict[str, Any]]) -> None:
    with serving(in_turn(BUSY, http())) as server:
        search(connect(server.base_url + "/base"))
        assert [request.path for request in server.requests] == [f"/base{SEARCH}"] * 2
        ids = [request.headers["x-request-id"] for request in server.requests]
    assert [of(line) for line in access] == [
        ("POST", SEARCH, 503, "ThrottledError", None, 1),
        ("POST", SEARCH, 200, "ok", 2, 2),
    ]
    assert [line["request_id"] for line in access] == ids
    first, last = access
    size = len(http().partition(b"\r\n\r\n")[2])
    assert first["message"] == (
        f"search_codes 2024-01-15: POST {SEARCH} 503 ThrottledError in {first['seconds']:.3f} s, 0 bytes, "
        f"request {ids[0]}, attempt 1"
    )
    assert last["message"] == (
        f"search_codes 2024-01-15: POST {SEARCH} 200 in {last['seconds']:.3f} s, {size} bytes, 2 rows, "
        f"request {ids[1]}, attempt 2"
    )


def cut(connection: Any, _number: int) -> None:
    connection.sendall(http()[:-5])
    raise Close


def test_a_body_that_is_cut_off_has_one_line_with_its_failure(connect: Any, access: list[dict[str, Any]]) -> None:
    with serving(cut) as server, pytest.raises(da.ConnectionLostError):
        search(connect(server.base_url, retry_for=0))
    assert [of(line) for line in access] == [("POST", SEARCH, 200, "ConnectionLostError", None, 1)]
    assert access[0]["bytes"] == len(http().partition(b"\r\n\r\n")[2]) - 5


def test_a_request_without_a_response_has_the_failure_in_place_of_the_status(
    connect: Any, access: list[dict[str, Any]]
) -> None:
    with serving(always(b"")) as server:
        address = server.base_url
    with pytest.raises(da.ConnectError):
        search(connect(address, retry_for=0))
    assert [of(line) for line in access] == [("POST", SEARCH, None, "ConnectError", None, 1)]
    assert f"POST {SEARCH} ConnectError in " in access[0]["message"]


def test_the_rows_of_an_export_are_not_known(connect: Any, access: list[dict[str, Any]]) -> None:
    with serving(always(http(EXPORT))) as server:
        connect(server.base_url).download_segment(1)
    assert [of(line)[2:] for line in access] == [(200, "ok", None, 1)]
    assert "rows" not in access[0]["message"]


def test_no_line_has_a_secret(connect: Any, access: list[dict[str, Any]]) -> None:
    secrets = ("token-of-the-test", "key-of-the-test", "audience-of-the-test")
    with serving(always(http())) as server:
        client = connect(server.base_url, token=secrets[0], headers={"X-Api-Key": secrets[1]})
        client.search_codes(
            ["id"], allocated_time=da.on("2024-01-15"), allocated_audience=secrets[2], audience_type="customer"
        )
        for secret in secrets[:2]:
            client.post(f"/of/{secret}/x", {"where": secrets[2]})
    assert [line["path"] for line in access] == [SEARCH, "/of/<redacted>/x", "/of/<redacted>/x"]
    assert not [secret for secret in secrets if secret in repr(access)]


@pytest.mark.parametrize("use", ["to_dicts", "to_arrow", "batches"])
def test_a_scan_of_many_requests_has_a_line_for_each(
    sandbox: da.Sandbox, access: list[dict[str, Any]], use: str
) -> None:
    with sandbox.client() as client:
        scan = client.scan_codes(["id"], allocated_time=da.days("2022-09-01", "2024-03-01"))
        list(getattr(scan, use)())
        assert scan.last_stats
        assert scan.last_stats.requests == 547
    assert {line["day"] for line in access} == {str(date(2022, 9, 1) + timedelta(days)) for days in range(547)}
    assert len(access) == 547


def test_nothing_is_made_if_nobody_listens(sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    emitted: list[Any] = []
    monkeypatch.setattr(log, "emit", emitted.append)
    root, client = logging.getLogger("dataaccess"), sandbox.client()
    for level in (logging.WARNING, logging.INFO):
        root.setLevel(level)
        try:
            search(client)
        finally:
            root.setLevel(logging.NOTSET)
        assert [fields["event"] for fields in emitted] == ["ended"] * (level == logging.INFO)
