"""Tokens of a sandbox: their scopes, their end, and that no log and no text has one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from support.arguments import about

import dataaccess as da

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


def test_a_token_expires_by_the_clock_of_the_sandbox(connect: Any, own: da.Sandbox) -> None:
    client = connect(own.base_url, token=own.issue_token(expires_in=3600))
    own.advance(3590)
    assert client.search_codes(allocated_time=da.on("2024-01-15"))
    own.advance(timedelta(seconds=10))
    with pytest.raises(da.PermissionDeniedError):
        client.search_codes(allocated_time=da.on("2024-01-15"))


@pytest.mark.parametrize("expires_in", [-1, float("nan"), float("inf"), "60", timedelta(seconds=-1)])
def test_a_token_ends_when_a_number_of_seconds_has_passed(sandbox: da.Sandbox, expires_in: Any) -> None:
    with pytest.raises(da.ConfigError, check=about("expires_in")):
        sandbox.issue_token(expires_in=expires_in)


@pytest.mark.parametrize("name", ["token", "admin_token"])
@pytest.mark.parametrize("given", [5, "0123456789abcdef0123456789abcdef\ud800"])
def test_no_error_shows_a_token_that_is_none(name: str, given: Any) -> None:
    with pytest.raises(da.ConfigError, check=about(name)) as caught:
        da.Sandbox(**{name: given})
    assert "0123456789" not in str(caught.value)
    with da.Sandbox() as sandbox, pytest.raises(da.ConfigError, check=about("token")):
        sandbox.revoke(given)
