"""A folder goes on whether `timezone` is "UTC" or not given.

Source: a trial of nightly jobs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support import kinds
from support.raw_server import always, http, serving

import dataaccess as da

BODY = {
    "code": 200,
    "message": "",
    "data": {"status": True, "data": [{"id": "a", "allocated_time": "2024-01-01 10:00:00"}]},
}


@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
@pytest.mark.parametrize("zones", [(None, "UTC"), ("UTC", None), (None, "UTC", None)])
def test_a_folder_goes_on(zones: tuple[str | None, ...], tmp_path: Path) -> None:
    with serving(always(http(BODY))) as server:
        for number, zone in enumerate(zones, 1):
            options: dict[str, Any] = {} if zone is None else {"timezone": zone}
            client = da.Client(server.base_url, token="t", **options)
            days = da.days("2024-01-01", f"2024-01-{number + 1:02}")
            scan = client.scan_codes(["id", "allocated_time"], allocated_time=days)
            scan.to_folder(tmp_path)
            assert scan.read_folder(tmp_path).num_rows == number
        assert len(server.requests) == len(zones)
        assert (
            pl.read_parquet(tmp_path)["allocated_time"].dtype
            == pl.read_parquet(tmp_path / "day=2024-01-01")["allocated_time"].dtype
        )


def test_another_zone_is_another_folder(tmp_path: Path) -> None:
    with serving(always(http(BODY))) as server:
        for zone in ("UTC", "Europe/Berlin"):
            scan = da.Client(server.base_url, token="t", timezone="UTC").scan_codes(
                ["id", "allocated_time"], allocated_time=da.days("2024-01-01", "2024-01-02")
            )
            if zone == "UTC":
                scan.to_folder(tmp_path, tz=None)
            else:
                with pytest.raises(kinds.Mismatch):
                    scan.to_folder(tmp_path, tz=zone)
