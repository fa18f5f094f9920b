"""A table is read by its parts: first rows, slices, columns, a row; and written into files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.arguments import about
from support.raw_server import always, serving
from support.streams import response_of

import dataaccess as da


@pytest.fixture(scope="module")
def table() -> da.Table:
    """The rows of a day."""
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        scan = sandbox.client().scan_codes(["id", "pool_id", "allocated_time"], allocated_time=da.on("2024-01-15"))
        return scan.collect()


def test_the_first_rows(table: da.Table) -> None:
    rows = table.to_pylist()
    assert table.head(3).to_pylist() == rows[:3]
    assert table.head(1000).to_pylist() == rows
    assert table.head(0).schema == table.schema
    with pytest.raises(da.ValidationError, check=about("n")):
        table.head(-1)


@pytest.mark.parametrize("part", [slice(None), slice(10, 20), slice(-5, None), slice(20, 10), slice(70, 900)])
def test_a_slice_is_a_table_of_these_rows(table: da.Table, part: slice) -> None:
    assert table[part].to_pylist() == table.to_pylist()[part]
    assert table[part].to_polars().to_dicts() == table.to_polars()[part].to_dicts()


def test_a_table_is_not_iterated_over_so_that_no_frame_is_made_of_dicts(table: da.Table) -> None:
    for use in (list, pd.DataFrame):
        with pytest.raises(TypeError, match=r"table\.to_pandas\(\) .*\btable\.to_pylist\(\)"):
            use(table)


def test_a_row_and_a_column_have_the_values_of_the_list(table: da.Table) -> None:
    rows = table.to_pylist()
    assert (table[0], table[-1], table[72]) == (rows[0], rows[-1], rows[72])
    assert table["allocated_time"] == [row["allocated_time"] for row in rows]
    chosen = table[["allocated_time", "id"]]
    assert chosen.column_names == ["allocated_time", "id"]
    assert chosen[5:7].to_pylist() == [{"allocated_time": row["allocated_time"], "id": row["id"]} for row in rows[5:7]]


@pytest.mark.parametrize(
    ("key", "error", "named"),
    [
        (73, IndexError, "range"),
        (-74, IndexError, "range"),
        ("nmae", KeyError, "'nmae'.* id, pool_id, allocated_time"),
        (["id", "x"], KeyError, "'x'"),
        (slice(0, 10, 2), ValueError, "step"),
        (1.5, TypeError, "float"),
    ],
)
def test_what_a_table_does_not_have_is_refused(table: da.Table, key: Any, error: Any, named: str) -> None:
    with pytest.raises(error, match=named):
        table[key]


def test_rows_of_several_batches_are_sliced_across_them(sandbox: da.Sandbox) -> None:
    table = sandbox.client().scan_codes(["id"], allocated_time=da.days("2024-01-14", "2024-01-17")).collect()
    ids = table["id"]
    assert len(ids) == 215
    for start in (0, 60, 71, 72, 140, 200):
        assert table[start : start + 20]["id"] == ids[start : start + 20]


def test_values_of_each_type_are_written(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"a": '=x;"\n', "b": 2**53 + 1, "c": 0.1, "d": True, "e": "2024-01-15 10:00:00", "f": {"k": [1, None]}},
        {"a": None, "b": None, "c": None, "d": None, "e": None, "f": None},
        {"a": "夏", "b": -(2**63), "c": -1e300, "d": False, "e": "2024-01-15 10:00:00.250", "f": "x"},
    ]
    types: Any = {"a": "string", "b": "int64", "c": "float64", "d": "bool", "e": "timestamp", "f": "json"}
    with serving(always(response_of(rows))) as server:
        client = da.Client(server.base_url, token="tok", item_types={"store": 7})
        scan = client.scan_items("store", list(types), schema=types)
        scan.to_jsonl(tmp_path / "a.jsonl")
        table = scan.collect()
    lines = (tmp_path / "a.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    assert [json.loads(line) for line in lines] == rows == table.to_dicts()


def test_times_in_a_zone_have_its_offset_in_text_files(sandbox: da.Sandbox, tmp_path: Path) -> None:
    scan = sandbox.client().scan_codes(["allocated_time"], allocated_time=da.on("2024-01-15"))
    table = scan.collect(tz="Asia/Ho_Chi_Minh")
    scan.to_csv(tmp_path / "a.csv", tz="Asia/Ho_Chi_Minh")
    scan.to_jsonl(tmp_path / "a.jsonl", tz="Asia/Ho_Chi_Minh")
    times = [row["allocated_time"] for row in table.to_dicts()]
    assert times[0].endswith("+07:00")
    assert (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines() == ["allocated_time", *times]
    lines = (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["allocated_time"] for line in lines] == times


def test_a_table_has_plain_values_and_columns(table: da.Table) -> None:
    assert table.column_names == ["id", "pool_id", "allocated_time"]
    assert json.loads(json.dumps(table.to_dicts())) == table.to_dicts()
    assert [row["allocated_time"] for row in table.to_dicts()] == [str(time) for time in table["allocated_time"]]
