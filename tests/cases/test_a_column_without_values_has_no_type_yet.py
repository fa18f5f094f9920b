"""A column that is null on the first day takes the type of its first value, in folders, files and streams.

Source: a trial of nightly jobs.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import dataaccess as da

USES: dict[str, Callable[[Any, Path], list[Any]]] = {
    "folder": lambda scan, path: (scan.to_folder(path), pl.read_parquet(path)["v"].to_list())[1],
    "read_folder": lambda scan, path: (scan.to_folder(path), scan.read_folder(path).to_arrow()["v"].to_pylist())[1],
    "parquet": lambda scan, path: (scan.to_parquet(path / "x"), pl.read_parquet(path / "x")["v"].to_list())[1],
    "csv": lambda scan, path: (scan.to_csv(path / "x.csv"), pl.read_csv(path / "x.csv")["v"].to_list())[1],
    "batches": lambda scan, _: [row["v"] for batch in scan.batches() for row in batch.to_arrow().to_pylist()],
    "polars": lambda scan, _: scan.to_polars()["v"].to_list(),
    "duckdb": lambda scan, _: [row[0] for row in duckdb.execute("select v from scan").fetchall()],
}


def scan_of(client: Any, days: int, first: int = 1) -> da.Scan:
    on = da.days(f"2024-01-{first:02}", f"2024-01-{first + days:02}")
    scan: da.Scan = client.scan_items("store", ["id", "v"], da.col("t").on(on))
    return scan


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("value", [7, 7.5, True, "text"])
def test_days_of_one_run(client_of: Any, tmp_path: Path, use: str, value: Any) -> None:
    client = client_of([{"id": "a", "v": None}], [], [{"id": "b", "v": value}], [{"id": "c", "v": None}], concurrency=1)
    assert USES[use](scan_of(client, 4), tmp_path) == [None, value, None]


@pytest.mark.parametrize("runs", [[(1, 1), (1, 2), (1, 3)], [(1, 1), (2, 1), (3, 1)]])
def test_days_of_several_runs(client_of: Any, tmp_path: Path, runs: list[tuple[int, int]]) -> None:
    client = client_of([{"id": "a", "v": None}], [{"id": "b", "v": 7}], [{"id": "c", "v": None}], concurrency=1)
    for first, days in runs:
        scan_of(client, days, first).to_folder(tmp_path)
    assert pl.read_parquet(tmp_path)["v"].to_list() == [None, 7, None]
    assert client.stats.requests == 3


def test_a_value_of_another_type_still_fails_its_day(client_of: Any, tmp_path: Path) -> None:
    client = client_of([{"id": "a"}], [{"id": "b", "v": 7}], [{"id": "c", "v": "x"}], concurrency=1)
    with pytest.raises(da.ScanIncompleteError):
        scan_of(client, 3).to_folder(tmp_path)
