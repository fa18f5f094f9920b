"""No redirect is followed, wherever it leads, so that the token stays."""

from __future__ import annotations

from typing import Any

import pytest
from support import kinds
from support.operations import Operation
from support.raw_server import always, http, serving


@pytest.mark.fault("H18")
@pytest.mark.parametrize(
    ("to", "host"),
    [
        ("http://localhost:{other}/access/api/item/search", "localhost"),
        ("http://127.0.0.1:{own}/access/api/item/search", "127.0.0.1"),
        ("/access/api/item/other", "127.0.0.1"),
        ("http://[", ""),
        ("", ""),
    ],
)
def test_a_redirect_is_reported_and_not_followed(connect: Any, ask: Operation, to: str, host: str) -> None:
    def respond(connection: Any, _number: int) -> None:
        location = f"Location: {to.format(own=server.port, other=other.port)}"
        connection.sendall(http(b"", "307 Moved", headers=(location,) if to else ()))

    with serving(always(http())) as other, serving(respond) as server:
        client = connect(server.base_url, token="tok-secret", headers={"X-Api-Key": "hunter2"})
        with pytest.raises(kinds.Redirect) as caught:
            ask(client)
        assert (len(server.requests), other.connections) == (1, 0)
    assert caught.value.location_host == host
