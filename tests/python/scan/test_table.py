"""A table is read by its parts: first rows, slices, columns, a row; and written to Parquet."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import dataaccess as da


@pytest.fixture(scope="module")
def table() -> da.Table:
    """The rows of a day."""
    with da.Sandbox.demo() as sandbox:
        scan = sandbox.client().scan_codes(["id", "pool_id", "allocated_time"], allocated_time=da.on("2024-01-15"))
        return scan.collect()


def test_the_first_rows(table: da.Table) -> None:
    rows = table.to_pylist()
    assert table.head(3).to_pylist() == rows[:3]
    assert table.head(1000).to_pylist() == rows
    assert table.head(0).schema == table.schema
    with pytest.raises(da.ValidationError, match="n: must be an integer"):
        table.head(-1)


@pytest.mark.parametrize("part", [slice(None), slice(10, 20), slice(-5, None), slice(20, 10), slice(70, 900)])
def test_a_slice_is_a_table_of_these_rows(table: da.Table, part: slice) -> None:
    assert table[part].to_pylist() == table.to_pylist()[part]
    assert table[part].to_polars().to_dicts() == table.to_polars()[part].to_dicts()


def test_a_table_is_not_iterated_over_so_that_no_frame_is_made_of_dicts(table: da.Table) -> None:
    for use in (list, pd.DataFrame):
        with pytest.raises(TypeError, match=r"write table\.to_pandas\(\) .* or table\.to_pylist\(\)"):
            use(table)


def test_a_row_and_a_column_have_the_values_of_the_list(table: da.Table) -> None:
    rows = table.to_pylist()
    assert (table[0], table[-1], table[72]) == (rows[0], rows[-1], rows[72])
    assert table["allocated_time"] == [row["allocated_time"] for row in rows]
    chosen = table[["allocated_time", "id"]]
    assert chosen.column_names == ["allocated_time", "id"]
    assert chosen[5:7].to_pylist() == [{"allocated_time": row["allocated_time"], "id": row["id"]} for row in rows[5:7]]


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        (73, IndexError, "range"),
        (-74, IndexError, "range"),
        ("nmae", KeyError, "no column 'nmae'; there are id, pool_id, allocated_time"),
        (["id", "x"], KeyError, "no column 'x'"),
        (slice(0, 10, 2), ValueError, "no step"),
        (1.5, TypeError, "float"),
    ],
)
def test_what_a_table_does_not_have_is_refused(table: da.Table, key: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        table[key]


def test_rows_of_several_batches_are_sliced_across_them(sandbox: da.Sandbox) -> None:
    table = sandbox.client().scan_codes(["id"], allocated_time=da.days("2024-01-14", "2024-01-17")).collect()
    ids = table["id"]
    assert len(ids) == 215
    for start in (0, 60, 71, 72, 140, 200):
        assert table[start : start + 20]["id"] == ids[start : start + 20]


def test_a_table_is_written_to_parquet(table: da.Table, tmp_path: Path) -> None:
    table.to_parquet(tmp_path / "codes.parquet")
    assert pl.read_parquet(tmp_path / "codes.parquet").equals(table.to_polars())
    with pytest.raises(da.FileError, match="make its folder"):
        table.to_parquet(tmp_path / "no" / "codes.parquet")
    with pytest.raises(da.ValidationError, match="write to_csv, or another suffix"):
        table.to_parquet(tmp_path / "codes.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["codes.parquet"]
    table.to_parquet(tmp_path.as_uri() + "/private.parquet", private=True)
    assert (tmp_path / "private.parquet").stat().st_mode & 0o077 == 0 or os.name == "nt"
