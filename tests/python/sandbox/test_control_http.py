"""The control routes over HTTP, as curl, a web page and hostile clients use them."""

from __future__ import annotations

import http.client
import json
import re
import socket
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.hostile import is_one_harmless_line
from support.pages import ROOT, table
from support.plain_http import PlainService
from support.scan_requests import wait_until

import dataaccess as da

PAGE = ROOT / "docs" / "sandbox.md"
# As the page lists them.
NAMED = re.findall(r"`([A-Z]+) (/\S+)`", " ".join(row[0] for row in table(PAGE, "## Control over HTTP")))
ROUTES = [(method, path.replace("NAME", "customer").replace("ID", "1")) for method, path in NAMED]


class Caller:
    """Calls of a sandbox with its admin token, each on a connection of its own."""

    def __init__(self, sandbox: da.Sandbox) -> None:
        self.sandbox = sandbox
        self.address = urlsplit(sandbox.base_url).netloc

    def __call__(
        self, method: str, path: str, body: Any = None, *, token: str | None = "", kind: str = "application/json"
    ) -> tuple[int, Any, http.client.HTTPMessage]:
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        lines = {} if content is None else {"Content-Type": kind}
        if token is not None:
            lines["Authorization"] = f"Bearer {token or self.sandbox.admin_token}"
        with closing(http.client.HTTPConnection(self.address, timeout=30)) as connection:
            connection.request(method, path if path == "/healthz" else f"/__sandbox{path}", content, lines)
            response = connection.getresponse()
            text = response.read().decode()
        assert response.headers["Content-Type"] == "application/json"
        assert not [name for name in response.headers if name.lower().startswith("access-control")]
        answer: Any = json.loads(text) if text else None
        if response.status >= 400 and text:
            assert answer.keys() == {"error"}
            assert answer["error"].keys() == {"kind", "message", "hint"}
            assert answer["error"]["kind"] in {"ConfigError", "SandboxError"}
            assert is_one_harmless_line(answer["error"]["message"])
        return response.status, answer, response.headers

    def raw(self, method: str, path: str, *lines: str, body: bytes = b"") -> bytes:
        """Sends a head with the admin token and these lines, and returns the first bytes of the response."""
        token = f"Authorization: Bearer {self.sandbox.admin_token}"
        head = [f"{method} /__sandbox{path} HTTP/1.1", f"Host: {self.address}", token, *lines, "", ""]
        host, port = self.address.split(":")
        with closing(socket.create_connection((host, int(port)), timeout=30)) as connection:
            connection.sendall("\r\n".join(head).encode() + body)
            return b"" if body else connection.recv(65536)


@pytest.fixture(scope="module")
def started() -> Iterator[da.Sandbox]:
    with da.Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def call(started: da.Sandbox) -> Iterator[Caller]:
    yield Caller(started)
    started.reset()


def refusal(answered: tuple[int, Any, http.client.HTTPMessage]) -> tuple[int, str]:
    status, answer, _ = answered
    return status, answer["error"]["message"]


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route_needs_the_admin_token(call: Caller, method: str, path: str) -> None:
    data_token = call.sandbox.issue_token()
    for token in (None, data_token, "sbx_admin_", call.sandbox.admin_token[:-1], call.sandbox.admin_token + "x"):
        status, answer, headers = call(method, path, token=token)
        assert (status, answer["error"]["kind"], headers["WWW-Authenticate"]) == (401, "ConfigError", "Bearer")
    assert call(method, path)[0] != 401


def test_the_page_lists_every_route_with_its_methods(call: Caller) -> None:
    assert len(ROUTES) == 23
    for path in {path for _, path in ROUTES}:
        methods = {*call("PUT", path)[2]["Allow"].split(",")} - {"HEAD"}
        assert methods == {method for method, each in ROUTES if each == path}


def test_two_authorization_headers_are_none(call: Caller) -> None:
    assert b" 200 " in call.raw("GET", "/state").split(b"\r\n")[0]
    assert b" 401 " in call.raw("GET", "/state", f"Authorization: Bearer {call.sandbox.admin_token}").split(b"\r\n")[0]


def test_the_admin_token_is_no_data_token(call: Caller) -> None:
    client = da.Client(call.sandbox.base_url, token=call.sandbox.admin_token)
    with client, pytest.raises(da.PermissionDeniedError):
        client.search_codes(allocated_time=da.on("2024-01-15"))
    assert call("POST", "/tokens/revoke", {"token": call.sandbox.admin_token})[1] == {"revoked": False}
    assert call("GET", "/state")[0] == 200


def test_the_health_check_needs_no_token(call: Caller) -> None:
    assert call("GET", "/healthz", token=None)[:2] == (200, {"status": "ok", "version": da.__version__})
    assert call("HEAD", "/healthz", token=None)[:2] == (200, None)
    status, _, headers = call("POST", "/healthz", token=None)
    assert (status, headers["Allow"]) == (405, "GET,HEAD")


def test_control_is_neither_logged_nor_broken_by_faults(call: Caller) -> None:
    call("POST", "/faults", {"kind": "reset"})
    assert call("GET", "/requests")[1] == {"requests": [], "next": 0}
    assert len(call("GET", "/faults")[1]) == 1
    assert call("DELETE", "/faults")[1][0]["hits"] == 0
    assert call("GET", "/faults")[1] == []


def test_switches_change_all_or_none(call: Caller) -> None:
    before = call("GET", "/switches")[1]
    assert before["empty_shape"] == "array"
    status, message = refusal(call("PATCH", "/switches", {"empty_shape": "null", "latency": -1}))
    assert (status, "latency: -1 " in message) == (400, True)
    assert call("GET", "/switches")[1] == before
    assert call("PATCH", "/switches", {"empty_shape": "null"})[1] == {**before, "empty_shape": "null"}
    assert call("GET", "/state")[1]["switches"]["empty_shape"] == "null"
    call("POST", "/reset")
    assert call("GET", "/switches")[1] == before


def test_rows_are_listed_by_window_and_text(call: Caller) -> None:
    call("POST", "/objects", {"name": "shop", "item_type_id": 7, "attributes": {"id": "string", "area": "number"}})
    lines = b'{"id": "a-1", "area": 10}\n\n{"id": "A-2"}\r\n{"id": "b", "area": 2.5}'
    assert call("POST", "/objects/shop/rows", lines, kind="application/x-ndjson")[:2] == (200, {"rows": 3})
    rows = [{"id": "A-2", "area": None}, {"id": "a-1", "area": 10}, {"id": "b", "area": 2.5}]
    assert call("GET", "/objects/shop/rows")[1] == {"rows": rows, "total": 3}
    assert call("GET", "/objects/shop/rows?limit=1&offset=1")[1] == {"rows": rows[1:2], "total": 3}
    assert call("GET", "/objects/shop/rows?contains=A-")[1] == {"rows": rows[:2], "total": 2}
    assert call("GET", "/objects/shop/rows?contains=2.5&offset=1")[1] == {"rows": [], "total": 1}
    assert call("GET", "/objects/shop/rows?limit=10001")[0] == 400
    shop = next(each for each in call("GET", "/objects")[1] if each["name"] == "shop")
    assert shop == {"name": "shop", "item_type_id": 7, "attributes": {"id": "string", "area": "number"}, "rows": 3}


def test_a_client_that_goes_away_during_a_load_loads_nothing(call: Caller) -> None:
    path, kind = "/objects/customer/rows", "Content-Type: application/x-ndjson"
    call.raw("POST", path, "Content-Length: 1000000", kind, body=b'{"customer_id": "1"}\n')
    assert call("GET", path)[1]["total"] == 0
    lines = b"\n".join(b'{"customer_id": "%d"}' % number for number in range(300_000))
    call.raw("POST", path, f"Content-Length: {len(lines)}", kind, body=lines)
    # The load may be complete before the end of the connection is seen, but never half.
    wait_until(lambda: call("POST", "/objects/customer/rows", b'{"customer_id": "x"}')[0] == 200)
    assert call("GET", "/objects/customer/rows?limit=0")[1]["total"] in (1, 300_001)


def test_requests_are_listed_from_a_number_on(call: Caller) -> None:
    client = call.sandbox.client()
    for _ in range(3):
        client.search_codes(allocated_time=da.on("2024-01-15"))
    with PlainService(call.sandbox.base_url, "no-token") as service:
        service.search(b"\xff\x00")
    first = call("GET", "/requests")[1]
    numbers = [request["number"] for request in first["requests"]]
    assert numbers == list(range(numbers[0], numbers[0] + 4))
    assert first["next"] == numbers[-1]
    assert first["requests"][-1]["body"] == {"base64": "/wA="}
    assert call("GET", f"/requests?after={numbers[1]}")[1]["requests"] == first["requests"][2:]
    assert call("GET", f"/requests?after={numbers[-1]}")[1] == {"requests": [], "next": numbers[-1]}
    assert call("GET", f"/requests?after={2**64 - 1}")[1]["requests"] == []


def test_exports_are_planned_entry_by_entry(call: Caller) -> None:
    entries = [
        {"seconds": 60, "rows": 10},
        {"delay": 30, "seconds": 60, "succeeds": False, "code": 403, "message": "No permission for the bucket"},
        {"delay": 3600},
    ]
    assert call("POST", "/exports", {"export_id": 17, "entries": entries})[:2] == (201, {"export_id": 17})
    assert [each["status"] for each in call("GET", "/exports")[1][0]["entries"]] == ["running", "waiting", "waiting"]
    call("POST", "/clock", {"advance": 90})
    listed = call("GET", "/exports")[1]
    entries = [(each["status"], each["rows"]) for each in listed[0]["entries"]]
    assert entries == [("succeeded", 10), ("failed", 1000), ("waiting", 1000)]
    ended = call.sandbox.client().download_segment(17)["entries"][1]
    assert (ended["responseCode"], ended["responseMessage"]) == (403, "No permission for the bucket")
    assert call("DELETE", "/exports/17")[1] == listed[0]
    assert call("DELETE", "/exports/17")[0] == 404
    assert refusal(call("POST", "/exports", {"entries": [{}], "rows": 1}))[0] == 400
