"""`client.check()`: address, token, scopes and time zone, without a change on the service."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.arguments import about
from support.raw_server import EXPORT, always, http, in_turn, serving

import dataaccess as da

NONE_SUCH = {"code": 404, "message": "no such export", "data": None}


@pytest.mark.parametrize(
    ("scopes", "expected"),
    [
        (["item", "download"], {"item": True, "download": None}),
        (["item"], {"item": True, "download": False}),
        (["download"], {"item": False, "download": None}),
    ],
)
def test_scopes_are_those_of_the_token(connect: Any, sandbox: da.Sandbox, scopes: Any, expected: Any) -> None:
    before = len(sandbox.requests)
    check = connect(sandbox, scopes=scopes).check()
    assert (check.scopes, check.is_reachable, check.is_ok, check.is_sandbox) == (expected, True, True, True)
    assert set(check.errors) == {name for name, has in expected.items() if has is False}
    sent = {request.path for request in sandbox.requests[before:] if request.path.startswith("/access/")}
    assert sent == {"/access/api/item/search", "/access/api/segment/download"}


def test_a_report_is_readable(sandbox: da.Sandbox) -> None:
    client = sandbox.client(scopes=["item"], timezone="Asia/Ho_Chi_Minh")
    lines = str(client.check("2024-01-15")).splitlines()
    assert lines[0].startswith(f"address:   {sandbox.base_url} (the sandbox: synthetic data): reached, in 0.")
    assert lines[1:3] == ["token:     from text: accepted", "scopes:    item: yes, download: no"]
    assert lines[3].startswith("time zone: Asia/Ho_Chi_Minh: ")
    assert lines[4].startswith("ranges:    exclusive: after_date and before_date ")
    assert lines[5].startswith("download: ")
    assert "check(day)" in str(client.check())


def test_a_refused_token_is_named_once_and_the_check_is_false(sandbox: da.Sandbox) -> None:
    check = da.Client(sandbox.base_url, token="unknown").check()
    assert (bool(check), check.is_ok, [*check.errors]) == (False, False, ["item", "download"])
    assert [line.partition(":")[0] for line in str(check).splitlines()][5:] == ["item, download"]
    assert da.Client(sandbox.base_url, token=sandbox.issue_token()).check()


@pytest.mark.parametrize(("zone", "is_right"), [("UTC", True), ("Asia/Ho_Chi_Minh", False)])
def test_a_day_shows_whether_the_zone_is_that_of_the_service(connect: Any, zone: str, is_right: bool) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"day_zone": "Asia/Ho_Chi_Minh"} if is_right else {}) as sandbox:
        client = connect(sandbox, timezone="Asia/Ho_Chi_Minh" if is_right else zone)
        check = client.check("2024-01-15")
        assert (check.is_day_right, check.is_ok) == ((True, True) if is_right else (False, False)), str(check)


def test_a_day_without_rows_shows_nothing(client: Any) -> None:
    check = client.check("1999-01-01")
    assert check.is_day_right is None
    assert check.day.startswith("1999-01-01 ")


def test_a_day_that_is_none_is_refused(client: Any) -> None:
    with pytest.raises(da.ValidationError, match="2024-02-30", check=about("day")):
        client.check("2024-02-30")


def test_a_service_that_does_not_respond_is_a_finding(connect: Any) -> None:
    check = connect("http://127.0.0.1:9").check()
    assert (check.is_reachable, check.is_ok, check.scopes) == (False, False, {"item": None, "download": None})
    assert isinstance(check.errors["item"], da.ConnectError)
    assert re.search(r"^address: .* not .*\ntoken: .* not ", str(check))


def test_an_export_that_does_not_exist_needs_the_scope_too(connect: Any) -> None:
    with serving(in_turn(http(), http(NONE_SUCH))) as server:
        assert connect(server.base_url).check().scopes == {"item": True, "download": None}


@pytest.mark.parametrize("wrong", [http(NONE_SUCH, "404 Not Found"), http(b"nope", "404 Not Found")])
def test_a_wrong_address_is_not_ok(connect: Any, wrong: bytes) -> None:
    with serving(always(wrong)) as server:
        check = connect(server.base_url).check("2024-01-15")
    assert (check.is_ok, check.scopes) == (False, {"item": None, "download": None})
    assert isinstance(check.errors["item"], da.RequestRejectedError)
    assert re.search(r"^token: .* not .*\n(?:.*\n)*time zone: UTC: not ", str(check), re.MULTILINE)


def test_each_request_is_sent_once(connect: Any) -> None:
    with serving(always(http(b"", "500 Broken"))) as server:
        check = connect(server.base_url).check()
        assert (check.is_reachable, check.is_ok, check.scopes) == (True, False, {"item": None, "download": None})
        assert len(server.requests) == 2
    with serving(in_turn(http(), http(EXPORT))) as server:
        assert connect(server.base_url).check().is_ok
