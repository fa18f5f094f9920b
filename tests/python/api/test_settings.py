"""Settings: where they come from, what is refused, and what a copy shares."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from support.arguments import about
from support.raw_server import always, http, serving

import dataaccess as da

CLASSES = [da.Client, da.AsyncClient]


@pytest.mark.parametrize("kind", CLASSES)
def test_a_constructor_takes_the_address_by_position_and_classes_may_be_derived(kind: Any) -> None:
    with pytest.raises(TypeError, match=r" 1 to 2 .* 3\b") as caught:
        kind("https://cdp.example.com", "hunter2")
    assert "hunter2" not in str(caught.value)

    class Own(kind):  # type: ignore[misc] # one class or the other
        pass

    class Mixed:
        def __init__(self, *arguments: Any, **keywords: Any) -> None:
            super().__init__(*arguments, **{"token": "tok", **keywords})

    own = type("Own", (Mixed, kind), {})
    assert own("https://cdp.example.com").base_url == Own("https://cdp.example.com", token="t").base_url


@pytest.mark.parametrize("kind", CLASSES)
def test_a_token_stays_with_its_service(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok-env")
    for source in ({"token": "tok-text"}, {}):
        client = kind("https://cdp.example.com/a", **source)
        for same in ("https://cdp.example.com:443/b", "https://CDP.example.com"):
            assert client.with_options(base_url=same).base_url.startswith("https://cdp.example.com")
        for other in ("https://evil.example.com", "https://cdp.example.com:8443", "http://127.0.0.1:1"):
            with pytest.raises(
                da.ConfigError, match=rf" {re.escape(other)}: .* {re.escape(other)}, ", check=about("base_url")
            ) as caught:
                client.with_options(base_url=other)
            assert "tok-" not in str(caught.value)
    moved = kind("https://cdp.example.com", token=lambda: "tok").with_options(base_url="https://other.example.com")
    assert moved.base_url == "https://other.example.com"


@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")
def test_the_token_of_the_sandbox_stays_there_too() -> None:
    client = da.Client("sandbox:demo")
    assert repr(client) == "Client('sandbox:demo', token from the sandbox)"
    with pytest.raises(da.ConfigError, match=r" https://cdp\.example\.com: ", check=about("base_url")):
        client.with_options(base_url="https://cdp.example.com")
    back = da.Client("https://cdp.example.com", token="tok").with_options(base_url="sandbox:demo?until=2024-02-29")
    assert len(back.search_codes(allocated_time=da.on("2024-01-15"))) == 73


def test_options_make_a_copy_that_shares_connections() -> None:
    with serving(always(http())) as server:
        client = da.Client(server.base_url, token="tok-1", timezone="Asia/Tokyo")
        copy = client.with_options(timeout=timedelta(seconds=9), retry_for=0)
        for one in (client, copy, client):
            one.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        assert server.connections == 1
        assert copy.timezone == "Asia/Tokyo"
        copy.close()
        assert (client.is_closed, copy.is_closed) == (False, True)
        client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        with pytest.raises(da.ClientClosedError):
            copy.search_codes(["id"], allocated_time=da.on("2024-01-15"))


def test_module_functions_follow_the_environment_and_reuse_a_client(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving(always(http())) as server:
        monkeypatch.setenv("DATAACCESS_BASE_URL", server.base_url)
        monkeypatch.setenv("DATAACCESS_TOKEN", "tok-1")
        for _ in range(3):
            da.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        assert server.connections == 1
        monkeypatch.setenv("DATAACCESS_TOKEN", "tok-2")
        da.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        assert [request.headers["authorization"][-5:] for request in server.requests] == ["tok-1"] * 3 + ["tok-2"]
