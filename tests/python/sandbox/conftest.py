"""A service beside the shared one: its faults and its log disturb no other test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dataaccess as da


@pytest.fixture(scope="session")
def _other() -> Iterator[da.Sandbox]:
    with da.Sandbox.demo() as sandbox:
        yield sandbox


@pytest.fixture
def own(_other: da.Sandbox) -> da.Sandbox:
    """A service with demo data and an empty log; faults end with the blocks of the test."""
    _other.clear_requests()
    return _other
