"""No spelling of this machine goes through a proxy of the environment, and plain HTTP to an unusual one is refused.

Source: RFC 6761, section 6.3 (`localhost.` and names below it are loopback).
"""

from __future__ import annotations

from typing import Any

import pytest
from support.raw_server import always, http, serving
from support.searches import search

import dataaccess as da

REACHED = ["localhost", "LOCALHOST", "127.1", "2130706433", "0.0.0.0", "[::ffff:127.0.0.1]"]
OTHERS = ["localhost.", "foo.localhost", "a.b.LocalHost.", "[::]", "[::ffff:0.0.0.0]"]


@pytest.mark.parametrize("host", [*REACHED, *OTHERS])
def test_the_proxy_sees_nothing(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    with serving(always(http())) as server, serving(always(http(b"", "400 Bad"))) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url)
        client: Any = da.Client(f"http://{host}:{server.port}", token="tok", allow_http=True, retry_for=0)
        try:
            assert search(client)
        except da.TransportError:
            # Not each system resolves these.
            assert host in OTHERS
        assert proxy.requests == []


@pytest.mark.parametrize("host", ["foo.localhost", "[::]", "[::ffff:127.0.0.1]"])
def test_plain_http_to_it_must_still_be_allowed(host: str) -> None:
    with pytest.raises(da.ConfigError):
        da.Client(f"http://{host}:9", token="tok")
