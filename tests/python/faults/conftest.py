"""The operations through which a fault is seen, a faster clock, and some days of codes."""

from __future__ import annotations

import pytest
from support.fast_clock import short_pauses
from support.operations import DOWNLOAD, SEARCH, Operation
from support.runs import service, store

__all__ = ["ask", "service", "short_pauses", "store"]


@pytest.fixture(params=[SEARCH, DOWNLOAD], ids=str)
def ask(request: pytest.FixtureRequest) -> Operation:
    """A search, and a download."""
    operation: Operation = request.param
    return operation
