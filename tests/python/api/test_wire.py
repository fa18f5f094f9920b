"""Headers and paths of requests, and bodies of `post`, which are what `json.dumps` writes."""

from __future__ import annotations

import json
import pickle
import re
import sys
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.raw_server import always, http, serving

import dataaccess as da
from dataaccess._core.host import hosted

# Such as `dataaccess/0.1.0 (CPython 3.12; Linux x86_64)`.
PYTHON = f"CPython {sys.version_info.major}.{sys.version_info.minor}"
AGENT = rf"dataaccess/{re.escape(da.__version__)} \({PYTHON}; (Linux|Darwin|Windows) \w+\)"


def agent_of(server: Any, client: Any) -> str:
    """The `User-Agent` that a client sends."""
    client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
    return str(server.requests[-1].headers["user-agent"])


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
    assert re.fullmatch(AGENT, first["user-agent"])
    assert first["x-tenant"] == "acme"
    assert re.fullmatch(r"[0-9a-f]{16}-1", first["x-request-id"])
    assert first["x-request-id"] != second["x-request-id"]


def test_the_host_and_the_program_are_named_behind_the_package(connect: Any) -> None:
    with serving(always(http())) as server:
        client = connect(server.base_url, user_agent="nightly-job/3")
        assert re.fullmatch(f"{AGENT} nightly-job/3", agent_of(server, client))
        with hosted("airflow", "3.3.1rc2"):
            client = connect(server.base_url, user_agent="nightly-job/3 (team data)")
        expected = rf"{AGENT} airflow/3\.3 nightly-job/3 \(team data\)"
        assert re.fullmatch(expected, agent_of(server, client))
        copy = client.with_options(user_agent=None)
        assert re.fullmatch(rf"{AGENT} airflow/3\.3", agent_of(server, copy)), "a copy has the host of its client"
        assert re.fullmatch(AGENT, agent_of(server, connect(server.base_url))), "a later client has no host"


def test_a_client_that_travels_names_its_host(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(always(http())) as server:
        monkeypatch.setenv("DATAACCESS_BASE_URL", server.base_url)
        monkeypatch.setenv("DATAACCESS_TOKEN", "tok-1")
        with hosted("spark", "4.1.0"):
            data = pickle.dumps(da.Client())
        assert re.fullmatch(rf"{AGENT} spark/4\.1", agent_of(server, pickle.loads(data)))


def test_a_header_of_the_user_replaces_the_name_of_the_client(connect: Any) -> None:
    with serving(always(http())) as server:
        assert agent_of(server, connect(server.base_url, headers={"User-Agent": "mine/1"})) == "mine/1"


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
        (request,) = server.requests
    assert (request.path, request.query) == ("/cdp/v1/access/api/item/search", "")


def test_the_way_out_sends_what_it_is_given(connect: Any) -> None:
    response = {"code": 200, "message": "ok", "data": {"b": [1.5, None], "a": 18446744073709551616}}
    with serving(always(http(response))) as server:
        result = connect(server.base_url).post("/access/api/other", {"x": ["ü", 2**70, None]})
        (request,) = server.requests
    assert (request.path, request.query) == ("/access/api/other", "")
    assert request.json == {"x": ["ü", 2**70, None]}
    assert result == response
    assert list(result["data"]) == ["b", "a"]


def test_post_returns_responses_of_any_size(connect: Any) -> None:
    text = "x" * (20 << 20)
    with serving(always(http({"code": 200, "message": "", "data": {"data": [text]}}))) as server:
        assert connect(server.base_url).post("/access/api/other", {})["data"]["data"] == [text]


Name = type("Name", (str,), {})
LEAVES: st.SearchStrategy[Any] = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.integers(-(2**80), 2**80), st.just(da.CodeStatus.USED)),
    *(st.floats(allow_nan=False, allow_infinity=False), st.text(), st.text().map(Name)),
)


def joined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    of_leaves = st.dictionaries(LEAVES, inner, max_size=4)
    return st.lists(inner, max_size=4) | st.lists(inner).map(tuple) | of_leaves | of_leaves.map(OrderedDict)


def test_a_body_is_what_json_writes() -> None:
    with serving(always(http())) as server, da.Client(server.base_url, token="tok") as client:

        @given(body=st.recursive(LEAVES, joined, max_leaves=20))
        # The usual types alone, which Python's encoder does not write.
        @example(body={"a": "x", "b": 1, "c": [True, False, None], "d": {}, "e": [], "f": (1, ("y",))})
        @example(body={'ü"\u2028': "\ufeff", "n": [0, -1, 2**63 - 1, -(2**63)]})
        @example(body="".join(map(chr, range(0x21))) + '"\\/\x7fü\u2028\u2029\ufeff\U0001f600')
        @example(body=[-0.0, 1e16, 5e-324, 2**63 - 1, -(2**63), 2**63])
        @example(body=json.loads("[" * 200 + "]" * 200))
        def check(body: Any) -> None:
            client.post("/access/api/other", body)
            expected = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
            assert server.requests[-1].body.decode() == expected

        check()
