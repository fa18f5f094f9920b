"""The full figures: five thousand searches of a service where a fifth of all requests fail, others at each run."""

from __future__ import annotations

import secrets
from typing import Any

import pytest
from support.chaos import BY, Chaotic
from support.raw_server import serving

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

SEARCHES = 5_000


@pytest.mark.parametrize("kind", BY)
@pytest.mark.parametrize(("retries", "good"), [(0, 0.78), (1, 0.95)])
def test_five_thousand_searches_are_right_or_fail_as_they_must(
    kind: str, retries: int, good: float, time_scale: Any
) -> None:
    # Silence is given up after three seconds instead of thirty.
    time_scale(10)
    run = secrets.token_hex(4)
    unlucky = Chaotic()
    with serving(unlucky) as server:
        unlucky.server = server
        keys = [f"key-{run}-{number}" for number in range(SEARCHES)]
        found, stats = BY[kind](server.base_url, keys, retry_for=0.2 * retries)
    # Five failures in a row are an outage of all requests, and it may be older than `retry_for`.
    assert sum(one.check(retries) for one in found) <= SEARCHES // 50
    # A fifth of all requests fails.
    assert sum(one.rows is not None for one in found) >= SEARCHES * good
    assert stats.requests <= SEARCHES * 1.3
