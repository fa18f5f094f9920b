"""Every method of a sandbox works alike on one of this process and, over HTTP, on one elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from support.arguments import about

import dataaccess as da

ADMIN = "an-admin-token-of-thirty-two-bytes"


@pytest.fixture(params=["here", "elsewhere"])
def controlled(request: pytest.FixtureRequest) -> Iterator[da.Sandbox]:
    with da.Sandbox.demo(now="2024-03-01T12:00:00", admin_token=ADMIN) as started:
        if request.param == "here":
            yield started
        else:
            with da.Sandbox.connect(started.base_url, ADMIN) as connected:
                yield connected


def test_objects_are_declared_loaded_searched_and_cleared(controlled: da.Sandbox) -> None:
    controlled.declare("shop/ñ %2F", 7, {"id": "string", "area": "float64", "opened": "timestamp"})
    rows: list[dict[str, Any]] = [
        {"id": "1", "area": 2.5, "opened": datetime(2024, 1, 15, 1, tzinfo=UTC)},
        {"id": "2", "area": 7},
        {"id": "\u2028\n", "area": None},
    ]
    assert controlled.load("shop/ñ %2F", rows) == 3
    found = controlled.client().search_items(
        "shop/ñ %2F", ["id", "area", "opened"], da.col("area").equals(2.5), item_type_id=7
    )
    assert found == [{"id": "1", "area": 2.5, "opened": "2024-01-15 01:00:00"}]
    with pytest.raises(da.SandboxError, match=r"\brow 0: .*`1`"):
        controlled.load("shop/ñ %2F", rows)
    assert controlled.load("shop/ñ %2F", rows, replace=True) == 3
    assert controlled.clear("shop/ñ %2F") == 3


def test_a_fault_begins_counts_and_ends(controlled: da.Sandbox) -> None:
    client = controlled.client()
    with controlled.fault("status", status=503, retry_after=0, times=1) as fault:
        client.search_codes(allocated_time=da.on("2024-01-15"))
        assert fault.hits == 1
        with pytest.raises(da.SandboxError):
            fault.__enter__()
    assert fault.hits == 1
    log = controlled.requests
    assert [request.status for request in log] == [503, 200]
    assert [request.fault is None for request in log] == [False, True]
    with fault:
        assert fault.hits == 0


def test_tokens_are_issued_and_revoked(controlled: da.Sandbox) -> None:
    assert controlled.scopes == ["item", "download"]
    token = controlled.issue_token(["item"], expires_in=60)
    with da.Client(controlled.base_url, token=token) as client:
        client.search_codes(limit=1, allocated_time=da.on("2024-01-15"))
        controlled.revoke(token)
        with pytest.raises(da.PermissionDeniedError):
            client.search_codes(limit=1, allocated_time=da.on("2024-01-15"))
    with pytest.raises(da.ConfigError, match=r"^scopes: .*`items`.* item, download$"):
        controlled.issue_token(["items"])


def test_a_reset_brings_back_the_start(controlled: da.Sandbox) -> None:
    client = controlled.client()
    rows = client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
    controlled.declare("shop", 7, {"id": "string"})
    controlled.clear("promotion_code")
    export = controlled.start_export()
    controlled.advance(3600)
    with controlled.fault("status", status=500) as fault:
        controlled.reset()
        assert fault.hits == 0
    assert controlled.requests == []
    assert client.search_codes(["id"], allocated_time=da.on("2024-01-15")) == rows
    with pytest.raises(da.SandboxError, match="`shop`"):
        controlled.load("shop", [])
    with pytest.raises(da.RequestRejectedError, check=lambda error: error.status == 404):
        client.download_segment(export)


def test_connect_refuses_a_data_token_and_what_is_no_address() -> None:
    with da.Sandbox() as started, pytest.raises(da.ConfigError, match=r"\bBearer\b"):
        da.Sandbox.connect(started.base_url, started.issue_token())
    for url in ["127.0.0.1:80", "ftp://x", "http://", "http://x:port", "http://user@x"]:
        with pytest.raises(da.ConfigError, check=about("url")):
            da.Sandbox.connect(url, ADMIN)


def test_the_admin_token_is_random() -> None:
    with da.Sandbox() as one, da.Sandbox() as other:
        assert one.admin_token.startswith("sbx_admin_")
        assert one.admin_token != other.admin_token
