"""The interpreter's end with work in flight: quiet and quick."""

from __future__ import annotations

import pytest
from support.cycled import cycled
from support.interpreter_exit import WORKS, ended

# Each while it begins, and later.
CASES = [*cycled(WORKS, [0.005]), *cycled(WORKS, [0.05, 0.3])]


@pytest.mark.parametrize(("work", "pause"), CASES)
def test_p7_the_interpreter_ends_quietly_whatever_is_in_flight(work: str, pause: float) -> None:
    assert ended(work, pause) == (0, "")
