"""HTTP 200 with an empty body or an HTML page is retried as a 502 is, where the service has answered properly before.

Source: a trial of nightly jobs.
"""

from __future__ import annotations

from typing import Any

import pytest
from support import kinds
from support.raw_server import http
from support.searches import search


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize("wrong", [http(b"<html>Maintenance</html>"), http(b"")])
def test_it_is_retried_where_the_service_has_answered(client_of: Any, wrong: bytes) -> None:
    client = client_of(http(), wrong, wrong, wrong, http(), retry_for=60)
    assert search(client) == search(client)
    assert client.stats.requests == 5


@pytest.mark.usefixtures("short_pauses")
def test_a_body_that_is_no_http_is_retried_once_all_the_same(client_of: Any) -> None:
    wrong = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n"
    client = client_of(http(), wrong, wrong, http(), retry_for=60)
    search(client)
    with pytest.raises(kinds.Malformed):
        search(client)
    assert client.stats.requests == 3
