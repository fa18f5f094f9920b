"""`Retry-After` as a Unix time two seconds ahead is a pause of two seconds, not of 57 years.

Source: RFC 9110, section 10.2.3, which has seconds and dates; gateways send Unix times too.
"""

from __future__ import annotations

import time
from typing import Any

import pytest
from support.raw_server import http
from support.searches import search


@pytest.mark.usefixtures("short_pauses")
def test_the_request_is_sent_again_at_that_time(client_of: Any) -> None:
    busy = http(b"", "429 Slow", headers=(f"Retry-After: {int(time.time()) + 2}",))
    client = client_of(busy, http(), retry_for=60)
    assert search(client)
    assert client.stats.requests == 2
