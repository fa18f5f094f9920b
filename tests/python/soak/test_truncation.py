"""Every byte of every response, in every framing and encoding, as the last that comes."""

from __future__ import annotations

from typing import Any

import pytest
from support.truncation import client_of, cutting, every_wire, wires

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800)]


@every_wire
def test_a_response_cut_at_any_byte_is_never_a_result(connect: Any, framing: str, encoding: str) -> None:
    with cutting() as cutter:
        client = client_of(connect, cutter)
        count = 0
        for wire in wires(framing, encoding):
            for place in range(wire.places()):
                cutter.check(client, wire, place)
                count += 1
    assert count > 500
