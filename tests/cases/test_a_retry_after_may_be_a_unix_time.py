"""`Retry-After` as a Unix time two seconds ahead is a pause of two seconds, not of 57 years.

Source: RFC 9110, section 10.2.3, which has seconds and dates; gateways send Unix times too (a trial of nightly jobs).
"""

from __future__ import annotations

import time

from support.raw_server import http, in_turn, serving

import dataaccess as da


def test_the_request_is_sent_again_at_that_time() -> None:
    soon = int(time.time()) + 2
    with serving(in_turn(http(b"", "429 Slow", headers=(f"Retry-After: {soon}",)), http())) as server:
        began = time.monotonic()
        assert da.Client(server.base_url, token="t").search_codes(["id"], allocated_time=da.on("2024-01-15"))
        assert time.monotonic() - began < 10
        assert len(server.requests) == 2
