"""Hundreds of searches at once of a service where a fifth of all requests fail. `pytest -m soak` has thousands."""

from __future__ import annotations

from typing import Any

import pytest
from support.chaos import BY, Chaotic
from support.raw_server import serving

SEARCHES, RETRIES = 300, 1
# Some responses are cut off after rows that were already delivered.
KEYS = [f"key-e-{number}" for number in range(SEARCHES)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", BY)
def test_each_of_many_searches_is_right_or_fails_as_it_must(kind: str, time_scale: Any) -> None:
    # Silence is given up after three seconds instead of thirty.
    time_scale(10)
    unlucky = Chaotic()
    with serving(unlucky) as server:
        unlucky.server = server
        found, stats = BY[kind](server.base_url, KEYS, retry_for=0.2)
    # Five failures in a row are an outage of all requests, and it may be older than `retry_for`.
    assert sum(one.check(RETRIES) for one in found) <= SEARCHES // 50
    failed = sum(one.rows is None for one in found)
    assert 0 < failed < SEARCHES // 10
    assert stats.requests == sum(one.attempts for one in found)
