"""No spelling of this machine goes through a proxy of the environment or of a profile.

Source: a security review; RFC 6761, section 6.3 (`localhost.` and names below it are loopback).
"""

from __future__ import annotations

from typing import Any

import pytest
from support.raw_server import always, http, serving

import dataaccess as da

HOSTS = [
    "localhost",
    "LOCALHOST",
    "127.1",
    "2130706433",
    "0.0.0.0",
    "[::ffff:127.0.0.1]",
]


@pytest.mark.parametrize("host", HOSTS)
def test_the_request_reaches_it_directly(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    def refuse(_connection: Any, _number: int) -> None:
        raise AssertionError("a request of this machine reached the proxy")

    with serving(always(http())) as server, serving(refuse) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url)
        client = da.Client(f"http://{host}:{server.port}", token="tok", allow_http=True, retry_for=0)
        assert len(client.search_codes(["id"], allocated_time=da.on("2024-01-15"))) == 2
        assert proxy.requests == []


@pytest.mark.parametrize("host", ["localhost.", "foo.localhost", "a.b.LocalHost.", "[::]", "[::ffff:0.0.0.0]"])
def test_nothing_is_sent_to_the_proxy(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    with serving(always(http(b"", "400 Bad"))) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url)
        client = da.Client(f"http://{host}:9", token="tok", allow_http=True, retry_for=0)
        with pytest.raises(da.TransportError):
            client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        assert proxy.requests == []


@pytest.mark.parametrize("host", ["foo.localhost", "[::]", "[::ffff:127.0.0.1]"])
def test_plain_http_to_it_must_still_be_allowed(host: str) -> None:
    with pytest.raises(da.ConfigError):
        da.Client(f"http://{host}:9", token="tok")
