"""An attribute `day`, in any case of letters, is refused in a folder by days before anything is sent.

Source: DuckDB and polars read the folder `day=…` as a column (Hive partitioning).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dataaccess as da

DAYS = da.col("t").on(da.days("2024-01-01", "2024-01-03"))


@pytest.mark.parametrize("name", ["day", "Day", "DAY", "days"])
def test_it_is_refused_before_anything_is_sent(client_of: Any, name: str, tmp_path: Path) -> None:
    client = client_of([{"id": "a", name: 1}])
    scan = client.scan_items("store", ["id", name], DAYS)
    if name == "days":
        scan.to_folder(tmp_path / "days")
        return
    with pytest.raises(da.ValidationError) as caught:
        scan.to_folder(tmp_path / "days")
    assert (caught.value.problems[0].argument, client.stats.requests) == ("attrs", 0)
    assert not (tmp_path / "days").exists()
    scan.to_parquet(tmp_path / "x.parquet")
