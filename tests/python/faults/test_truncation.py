"""A response that ends too early is never a result, wherever it ends (H4, H6, H7, H8, H16).

`pytest -m soak` cuts at every byte.
"""

from __future__ import annotations

import random
from typing import Any

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
