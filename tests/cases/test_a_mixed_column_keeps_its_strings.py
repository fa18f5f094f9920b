"""Among strings, another value becomes its JSON text; no string gets quotes.

Source: a trial of notebooks.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest
from support.raw_server import always, http, serving

import dataaccess as da

VALUES: list[Any] = ["C01", 7, None, {"a": [1, " b"]}, True, 1.50, "7"]
TEXTS = ["C01", "7", None, '{"a": [1, " b"]}', "true", "1.5", "7"]


def body(*records: dict[str, Any]) -> dict[str, Any]:
    return {"code": 200, "message": "", "data": {"status": True, "data": list(records)}}


def texts(values: list[Any]) -> list[Any]:
    """Without the blanks of nested values, which no form need keep."""
    return [text and text.replace(": ", ":").replace("[1, ", "[1,") for text in values]


def jsonl(scan: da.Scan, folder: Path) -> list[Any]:
    scan.to_jsonl(folder / "x.jsonl")
    return [json.loads(line)["x"] for line in (folder / "x.jsonl").read_text().splitlines()]


def csv(scan: da.Scan, folder: Path) -> list[Any]:
    scan.to_csv(folder / "x.csv")
    return [text or None for text in pl.read_csv(folder / "x.csv", infer_schema=False)["x"].to_list()]


def parquet(scan: da.Scan, folder: Path) -> list[Any]:
    scan.to_parquet(folder / "x.parquet")
    return list(pq.read_table(folder / "x.parquet")["x"].to_pylist())


def folder(scan: da.Scan, folder: Path) -> list[Any]:
    scan.to_folder(folder / "f")
    return list(scan.read_folder(folder / "f").to_arrow()["x"].to_pylist())


def in_duckdb(scan: da.Scan, _folder: Path) -> list[Any]:
    relation = duckdb.from_arrow(scan)
    return [row[0] for row in relation.fetchall()]


FORMS: dict[str, Callable[[da.Scan, Path], list[Any]]] = {
    "arrow": lambda scan, _: scan.to_arrow()["x"].to_pylist(),
    "pandas": lambda scan, _: scan.to_pandas()["x"].astype(object).where(scan.to_pandas()["x"].notna(), None).to_list(),
    "polars": lambda scan, _: scan.to_polars()["x"].to_list(),
    "lazy": lambda scan, _: scan.to_lazyframe().collect()["x"].to_list(),
    "batches": lambda scan, _: [value for batch in scan.batches() for value in batch.to_arrow()["x"].to_pylist()],
    "csv": csv,
    "parquet": parquet,
    "folder": folder,
    "duckdb": in_duckdb,
}


@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("item_type", ["store", "customer"])
def test_strings_stay_as_they_are(form: str, item_type: str, tmp_path: Path) -> None:
    with serving(always(http(body(*({"x": value} for value in VALUES))))) as server:
        client = da.Client(server.base_url, token="t", item_types={"store": 7}, timezone="UTC")
        scan = client.scan_items(item_type, ["x"], da.col("y").equals("1"))
        assert texts(FORMS[form](scan, tmp_path)) == texts(TEXTS)


def test_only_a_schema_quotes() -> None:
    with serving(always(http(body({"x": "C01"}, {"x": 7})))) as server:
        client = da.Client(server.base_url, token="t", item_types={"store": 7}, timezone="UTC")
        scan = client.scan_items("store", ["x"], da.col("y").equals("1"), schema={"x": "json"})
        assert scan.to_arrow()["x"].to_pylist() == ['"C01"', "7"]
