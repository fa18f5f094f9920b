"""The full figures of outages: a restart of three seconds, and a service that stays down."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from support.outages import up_after
from support.programs import free_port

import dataaccess as da

pytestmark = [pytest.mark.soak, pytest.mark.timeout(300)]

DAYS = da.days("2024-01-01", "2024-04-01")
RESTART = 3


def test_a_call_outlasts_a_restart(connect: Any) -> None:
    for _ in range(10):
        with up_after(RESTART) as address:
            began = time.monotonic()
            assert connect(address).search_codes(["id"], allocated_time=da.on("2024-01-15"))
        assert time.monotonic() - began < 5


def test_a_run_outlasts_a_restart(connect: Any, tmp_path: Path) -> None:
    for number in range(10):
        with up_after(RESTART) as address:
            began = time.monotonic()
            scan = connect(address).scan_codes(["id"], allocated_time=DAYS)
            assert scan.to_folder(tmp_path / str(number)).rows == 182
        assert time.monotonic() - began < 6


def test_a_service_that_is_down_is_one_error_after_retry_for(connect: Any, tmp_path: Path) -> None:
    client = connect(f"http://127.0.0.1:{free_port()}")
    began = time.monotonic()
    with pytest.raises(da.ConnectError, match=rf"^(?!.*{tmp_path.name})"):
        client.scan_codes(["id"], allocated_time=DAYS).to_folder(tmp_path)
    assert 60 <= time.monotonic() - began < 62
    assert client.stats.requests < 40
