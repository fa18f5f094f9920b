"""One day that hangs ends a scan after `timeout`, over all attempts, also if it hangs behind its first row.

Source: a trial of notebooks.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.raw_server import http, serving, silent

import dataaccess as da

DAYS = da.days("2024-01-15", "2024-01-18")
USES: dict[str, Callable[[da.Scan, Path], Any]] = {
    "to_dicts": lambda scan, _: scan.to_dicts(),
    "to_arrow": lambda scan, _: scan.to_arrow(),
    "batches": lambda scan, _: list(scan.batches()),
    "to_parquet": lambda scan, path: scan.to_parquet(path / "codes.parquet"),
    "to_folder": lambda scan, path: scan.to_folder(path / "codes"),
}


@pytest.mark.parametrize("use", USES)
def test_a_scan_ends_after_timeout_and_a_folder_has_the_other_days(
    tmp_path: Path, sandbox: da.Sandbox, use: str
) -> None:
    scan = sandbox.client(timeout=0.5).scan_codes(["id"], allocated_time=DAYS)
    with sandbox.fault("stall", after_bytes=0, where={"day": "2024-01-15"}) as fault:
        with pytest.raises((da.RequestTimeoutError, da.ScanIncompleteError)) as caught:
            USES[use](scan, tmp_path)
        assert fault.hits == 1
    if use == "to_folder":
        assert isinstance(caught.value, da.ScanIncompleteError)
        assert caught.value.report is not None
        assert len(caught.value.report.files) == 2
    else:
        assert isinstance(caught.value, da.RequestTimeoutError)
        assert caught.value.elapsed < 5


def test_a_stall_behind_the_first_row_does_not_repeat_for_ever(time_scale: Callable[[int], None]) -> None:
    # The stall rule ends an attempt after a quarter of a second.
    time_scale(120)
    with serving(silent(http()[:-20])) as server, da.Client(server.base_url, token="t", timeout=1) as client:
        with pytest.raises(da.RequestTimeoutError):
            client.scan_codes(["id"], allocated_time=DAYS).to_dicts()
        assert len(server.requests) <= 3 * 5
