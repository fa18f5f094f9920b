"""A service beside the shared one, whose faults and log disturb no other test; a faster clock; the rows of the demo."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support import demo_tables
from support.fast_clock import short_pauses
from support.oracle import Table
from support.plain_http import PlainService

import dataaccess as da

__all__ = ["own", "short_pauses"]


@pytest.fixture
def own() -> Iterator[da.Sandbox]:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def codes(service: PlainService) -> Table:
    return demo_tables.codes(service)


@pytest.fixture(scope="module")
def customers(service: PlainService) -> Table:
    return demo_tables.customers(service)
