"""One day that always fails, while others succeed, is the failure of that day and not an outage.

Source: a trial of nightly jobs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import dataaccess as da


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize("status", [500, 503])
def test_the_other_days_are_written(tmp_path: Path, sandbox: da.Sandbox, concurrency: int, status: int) -> None:
    days = da.days("2024-01-10", "2024-01-20")
    with sandbox.fault("status", status=status, where={"day": "2024-01-15"}):
        client = sandbox.client(retry_for=0.5, concurrency=concurrency)
        with pytest.raises(da.ScanIncompleteError) as caught:
            client.scan_codes(["id"], allocated_time=days).to_folder(tmp_path)
    report = caught.value.report
    assert report is not None
    assert len(report.files) == 9
