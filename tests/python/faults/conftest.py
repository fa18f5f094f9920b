"""The operations through which a fault is seen, and a faster clock."""

from __future__ import annotations

import pytest
from support.fast_clock import short_pauses
from support.operations import DOWNLOAD, SEARCH, Operation

__all__ = ["ask", "short_pauses"]


@pytest.fixture(params=[SEARCH, DOWNLOAD], ids=str)
def ask(request: pytest.FixtureRequest) -> Operation:
    """A search, and a download."""
    operation: Operation = request.param
    return operation
