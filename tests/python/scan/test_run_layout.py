"""The names of the files of a run, and the libraries that read its folder as one dataset."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow.dataset
import pytest
from support.parts import in_parts
from support.runs import (
    DAYS,
    HIDDEN,
    ROWS_OF_DAYS,
    by_day,
    by_value,
    left_in,
    parts,
    responding,
    rows_in,
)
from support.streams import response_of

import dataaccess as da


def names(folder: Path) -> list[str]:
    return [str(part.relative_to(folder)) for part in parts(folder)]


def test_the_files_of_a_scan_by_days_are_named_by_day(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    by_day(connect(service)).to_folder(tmp_path)
    assert names(tmp_path) == [f"day=2024-01-0{day}/part-0.parquet" for day in range(1, 9)]
    # Empty, as polars reads hidden files that are not.
    assert left_in(tmp_path) == [f"{HIDDEN}/lock"]
    assert (tmp_path / HIDDEN / "lock").read_bytes() == b""


def test_several_requests_of_a_day_are_its_parts(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    scan = in_parts(2, by_day, connect(service), allocated_audience=["holder-1", "holder-2", "holder-4"])
    report = scan.to_folder(tmp_path)
    assert names(tmp_path) == [f"day=2024-01-0{day}/part-{part}.parquet" for day in range(1, 9) for part in range(2)]
    assert [task.day for task in report.files] == [f"2024-01-0{day}" for day in range(1, 9) for _ in range(2)]
    assert rows_in(tmp_path) == scan.read_folder(tmp_path).to_polars().to_dicts() == scan.to_polars().to_dicts()


def test_days_of_any_object_name_its_files(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    service.declare("visit", 7, {"id": "string", "at": "datetime", "area": "string"})
    rows = [{"id": str(n), "at": f"2024-01-0{n % 3 + 1} 10:00:00", "area": "a" if n % 2 else "b"} for n in range(9)]
    service.load("visit", rows, replace=True)
    where = da.col("at").on(da.days("2024-01-01", "2024-01-04")) & da.col("area").matches(["a"])
    scan = connect(service).scan_items("visit", ["id", "at"], where, item_type_id=7)
    scan.to_folder(tmp_path)
    assert names(tmp_path) == [f"day=2024-01-0{day}/part-0.parquet" for day in range(1, 4)]
    assert sorted(row["id"] for row in rows_in(tmp_path)) == ["1", "3", "5", "7"]


def test_the_day_is_that_of_the_clients_zone(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    for zone in ("Pacific/Kiritimati", "America/Los_Angeles"):
        client = connect(service, timezone=zone)
        client.scan_codes(["id"], allocated_time=da.on("2024-01-02")).to_folder(tmp_path / zone)
        assert names(tmp_path / zone) == ["day=2024-01-02/part-0.parquet"]


def test_the_files_of_other_scans_are_numbered(connect: Any, tmp_path: Path) -> None:
    values = [str(number) for number in range(12)]
    with responding(
        lambda connection, value, _: connection.sendall(response_of([{"n": int(value), "text": "x"}]))
    ) as server:
        report = by_value(connect(server.base_url), values).to_folder(tmp_path)
    assert names(tmp_path) == [f"part-{number:05}.parquet" for number in range(12)]
    assert {task.day for task in report.files} == {None}
    assert pl.read_parquet(tmp_path)["n"].to_list() == list(range(12))


@pytest.fixture(scope="module")
def folder(store: da.Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of eight days, of which one has no rows."""
    path = tmp_path_factory.mktemp("codes")
    store.client().scan_codes(allocated_time=DAYS).to_folder(path)
    return path


ROWS_BY_DAY = {date(2024, 1, day): rows for day, rows in enumerate(ROWS_OF_DAYS, 1) if rows}


@pytest.mark.parametrize("read", [pl.read_parquet, lambda path: pl.scan_parquet(path).collect()])
def test_polars_reads_the_folder(folder: Path, store: da.Sandbox, read: Any) -> None:
    frame = read(folder)
    assert frame.drop("day").equals(by_day(store.client()).to_polars())
    assert dict(frame.group_by("day").len().iter_rows()) == ROWS_BY_DAY


def test_pandas_reads_the_folder(folder: Path, store: da.Sandbox) -> None:
    frame = pd.read_parquet(folder, dtype_backend="pyarrow")
    expected = by_day(store.client()).to_pandas(dtype_backend="pyarrow")
    pd.testing.assert_frame_equal(frame.drop(columns="day"), expected)
    counts = frame.groupby("day", observed=True).size()
    assert {date.fromisoformat(str(day)): rows for day, rows in counts.items() if rows} == ROWS_BY_DAY


def test_pyarrow_reads_the_folder(folder: Path, store: da.Sandbox) -> None:
    table = pyarrow.dataset.dataset(folder, partitioning="hive").to_table()
    assert table.drop_columns("day").equals(by_day(store.client()).to_arrow())
    one = pyarrow.dataset.dataset(folder, partitioning="hive").to_table(
        filter=pyarrow.dataset.field("day") == "2024-01-02"
    )
    assert one.num_rows == 41


@pytest.mark.parametrize("pattern", ["", "/*/*.parquet", "/**/*.parquet"])
def test_duckdb_reads_the_folder(folder: Path, pattern: str) -> None:
    statement = "select day, count(*) from read_parquet(?) group by day"
    found = duckdb.connect().execute(statement, [f"{folder}{pattern}"]).fetchall()
    assert dict(found) == ROWS_BY_DAY


def test_a_day_without_rows_has_a_file_of_all_columns(folder: Path) -> None:
    empty = folder / "day=2024-01-04/part-0.parquet"
    assert pl.read_parquet(empty).shape == (0, 10)
    assert pl.read_parquet_schema(empty) == pl.read_parquet_schema(parts(folder)[0])


def test_no_file_of_a_run_has_the_values_of_its_conditions(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    scan = in_parts(
        1,
        connect(service).scan_codes,
        ["id", "pool_id"],
        allocated_time=DAYS,
        allocated_audience=["holder-1", "holder-4"],
    )
    assert scan.to_folder(tmp_path).rows > 0
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    content = b"".join(path.read_bytes() for path in files)
    # The footers have the fields of conditions, and a digest of their values.
    assert b"allocated_audience" in content
    assert b"holder-" not in content
    assert not [path for path in files if "holder" in str(path.relative_to(tmp_path))]
