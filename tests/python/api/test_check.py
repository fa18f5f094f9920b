"""`client.check()`: address, token, scopes and time zone, without a change on the service."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from support.raw_server import ENTRY, EXPORT, always, http, in_turn, serving

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
    assert set(check.errors) == {f"scope {name}" for name, has in expected.items() if has is False}
    sent = {request.path for request in sandbox.requests[before:] if request.path.startswith("/access/")}
    assert sent == {"/access/api/item/search", "/access/api/segment/download"}


QUESTIONS = ["address", "tls", "proxy", "token", "scope item", "scope download", "timezone", "source_timezone"]
QUESTIONS += ["day_comparison", "known_row_cap", "attrs_format", "code_value_type", "export codes"]


def test_a_report_has_a_line_for_each_question(sandbox: da.Sandbox) -> None:
    check = sandbox.client(scopes=["item"], timezone="Asia/Ho_Chi_Minh").check("2024-01-15")
    assert [*check.answers] == QUESTIONS
    lines = str(check).splitlines()
    assert [line[2:17].rstrip() for line in lines] == QUESTIONS
    assert [line[0] for line in lines] == [*"✓✓✓✓✓✗✗✓✓?✓✓?"]
    assert sandbox.base_url in lines[0]
    assert "sandbox" in lines[0]
    without = sandbox.client().check()
    assert "name a day" in str(without)
    assert "name an export" in str(without)


def test_a_report_is_json_toml_and_python(sandbox: da.Sandbox) -> None:
    check = sandbox.client().check("2024-01-15", 5637054)
    settings = {
        "timezone": "UTC",
        "source_timezone": "UTC",
        "day_comparison": "exclusive",
        "attrs_format": "array",
    }
    assert check.settings == settings == tomllib.loads(check.to_toml())
    assert json.loads(json.dumps(check.to_dict()))["settings"] == settings
    made = eval(check.to_code().replace("da.Client(", "dict(url="))
    assert made == {"url": sandbox.base_url, **settings}


def test_a_refused_token_is_not_ok(sandbox: da.Sandbox) -> None:
    check = da.Client(sandbox.base_url, token="unknown").check("2024-01-15")
    assert (bool(check), check.is_ok, [*check.errors]) == (False, False, ["scope item", "scope download"])
    assert check.answers["token"].is_right is False
    assert check.requests == 3
    assert da.Client(sandbox.base_url, token=sandbox.issue_token()).check()


@pytest.mark.parametrize("is_success", [True, False])
def test_codes_of_exports_are_found(connect: Any, is_success: bool) -> None:
    entry = {**ENTRY, "endTime": "2024-01-15T09:00:00.000Z"}
    entries = [{**entry, "responseCode": 200 if is_success else 0}, {**entry, "responseCode": 500}]
    export = {**EXPORT, "data": {"entries": entries, "meta": {"total": 2}}}
    with serving(in_turn(http(), http(export), http())) as server:
        answer = connect(server.base_url).check(export_id=7).answers["export codes"]
        assert server.requests[1].json["exportId"] == 7
    assert answer.value == ["200" if is_success else "0", "500"]
    assert (answer.state, answer.is_right) == (("found", True) if is_success else ("reading", None))


def test_an_export_that_has_not_ended_shows_no_code(connect: Any) -> None:
    with serving(in_turn(http(), http(EXPORT), http())) as server:
        check = connect(server.base_url).check(export_id=7)
    assert check.scopes["download"]
    assert check.answers["export codes"].state == "not found"


def test_a_response_that_was_cut_off_is_found(connect: Any) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"maximum_rows": 60}) as sandbox:
        answer = connect(sandbox).check("2024-01-15").answers["known_row_cap"]
        assert (answer.value, answer.is_right) == (60, False)
        assert connect(sandbox, known_row_cap=60).check("2024-01-15").answers["known_row_cap"].is_right


@pytest.mark.parametrize("setting", ["array", "string"])
@pytest.mark.parametrize("form", ["array", "string", "both"])
def test_the_form_of_attributes_is_found(connect: Any, form: str, setting: str) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"attrs_format": form}) as sandbox:
        answer = connect(sandbox, attrs_format=setting).check().answers["attrs_format"]
    assert (answer.value, answer.is_right) == ((setting, True) if form in (setting, "both") else (form, False))


def test_a_token_that_may_not_search_customers_says_so(connect: Any) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"generic_scope": "crm.read"}) as sandbox:
        check = connect(sandbox, scopes=["item", "download"]).check()
    assert check.answers["attrs_format"].state == "not found"
    assert "customers" in check.answers["attrs_format"].detail
    assert check.is_ok


def test_a_day_without_rows_shows_nothing(client: Any) -> None:
    check = client.check("1999-01-01")
    assert check.answers["timezone"].is_right is None
    assert check.answers["timezone"].detail.startswith("1999-01-01 ")


def test_a_service_that_does_not_respond_is_a_finding(connect: Any) -> None:
    check = connect("http://127.0.0.1:9").check()
    assert (check.is_reachable, check.is_ok, check.scopes) == (False, False, {"item": None, "download": None})
    assert isinstance(check.errors["scope item"], da.ConnectError)
    assert [check.answers[name].is_right for name in ("address", "token")] == [False, None]


def test_an_export_that_does_not_exist_needs_the_scope_too(connect: Any) -> None:
    with serving(in_turn(http(), http(NONE_SUCH))) as server:
        assert connect(server.base_url).check().scopes == {"item": True, "download": None}


@pytest.mark.parametrize("wrong", [http(NONE_SUCH, "404 Not Found"), http(b"nope", "404 Not Found")])
def test_a_wrong_address_is_not_ok(connect: Any, wrong: bytes) -> None:
    with serving(always(wrong)) as server:
        check = connect(server.base_url).check("2024-01-15")
    assert (check.is_ok, check.scopes) == (False, {"item": None, "download": None})
    assert isinstance(check.errors["scope item"], da.RequestRejectedError)
    assert [check.answers[name].state for name in ("token", "timezone")] == ["not found"] * 2


def test_each_request_is_sent_once(connect: Any) -> None:
    with serving(always(http(b"", "500 Broken"))) as server:
        check = connect(server.base_url).check()
        assert (check.is_reachable, check.is_ok, check.scopes) == (True, False, {"item": None, "download": None})
        assert len(server.requests) == check.requests == 3
    with serving(in_turn(http(), http(EXPORT))) as server:
        assert connect(server.base_url).check().is_ok
