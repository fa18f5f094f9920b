"""Ways to get codes, and the error that one raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import dataaccess as da


def search(client: Any) -> Any:
    return client.search_codes(["id"], allocated_time=da.on("2024-01-15"))


def stream(client: Any) -> Any:
    return list(client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).batches())


def collect(client: Any) -> Any:
    return client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_arrow()


def raised_by(ask: Callable[[Any], Any], client: Any) -> da.DataAccessError:
    with pytest.raises(da.DataAccessError) as caught:
        ask(client)
    return caught.value
