"""The operations through which a fault is seen, and some days of codes."""

from __future__ import annotations

import pytest
from support.operations import DOWNLOAD, SEARCH, Operation
from support.runs import service, store

__all__ = ["ask", "service", "store"]


@pytest.fixture(params=[SEARCH, DOWNLOAD], ids=str)
def ask(request: pytest.FixtureRequest) -> Operation:
    """A search, and a download."""
    operation: Operation = request.param
    return operation
