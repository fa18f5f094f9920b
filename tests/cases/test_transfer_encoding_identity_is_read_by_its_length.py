"""`Transfer-Encoding: identity` beside a `Content-Length` is read by its length on a connection that stays open.

Source: RFC 2616, section 3.6 (`identity` is no coding) and RFC 9112, section 6.3.
"""

from __future__ import annotations

from typing import Any

import pytest
from support import kinds
from support.raw_server import Close, http, serving
from support.searches import search
from support.streams import client_of as client_for


def test_it_is_read_at_once(client_of: Any) -> None:
    client = client_of(http(headers=("Transfer-Encoding: Identity",)), timeout=1)
    assert search(client) == search(client)


def test_without_a_length_it_ends_with_the_connection_and_with_a_longer_one_it_is_cut() -> None:
    identity = http(headers=("Transfer-Encoding: identity",))

    def respond(connection: Any, number: int) -> None:
        longer = http(headers=("Transfer-Encoding: identity",), length=400)
        connection.sendall(longer if number else identity.replace(b"Content-Length", b"X-Length"))
        raise Close

    with serving(respond) as server:
        client = client_for(server, retry_for=0)
        assert search(client)
        with pytest.raises(kinds.Truncated):
            search(client)


@pytest.mark.parametrize("coding", ["gzip", "chunked, identity", "x", "gzip, chunked"])
def test_another_coding_is_refused_at_once(client_of: Any, coding: str) -> None:
    with pytest.raises(kinds.Malformed) as caught:
        search(client_of(http(headers=(f"Transfer-Encoding: {coding}",)), retry_for=60))
    assert caught.value.attempts == 1
