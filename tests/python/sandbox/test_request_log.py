"""`Sandbox.requests`: what was received, for the assertions of a user's test."""

from __future__ import annotations

import http.client
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import dataaccess as da


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
    connection = http.client.HTTPConnection(own.base_url.removeprefix("http://"))
    connection.request("POST", "/rebound", b"\xff", {"Host": "evil.example"})
    assert connection.getresponse().status == 403
    connection.close()
    connection.request("POST", "/bytes", b"\xff")
    assert connection.getresponse().status == 404
    connection.close()
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
