"""A service beside the shared one, whose faults and log disturb no other test; and a faster clock."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.fast_clock import short_pauses

import dataaccess as da

__all__ = ["own", "short_pauses"]


@pytest.fixture(scope="session")
def _other() -> Iterator[da.Sandbox]:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        yield sandbox


@pytest.fixture
def own(_other: da.Sandbox) -> da.Sandbox:
    """A service with demo data and an empty log; faults end with the blocks of the test."""
    _other.clear_requests()
    return _other
