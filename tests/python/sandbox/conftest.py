"""A service beside the shared one, whose faults and log disturb no other test; the rows of the demo."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support import oracle_tables
from support.oracle import Table
from support.plain_http import PlainService

import dataaccess as da


@pytest.fixture
def own() -> Iterator[da.Sandbox]:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def codes(service: PlainService) -> Table:
    return oracle_tables.codes(service)


@pytest.fixture(scope="module")
def customers(service: PlainService) -> Table:
    return oracle_tables.customers(service)
