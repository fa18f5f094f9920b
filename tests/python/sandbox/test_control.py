"""Every method of a sandbox works alike on one of this process and, over HTTP, on one elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.arguments import about
from support.plain_http import PlainService

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


def test_requests_show_what_was_sent_and_what_came_back(connect: Any, own: da.Sandbox) -> None:
    client = connect(own)
    before = datetime.now(UTC)
    client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
    client.download_segment(5637051)
    search, download = own.requests
    assert search.body == client.validate_codes(["id"], allocated_time=da.on("2024-01-15"))
    assert download.body == {"scope": "download", "exportId": 5637051}
    assert json.loads(download.content or b"") == download.body
    assert (search.method, search.path, search.status) == ("POST", "/access/api/item/search", 200)
    assert search.headers["content-type"] == "application/json"
    assert before - timedelta(seconds=1) <= search.time <= download.time <= datetime.now(UTC) + timedelta(seconds=1)


def test_a_token_is_never_reported(own: da.Sandbox) -> None:
    token = own.issue_token()
    client = da.Client(own.base_url, token=token, headers={"X-Api-Key": "k-of-the-gateway", "X-Team": "crm"})
    client.download_segment(5637051)
    (request,) = own.requests
    assert request.headers["authorization"] == f"Bearer …{token[-4:]}"
    assert (request.headers["x-api-key"], request.headers["x-team"]) == ("…", "crm")
    assert token not in repr(request)


def test_refused_requests_are_logged_but_not_those_for_another_host(connect: Any, own: da.Sandbox) -> None:
    with pytest.raises(da.PermissionDeniedError):
        connect(own, scopes=["item"]).download_segment(5637051)
    with PlainService(own.base_url, "no-token") as service:
        assert service.post("/rebound", b"\xff", {"Host": "evil.example"}).status == 403
        assert service.post("/bytes", b"\xff").status == 404
    logged = [(request.path, request.body, request.status) for request in own.requests]
    assert logged == [
        ("/access/api/segment/download", {"scope": "download", "exportId": 5637051}, 403),
        ("/bytes", b"\xff", 404),
    ]


def test_a_snapshot_stays_cleared_requests_are_gone_and_a_stopped_sandbox_still_tells(own: da.Sandbox) -> None:
    client = own.client()
    client.download_segment(5637051)
    logged = own.requests
    own.clear_requests()
    assert own.requests == []
    client.download_segment(5637051)
    own.stop()
    assert [request.status for request in own.requests] == [200]
    assert len(logged) == 1
