"""Waiting for a state of a server, and rows in a comparable order, for tests of scans."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from support.raw_server import http
from support.scan_requests import (
    ThenClose,
)

LONG = 20
"""Seconds after which a test fails; a passing one never takes so long."""


def by_number(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: int(row["n"]))


def wait_until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


REFUSED = ThenClose(http({"code": 400, "message": "no such thing"}, "400 Bad Request"))
