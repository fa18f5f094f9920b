"""Statuses are numbers; `scan_codes(decode_status=True)` gives names in frames and files, and numbers in dicts.

Source: a trial of notebooks.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dataaccess as da

DAY = da.on("2024-01-15")
COLUMNS = ["id", "code_status", "audience_type"]
DICTS: dict[str, Callable[[da.Scan], Any]] = {
    "scan.to_dicts": lambda scan: scan.to_dicts(),
    "table.to_dicts": lambda scan: scan.collect().to_dicts(),
    "table.to_pylist": lambda scan: scan.collect().to_pylist(),
    "rows of a table": lambda scan: [scan.collect()[row] for row in range(scan.count())],
    "iter_rows": lambda scan: list(scan.iter_rows()),
    "batches": lambda scan: [row for batch in scan.batches() for row in batch.to_dicts()],
}


def lines(scan: da.Scan, path: Path) -> list[Any]:
    scan.to_jsonl(path)
    return [json.loads(line)["code_status"] for line in path.read_text(encoding="utf-8").splitlines()]


FORMS: dict[str, Callable[[Any, Path], Any]] = {
    "table": lambda scan, _: scan.collect()["code_status"],
    "pandas": lambda scan, _: scan.to_pandas()["code_status"].tolist(),
    "polars": lambda scan, _: scan.to_polars()["code_status"].to_list(),
    "arrow": lambda scan, _: scan.to_arrow()["code_status"].to_pylist(),
    "query": lambda scan, _: scan.to_lazyframe().collect()["code_status"].to_list(),
    "csv": lambda scan, path: (scan.to_csv(path), pl.read_csv(path)["code_status"].to_list())[1],
    "parquet": lambda scan, path: (scan.to_parquet(path), pl.read_parquet(path)["code_status"].to_list())[1],
    "lines": lines,
    "folder": lambda scan, path: (scan.to_folder(path), scan.read_folder(path)["code_status"])[1],
}


@pytest.mark.parametrize("decode", [False, True])
def test_dicts_have_numbers_and_columns_what_the_scan_asks_for(
    sandbox: da.Sandbox, tmp_path: Path, decode: bool
) -> None:
    scan = sandbox.client().scan_codes(COLUMNS, allocated_time=DAY, decode_status=decode)
    expected = sandbox.client().search_codes(COLUMNS, allocated_time=DAY)
    for form, dicts in DICTS.items():
        assert dicts(scan) == expected, form
    numbers = [row["code_status"] for row in expected]
    values = [da.CodeStatus(number).name.lower() for number in numbers] if decode else numbers
    for form, column in FORMS.items():
        assert list(column(scan, tmp_path / form)) == values, form
    assert ("used" in str(scan.collect())) == decode


@pytest.mark.parametrize("make", [da.Client, da.AsyncClient])
def test_the_client_has_no_such_setting(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError):
        make("https://cdp.example.com", token="t", decode_status=True)
    monkeypatch.setenv("DATAACCESS_DECODE_STATUS", "true")
    with pytest.warns(da.DataAccessWarning, match="DATAACCESS_DECODE_STATUS"):
        make("https://cdp.example.com", token="t")
