"""What is sent, compared with the specification to the letter (sections 2.4, 4.1, 4.2, 4.3 and 5)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.raw_server import RESPONSE, always, http, serving

import dataaccess as da


def test_headers_name_the_client_and_the_accepted_encodings(connect: Any) -> None:
    with serving(always(http())) as server:
        client = connect(server.base_url, token="tok-1", headers={"X-Tenant": "acme"})
        client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        first, second = (request.headers for request in server.requests)
        assert server.connections == 1, "the second call uses the first one's connection"
    assert first["authorization"] == "Bearer tok-1"
    assert first["content-type"] == "application/json"
    assert first["accept-encoding"] == "gzip, zstd"
    assert first["user-agent"] == f"dataaccess/{da.__version__}"
    assert first["x-tenant"] == "acme"
    assert re.fullmatch(r"[0-9a-f]{16}-1", first["x-request-id"])
    assert first["x-request-id"] != second["x-request-id"]


def test_a_user_may_ask_for_less_compression(connect: Any) -> None:
    with serving(always(http())) as server:
        for asked in ("identity", "zstd", "Identity , GZIP"):
            client = connect(server.base_url, headers={"accept-encoding": asked})
            client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        seen = [request.headers["accept-encoding"] for request in server.requests]
    assert seen == ["identity", "zstd", "gzip"]


def test_a_base_url_may_have_a_path(connect: Any) -> None:
    with serving(always(http())) as server:
        connect(f"{server.base_url}/cdp/v1/").search_codes(["id"], allocated_time=da.on("2024-01-15"))
        assert server.requests[0].path == "/cdp/v1/access/api/item/search"


def test_the_way_out_sends_what_it_is_given(connect: Any) -> None:
    response = {"code": 200, "message": "ok", "data": {"b": [1.5, None], "a": 18446744073709551616}}
    with serving(always(http(response))) as server:
        result = connect(server.base_url).post("/access/api/other", {"x": ["ü", 2**70, None]})
        (request,) = server.requests
    assert request.path == "/access/api/other"
    assert request.json == {"x": ["ü", 2**70, None]}
    assert result == response
    assert list(result["data"]) == ["b", "a"]


def test_post_returns_responses_of_any_size(connect: Any) -> None:
    text = "x" * (20 << 20)
    with serving(always(http({"code": 200, "message": "", "data": {"data": [text]}}))) as server:
        assert connect(server.base_url).post("/access/api/other", {})["data"]["data"] == [text]


def test_an_attribute_no_record_has_is_reported(connect: Any) -> None:
    with serving(always(http(RESPONSE))) as server:
        client = connect(server.base_url)
        with pytest.warns(da.AbsentAttributeWarning, match="'nmae'"):
            rows = client.search_items("customer", ["id", "nmae"], da.col("id").equals("x"))
    assert rows == [{"id": "a", "nmae": None}, {"id": "b", "nmae": None}]
