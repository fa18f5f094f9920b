"""A service beside the shared one, whose faults and log disturb no other test; and a faster clock."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.fast_clock import short_pauses

import dataaccess as da

__all__ = ["own", "short_pauses"]


@pytest.fixture
def own() -> Iterator[da.Sandbox]:
    """A service with demo data, for one test."""
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        yield sandbox
