"""An attribute `day`, in any case of letters, is refused in a folder by days before anything is sent.

Source: a trial of nightly jobs; DuckDB and polars read the folder `day=…` as a column (Hive partitioning).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.raw_server import RESPONSE, always, http, serving

import dataaccess as da


def scan_of(server: Any, name: str) -> da.Scan:
    client = da.Client(server.base_url, token="t", item_types={"store": 7}, timezone="UTC")
    return client.scan_items("store", ["id", name], da.col("t").on(da.days("2024-01-01", "2024-01-03")))


@pytest.mark.parametrize("name", ["day", "Day", "DAY"])
def test_it_is_refused_before_anything_is_sent(name: str, tmp_path: Path) -> None:
    with serving(always(http(RESPONSE))) as server:
        with pytest.raises(da.ValidationError) as caught:
            scan_of(server, name).to_folder(tmp_path / "days")
        assert caught.value.problems[0].argument == "attrs"
        assert name in str(caught.value)
        assert "to_parquet" in str(caught.value)
        assert server.requests == []
        assert not (tmp_path / "days").exists()


@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
def test_the_way_out_works(tmp_path: Path) -> None:
    with serving(always(http(RESPONSE))) as server:
        scan_of(server, "day").to_parquet(tmp_path / "x.parquet")
        scan_of(server, "days").to_folder(tmp_path / "days")
