"""A folder goes on whether `timezone` is "UTC" or not given.

Source: a trial of nightly jobs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support import kinds

import dataaccess as da

ROW = [{"id": "a", "allocated_time": "2024-01-01 10:00:00"}]


def scan_of(client: da.Client, days: int = 1) -> da.Scan:
    until = da.days("2024-01-01", f"2024-01-{days + 1:02}")
    return client.scan_codes(["id", "allocated_time"], allocated_time=until)


@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
@pytest.mark.parametrize("zones", [(None, "UTC"), ("UTC", None), (None, "UTC", None)])
def test_a_folder_goes_on(client_of: Any, zones: tuple[str | None, ...], tmp_path: Path) -> None:
    address = client_of(ROW).base_url
    for number, zone in enumerate(zones, 1):
        client = da.Client(address, token="t", timezone=zone) if zone else da.Client(address, token="t")
        scan = scan_of(client, number)
        assert scan.to_folder(tmp_path).rows == scan.read_folder(tmp_path).num_rows == number
        assert client.stats.requests == 1
    first = pl.read_parquet(tmp_path / "day=2024-01-01")["allocated_time"]
    assert pl.read_parquet(tmp_path)["allocated_time"].dtype == first.dtype


def test_another_zone_is_another_folder(client_of: Any, tmp_path: Path) -> None:
    scan = scan_of(client_of(ROW))
    scan.to_folder(tmp_path, tz=None)
    with pytest.raises(kinds.Mismatch):
        scan.to_folder(tmp_path, tz="Europe/Berlin")
