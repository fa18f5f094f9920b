"""The sandbox's server under bad clients, and who can reach it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.arguments import about
from support.plain_http import DOWNLOAD, SEARCH, PlainService

import dataaccess as da

TOKEN = "a-token-of-ones-own-of-32-characters"
TOKENS: dict[str, Any] = {"token": TOKEN, "admin_token": "an-admin-token-of-ones-own-likewise"}


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


def test_no_variable_of_the_environment_opens_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOST", "ALLOW_REMOTE", "TOKEN"):
        monkeypatch.setenv(f"DATAACCESS_{name}", "1")
        monkeypatch.setenv(f"DATAACCESS_SANDBOX_{name}", "1")
    with da.Sandbox() as sandbox:
        assert urlsplit(sandbox.base_url).hostname == "127.0.0.1"


def test_a_sandbox_for_others_serves_its_own_token_and_names(connect: Any) -> None:
    everywhere = "0.0.0.0"
    with da.Sandbox(host=everywhere, allow_remote=True, **TOKENS, host_names=["sandbox.example.com"]) as sandbox:
        assert connect(sandbox.base_url, token=TOKEN).search_codes(allocated_time=da.on("2024-01-15")) == []
        with PlainService(sandbox.base_url, TOKEN) as service:
            for host, status in (("sandbox.example.com", 404), ("evil.example", 403)):
                assert service.post("/", b"", {"Host": host}).status == status
    assert TOKEN not in repr(sandbox) + repr(sandbox.__dict__) + repr(sandbox.requests)


SCOPES = {"generic_scope": "crm.read", "download_scope": "seg"}


def everything_works(client: da.Client) -> None:
    assert client.search_codes(["id"], allocated_time=da.on("2024-01-15"), limit=1)
    assert client.search_items("customer", ["customer_id"], da.col("customer_id").equals("demo-customer-0001"))
    assert client.download_segment(5637051)["code"] == 200


def test_the_services_own_tokens_have_the_scopes_that_switches_name() -> None:
    token = "a-token-of-my-own"
    with da.Sandbox.demo(until="2024-02-29", switches=SCOPES, token=token) as sandbox:
        assert sandbox.scopes == ["item", "download", "crm.read", "seg"]
        everything_works(sandbox.client())
        everything_works(da.Client(sandbox.base_url, token=token))
        everything_works(da.Client(sandbox.base_url, token=sandbox.issue_token()))
        with pytest.raises(da.PermissionDeniedError):
            sandbox.client(scopes=["item", "download"]).download_segment(5637051)
        earlier = da.Client(sandbox.base_url, token=sandbox.issue_token())
        sandbox.switch(generic_scope="crm.later")
        everything_works(da.Client(sandbox.base_url, token=token))
        with pytest.raises(da.PermissionDeniedError):
            everything_works(earlier)


def test_path_and_token_are_judged_before_the_query_string_and_the_body(own: da.Sandbox) -> None:
    own.switch(query_string="refused")
    large, encoded = {"Content-Length": str(2**30)}, {"Content-Encoding": "gzip"}
    stranger = {"Authorization": "Bearer unknown"}
    with PlainService(own.base_url, own.issue_token()) as plain:
        for headers, status in ((large, 413), (encoded, 415)):
            assert plain.post(DOWNLOAD, b"{}", headers).status == status
            for token in (stranger, {"Authorization": f"Bearer {own.issue_token(['item'])}"}):
                assert plain.post(DOWNLOAD, b"{}", headers | token).refusal == "Permission denied"
            assert plain.post(f"{DOWNLOAD}/", b"{}", headers).status == 404
        assert plain.post(f"{DOWNLOAD}?a=1", b"{}").status == 400
        assert plain.post(f"{DOWNLOAD}?a=1", b"{}", stranger).refusal == "Permission denied"


def test_a_token_expires_by_the_clock_of_the_sandbox(connect: Any, own: da.Sandbox) -> None:
    client = connect(own.base_url, token=own.issue_token(expires_in=3600))
    own.advance(3590)
    assert client.search_codes(allocated_time=da.on("2024-01-15"))
    own.advance(timedelta(seconds=10))
    with pytest.raises(da.PermissionDeniedError):
        client.search_codes(allocated_time=da.on("2024-01-15"))


@pytest.mark.parametrize("name", ["token", "admin_token"])
@pytest.mark.parametrize("given", [5, "0123456789abcdef0123456789abcdef\ud800"])
def test_no_error_shows_a_token_that_is_none(name: str, given: Any) -> None:
    with pytest.raises(da.ConfigError, check=about(name)) as caught:
        da.Sandbox(**{name: given})
    assert "0123456789" not in str(caught.value)
    with da.Sandbox() as sandbox, pytest.raises(da.ConfigError, check=about("token")):
        sandbox.revoke(given)


ALL: dict[str, Any] = {"OR": [{"AND": []}]}
EVERYBODY = {"itemTypeId": -1003, "itemTypeName": "customer", "attrs": ["customer_id"], "filters": ALL}


@pytest.fixture
def plain(own: da.Sandbox) -> Iterator[PlainService]:
    with PlainService(own.base_url, own.issue_token()) as service:
        yield service


def test_a_search_is_the_specifications_to_the_letter(plain: PlainService) -> None:
    success = b'{"code":200,"message":"Search Business Object success","data":{"status":true,"data":['
    reply = plain.search(da.validate_codes(["id", "allocated_time"], allocated_time=da.on("2024-01-01")))
    first = b'{"id":"demo-code-00001","allocated_time":"2024-01-01 00:00:00"},{"id":'
    assert reply.body.startswith(success + first)
    assert reply.body.endswith(b'"}]}}')
    assert reply.headers["server"] == "dataaccess-sandbox"
    assert plain.search(da.validate_codes(["id"], allocated_time=da.before("2000-01-01"))).body == success + b"]}}"


# Status, rows, start, end, durations, code and message.
@pytest.mark.parametrize(
    ("advance", "values"), [(0, '1,null,"T",null,null,null,null'), (3600, '2,42,"T","T",3600000,200,"OK"')]
)
def test_a_download_is_the_specifications_to_the_letter(
    own: da.Sandbox, plain: PlainService, advance: int, values: str
) -> None:
    export = own.start_export(rows=42, seconds=3600)
    own.advance(advance)
    reply = plain.post(DOWNLOAD, {"scope": "download", "exportId": export})
    body = re.sub(r'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"', '"T"', reply.body.decode())
    names = ["exportStatus", "exportedRows", "startTime", "endTime", "durations", "responseCode", "responseMessage"]
    entry = ",".join(f'"{name}":{value}' for name, value in zip(names, values.split(","), strict=True))
    expected = f'{{"code":200,"message":"Success","data":{{"entries":[{{{entry}}}],"meta":{{"total":1}}}},'
    assert re.fullmatch(re.escape(expected) + r'"codeMessage":null,"duration":"\d+ms"\}', body)


def test_only_a_promotion_code_search_needs_its_content_type(plain: PlainService) -> None:
    search = da.validate_codes(["id"], allocated_time=da.on("2024-01-01"))
    for kind, status in (("text/plain", 415), ("", 415), ("application/json; charset=utf-8", 200)):
        assert plain.post(SEARCH, search, {"Content-Type": kind}).status == status
    assert plain.post(SEARCH, EVERYBODY, {"Content-Type": "text/plain"}).status == 200
