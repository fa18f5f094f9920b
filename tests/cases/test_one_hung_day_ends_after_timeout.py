"""One day that hangs ends a scan after `timeout`, over all attempts, also if it hangs behind its first row.

Source: a trial of notebooks.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.raw_server import RESPONSE, http, serving

import dataaccess as da

DAYS = da.days("2024-01-15", "2024-01-18")
HUNG_DAY = {"day": "2024-01-15"}


@pytest.mark.parametrize("use", ["to_dicts", "to_arrow", "to_pandas", "batches", "to_parquet"])
def test_a_scan_ends_after_timeout(tmp_path: Path, sandbox: da.Sandbox, use: str) -> None:
    scan = sandbox.client(timeout=0.5).scan_codes(["id"], allocated_time=DAYS)
    uses: dict[str, Callable[[], Any]] = {
        "to_dicts": scan.to_dicts,
        "to_arrow": scan.to_arrow,
        "to_pandas": scan.to_pandas,
        "batches": lambda: list(scan.batches()),
        "to_parquet": lambda: scan.to_parquet(tmp_path / "codes.parquet"),
    }
    with sandbox.fault("stall", after_bytes=0, where=HUNG_DAY) as fault:
        began = time.monotonic()
        with pytest.raises(da.RequestTimeoutError):
            uses[use]()
        assert time.monotonic() - began < 5
        assert fault.hits == 1


def test_a_folder_has_the_other_days(tmp_path: Path, sandbox: da.Sandbox) -> None:
    client = sandbox.client(timeout=0.5)
    with sandbox.fault("stall", after_bytes=0, where=HUNG_DAY) as fault:
        with pytest.raises(da.ScanIncompleteError) as caught:
            client.scan_codes(["id"], allocated_time=DAYS).to_folder(tmp_path)
        assert fault.hits == 1
    assert caught.value.report is not None
    assert len(caught.value.report.files) == 2


def test_a_stall_behind_the_first_row_does_not_repeat_for_ever(time_scale: Callable[[int], None]) -> None:
    body = json.dumps(RESPONSE).encode()

    def respond(connection: Any, _number: int) -> None:
        connection.sendall(http(body)[: -len(body)] + body[:-20])
        time.sleep(30)

    # The stall rule ends an attempt after a quarter of a second.
    time_scale(120)
    with serving(respond) as server, da.Client(server.base_url, token="t", timeout=1, retry_for=600) as client:
        began = time.monotonic()
        with pytest.raises(da.RequestTimeoutError):
            client.scan_codes(["id"], allocated_time=DAYS).to_dicts()
        assert time.monotonic() - began < 8
        assert len(server.requests) <= 3 * 5
