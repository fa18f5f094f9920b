"""Among strings, another value becomes its JSON text without quotes; the column is named once in the warnings.

Source: a trial of notebooks.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import dataaccess as da

VALUES: list[Any] = ["C01", 7, None, {"a": [1, " b"]}, True, 1.50, "7"]
TEXTS = ["C01", "7", None, '{"a":[1," b"]}', "true", "1.5", "7"]
RECORDS = [{"x": value, "y": number} for number, value in enumerate(VALUES)]


FORMS: dict[str, Callable[[Any, Path], list[Any]]] = {
    "collect": lambda scan, _: scan.to_arrow()["x"].to_pylist(),
    "pandas": lambda scan, _: [text if isinstance(text, str) else None for text in scan.to_pandas()["x"]],
    "lazy": lambda scan, _: scan.to_lazyframe().collect()["x"].to_list(),
    "batches": lambda scan, _: [value for batch in scan.batches() for value in batch.to_arrow()["x"].to_pylist()],
    "csv": lambda scan, path: (scan.to_csv(path / "x"), pl.read_csv(path / "x", infer_schema=False)["x"].to_list())[1],
    "parquet": lambda scan, path: (scan.to_parquet(path / "x"), pl.read_parquet(path / "x")["x"].to_list())[1],
    "folder": lambda scan, path: (scan.to_folder(path), pl.read_parquet(path)["x"].to_list())[1],
    "duckdb": lambda scan, _: [row[0] for row in duckdb.from_arrow(scan).select("x").fetchall()],
}


@pytest.mark.filterwarnings("always::dataaccess.DataAccessWarning")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("item_type", ["store", "customer"])
def test_strings_stay_as_they_are(client_of: Any, form: str, item_type: str, tmp_path: Path, recwarn: Any) -> None:
    scan = client_of(RECORDS).scan_items(item_type, ["x", "y"], da.col("y").equals("1"))
    found = FORMS[form](scan, tmp_path)
    assert [text and text.replace(": ", ":").replace(", ", ",") for text in found] == TEXTS
    named = [str(warning.message) for warning in recwarn if "'x'" in str(warning.message)]
    assert len(named) == (form != "duckdb")
    assert not [warning for warning in recwarn if "'y'" in str(warning.message)]


@pytest.mark.parametrize("kind", ["string", "json"])
def test_a_declared_column_is_not_named_and_only_json_quotes(client_of: Any, kind: Any) -> None:
    scan = client_of(RECORDS[:2]).scan_items("store", ["x"], da.col("y").equals("1"), schema={"x": kind})
    assert scan.to_arrow()["x"].to_pylist() == (['"C01"', "7"] if kind == "json" else ["C01", "7"])
    assert scan.last_stats.warnings == []
