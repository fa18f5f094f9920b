"""The full figures of a consumer that rests: a minute, within a response of a gibibyte."""

from __future__ import annotations

import sys

import pytest
from support.slow_consumer import MEBIBYTE, rest

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc"),
]

SECONDS = 60


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_r6_a_minute_of_rest_within_a_gibibyte_costs_nothing(kind: str) -> None:
    rested, records = rest(kind, 1024 * MEBIBYTE, SECONDS)
    assert rested.sent_before == rested.sent_after < 32 * MEBIBYTE, rested
    assert rested.grown_while_resting < 8 * MEBIBYTE, rested
    assert rested.grown < 24 * MEBIBYTE, rested
    assert rested.rows == records > 1_000_000
