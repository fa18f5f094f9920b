"""A response that ends too early is never a result, wherever it ends (H4, H6, H7, H8, H16).

`pytest -m soak` cuts at every byte.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from support.chaos import BY, chaotic
from support.truncation import Wire, client_of, cutting, every_wire, wires

CUTS = 5


def some_places(wire: Wire) -> list[int]:
    """The ends, the borders of head and body, and a few others, the same each time."""
    draw = random.Random(f"{wire.case.name} {wire.framing} {wire.encoding}")
    last = wire.places() - 1
    head = 0 if wire.ends_well else len(wire.head(0))
    chosen = {0, head, last - 1, last, *(draw.randrange(last) for _ in range(CUTS))}
    if wire.case.record_ends and wire.encoding == "identity" and wire.framing != "chunked":
        chosen |= {head + wire.case.record_ends[0] + beside for beside in (-1, 0, 1)}
    return sorted(chosen)


@every_wire
def test_a_response_cut_anywhere_is_never_a_result(connect: Any, framing: str, encoding: str) -> None:
    with cutting() as cutter:
        client = client_of(connect, cutter)
        for wire in wires(framing, encoding):
            for place in some_places(wire):
                cutter.check(client, wire, place)


# Hundreds of searches at once of a service where a fifth of all requests fail. `pytest -m soak` has thousands.


SEARCHES, RETRIES = 300, 1
# Some responses are cut off after rows that were already delivered.
KEYS = [f"key-e-{number}" for number in range(SEARCHES)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", BY)
def test_each_of_many_searches_is_right_or_fails_as_it_must(kind: str, time_scale: Any) -> None:
    # Silence is given up after three seconds instead of thirty.
    time_scale(10)
    with chaotic() as server:
        found, stats = BY[kind](server.base_url, KEYS, retry_for=0.2)
    # Five failures in a row are an outage of all requests, and it may be older than `retry_for`.
    assert sum(one.check(RETRIES) for one in found) <= SEARCHES // 50
    failed = sum(one.rows is None for one in found)
    assert 0 < failed < SEARCHES // 10
    assert stats.requests == sum(one.attempts for one in found)
