"""The sandbox's server under bad clients, and who can reach it."""

from __future__ import annotations

import http.client
import socket
import time
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.plain_http import DOWNLOAD, PlainService

import dataaccess as da

TOKEN = "a-token-of-ones-own-of-32-characters"
TOKENS: dict[str, Any] = {"token": TOKEN, "admin_token": "an-admin-token-of-ones-own-likewise"}


def address(sandbox: da.Sandbox) -> tuple[str, int]:
    parts = urlsplit(sandbox.base_url)
    assert parts.hostname
    assert parts.port
    return parts.hostname, parts.port


@pytest.mark.slow
@pytest.mark.parametrize(("idle", "seconds"), [(0, 2), (256, 2.5)], ids=["some", "all the service has places for"])
def test_a_stop_is_quick_whatever_clients_are_doing(idle: int, seconds: float) -> None:
    sandbox = da.Sandbox()
    held = [socket.create_connection(address(sandbox), timeout=10) for _ in range(12)]
    request = b"POST /access/api/segment/download HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n"
    for connection in held[:4]:
        connection.sendall(request[:30])
    for connection in held[4:8]:
        connection.sendall(request + b"{")
    with sandbox.fault("stall") as fault:
        for connection in held[8:]:
            connection.sendall(request + b"{" + b" " * 19)
        while fault.hits < 4:
            time.sleep(0.01)
        held += [socket.create_connection(address(sandbox), timeout=10) for _ in range(idle)]
        started = time.monotonic()
        sandbox.stop()
        assert time.monotonic() - started < seconds
    sandbox.stop()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address(sandbox), timeout=1)
    for connection in held:
        connection.close()


def test_an_image_of_a_foreign_page_uses_up_no_fault_and_is_not_in_the_log(own: da.Sandbox) -> None:
    connection = http.client.HTTPConnection(*address(own))
    with own.fault("status", status=503, times=1) as fault:
        for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 503), ("none", 404)):
            connection.request("GET", "/nowhere", headers={"Sec-Fetch-Site": site})
            response = connection.getresponse()
            response.read()
            assert (site, response.status) == (site, status)
            assert fault.hits == (status != 403)
    assert len(own.requests) == 2
    connection.close()


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEARER"])
def test_the_scheme_of_a_token_is_taken_in_any_case(own: da.Sandbox, scheme: str) -> None:
    """RFC 9110, section 11.1: schemes are case-insensitive."""
    token = own.issue_token(["download"])
    body = {"scope": "download", "exportId": 1}
    with PlainService(own.base_url, token) as service:
        reply = service.post(DOWNLOAD, body, {"Authorization": f"{scheme} {token}"})
        other = service.post(DOWNLOAD, body, {"Authorization": f"{scheme} {token.upper()}"})
    assert (reply.status, other.status) == (404, 403), "a token itself has its case"
    assert own.requests[0].headers["authorization"] == f"{scheme} …{token[-4:]}"


@pytest.mark.parametrize(
    ("options", "data"),
    [
        ({"host": "192.0.2.1", "token": TOKEN}, r"^host: 192\.0\.2\.1 "),
        ({"host": "127.0.0.1", "allow_remote": True}, r"^allow_remote: .* token .* admin_token$"),
        ({"host": None}, "^host .* None"),
    ],
)
def test_a_sandbox_is_never_opened_by_mistake(options: dict[str, Any], data: str) -> None:
    with pytest.raises(da.ConfigError, match=data) as caught:
        da.Sandbox(**options)
    assert TOKEN not in str(caught.value)


def test_no_variable_of_the_environment_opens_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOST", "ALLOW_REMOTE", "TOKEN"):
        monkeypatch.setenv(f"DATAACCESS_{name}", "1")
        monkeypatch.setenv(f"DATAACCESS_SANDBOX_{name}", "1")
    with da.Sandbox() as sandbox:
        assert address(sandbox)[0] == "127.0.0.1"


def test_a_sandbox_for_others_serves_its_own_token_and_names(connect: Any) -> None:
    everywhere = "0.0.0.0"
    with da.Sandbox(host=everywhere, allow_remote=True, **TOKENS, host_names=["sandbox.example.com"]) as sandbox:
        assert connect(sandbox.base_url, token=TOKEN).search_codes(allocated_time=da.on("2024-01-15")) == []
        connection = http.client.HTTPConnection(*address(sandbox))
        for host, status in (("sandbox.example.com", 404), ("evil.example", 403)):
            connection.request("GET", "/", headers={"Host": host})
            response = connection.getresponse()
            response.read()
            assert response.status == status
        connection.close()
    assert TOKEN not in repr(sandbox) + repr(sandbox.__dict__) + repr(sandbox.requests)


def test_it_takes_an_address_to_be_reached_from_elsewhere() -> None:
    with da.Sandbox.demo(allow_remote=True, **TOKENS) as sandbox:
        assert address(sandbox)[0] == "127.0.0.1"


def test_a_clock_that_leaves_the_calendar_ends_no_response() -> None:
    with da.Sandbox(now="9999-12-31T23:59:59.999999") as sandbox:
        assert sandbox.client().search_codes(["id"], allocated_time=da.on("2024-01-15")) == []
