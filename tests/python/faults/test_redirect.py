"""Redirects: none is followed, wherever it leads and whatever its number, so that the token stays (H18)."""

from __future__ import annotations

from typing import Any

import pytest
from support import kinds
from support.cycled import cycled
from support.raw_server import always, http, serving

import dataaccess as da


@pytest.mark.parametrize(
    ("status", "to"), cycled(range(300, 309), ["elsewhere", "itself", "a path", "nowhere", "nonsense"])
)
def test_h18_no_redirect_is_followed(connect: Any, status: int, to: str) -> None:
    with serving(always(http())) as other:
        address = {
            "elsewhere": other.base_url.replace("127.0.0.1", "localhost") + "/access/api/item/search",
            "a path": "/access/api/item/other",
            "nowhere": "",
            "nonsense": "http://[",
        }
        # A server's own address is known once it is there.
        location = address.get(to, "LOOP")

        def respond(connection: Any, _number: int) -> None:
            target = location.replace("LOOP", server.base_url)
            headers = (f"Location: {target}",) if to != "nowhere" else ()
            connection.sendall(http(b"", f"{status} Moved", headers=headers))

        with serving(respond) as server:
            client = connect(server.base_url, token="tok-secret", headers={"X-Api-Key": "hunter2"})
            with pytest.raises(kinds.Redirect) as caught:
                client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
            assert len(server.requests) == caught.value.attempts == 1
        assert other.connections == 0
    error = caught.value
    expected = {"elsewhere": "localhost", "itself": "127.0.0.1", "a path": "127.0.0.1"}.get(to, "")
    assert (error.status, error.location_host, error.retryable) == (status, expected, False)
    assert "base_url" in str(error)
