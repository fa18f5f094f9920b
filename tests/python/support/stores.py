"""A sandbox that knows stores, and its rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

import dataaccess as da

STORE: dict[str, Any] = {"store_id": "string", "area": "number", "opened": "datetime"}
NAMES = list(STORE)
EXPECTED: list[dict[str, Any]] = [
    {"store_id": "a", "area": 250, "opened": "2024-01-31 10:00:00"},
    {"store_id": "b", "area": 0.5, "opened": None},
    {"store_id": "c", "area": None, "opened": "2024-02-01 00:00:00"},
]


@pytest.fixture
def service() -> Iterator[da.Sandbox]:
    """A service that knows stores."""
    with da.Sandbox() as sandbox:
        sandbox.declare("store", 7, STORE)
        yield sandbox


def stored(sandbox: da.Sandbox) -> list[dict[str, Any]]:
    body = {"itemTypeId": 7, "itemTypeName": "store", "attrs": NAMES, "filters": {"OR": [{"AND": []}]}}
    found: list[dict[str, Any]] = sandbox.client().post("/access/api/item/search", body)["data"]["data"]
    return found


def place(error: BaseException) -> tuple[str, int, str | None]:
    """The object, the row and the attribute that the error of a load names."""
    found = re.match(r"object `(\w+)`, row (\d+): (?:attribute `(\w+)`: )?", str(error))
    assert found, error
    return found[1], int(found[2]), found[3]
