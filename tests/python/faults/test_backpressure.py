"""A consumer that stops reading: the response waits at the service, not in memory (R6). `-m soak` has a gibibyte."""

from __future__ import annotations

import sys

import pytest
from support.slow_consumer import MEBIBYTE, rest

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc"),
    pytest.mark.quiet,
    pytest.mark.slow,
]

SIZE = 64 * MEBIBYTE


@pytest.mark.fault("R6")
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_consumer_that_rests_holds_back_the_service_and_loses_nothing(kind: str) -> None:
    rested, records = rest(kind, SIZE, seconds=1)
    assert rested.sent_before == rested.sent_after < SIZE // 2, rested
    assert rested.grown_while_resting < 8 * MEBIBYTE, rested
    assert rested.grown < 24 * MEBIBYTE, rested
    assert rested.rows == records
