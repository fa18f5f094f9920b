"""Statuses are numbers; `scan_codes(decode_status=True)` alone gives names, in frames and files.

Source: a trial of notebooks
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

import dataaccess as da

DAY = da.on("2024-01-15")
COLUMNS = ["id", "code_status", "audience_type"]


def scans(sandbox: da.Sandbox) -> dict[str, Any]:
    client = sandbox.client()
    return {
        "numbers": client.scan_codes(COLUMNS, allocated_time=DAY),
        "names": client.scan_codes(COLUMNS, allocated_time=DAY, decode_status=True),
    }


def dicts(scan: Any) -> dict[str, list[dict[str, Any]]]:
    return {
        "scan.to_dicts": scan.to_dicts(),
        "table.to_dicts": scan.collect().to_dicts(),
        "table.to_pylist": scan.collect().to_pylist(),
        "rows of a table": [scan.collect()[row] for row in range(scan.count())],
        "iter_rows": list(scan.iter_rows()),
        "batches": [row for batch in scan.batches() for row in batch.to_dicts()],
    }


def columns(scan: Any, folder: Path) -> dict[str, list[Any]]:
    scan.to_csv(folder / "codes.csv")
    scan.to_parquet(folder / "codes.parquet")
    scan.to_jsonl(folder / "codes.jsonl")
    scan.to_folder(folder / "codes")
    lines = (folder / "codes.jsonl").read_text(encoding="utf-8").splitlines()
    return {
        "column of a table": scan.collect()["code_status"],
        "pandas": scan.to_pandas()["code_status"].tolist(),
        "polars": scan.to_polars()["code_status"].to_list(),
        "arrow": scan.to_arrow()["code_status"].to_pylist(),
        "query": scan.to_lazyframe().collect()["code_status"].to_list(),
        "csv": pd.read_csv(folder / "codes.csv")["code_status"].tolist(),
        "parquet": pq.read_table(folder / "codes.parquet")["code_status"].to_pylist(),
        "lines": [json.loads(line)["code_status"] for line in lines],
        "folder": scan.read_folder(folder / "codes").to_pandas()["code_status"].tolist(),
    }


@pytest.mark.parametrize("kind", ["numbers", "names"])
def test_dicts_have_numbers(sandbox: da.Sandbox, kind: str) -> None:
    expected = sandbox.client().search_codes(COLUMNS, allocated_time=DAY)
    assert {row["code_status"] for row in expected} <= {1, 3, 4}
    for form, rows in dicts(scans(sandbox)[kind]).items():
        assert rows == expected, form


def test_columns_have_what_the_scan_asks_for(sandbox: da.Sandbox, tmp_path: Path) -> None:
    numbers = [row["code_status"] for row in scans(sandbox)["numbers"].to_dicts()]
    names = [da.CodeStatus(number).name.lower() for number in numbers]
    for kind, expected in (("numbers", numbers), ("names", names)):
        (tmp_path / kind).mkdir()
        for form, values in columns(scans(sandbox)[kind], tmp_path / kind).items():
            assert values == expected, (kind, form)


def test_a_member_is_a_number_of_dicts_and_columns(sandbox: da.Sandbox) -> None:
    numbers, names = (scan.to_pandas()["code_status"] for scan in scans(sandbox).values())
    used = [
        (numbers == da.CodeStatus.USED).sum(),
        (names == "used").sum(),
        sum(row["code_status"] == da.CodeStatus.USED for row in scans(sandbox)["names"].to_dicts()),
        scans(sandbox)["names"].to_polars().filter(pl.col("code_status") == "used").height,
        scans(sandbox)["numbers"].to_polars().filter(pl.col("code_status") == 4).height,
    ]
    assert used[0] > 0
    assert used == used[:1] * 5


def test_a_display_of_names_shows_names(sandbox: da.Sandbox) -> None:
    table = scans(sandbox)["names"].collect()
    assert "used" in str(table)
    assert "used" in table._repr_html_()


@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")
@pytest.mark.parametrize("make", [da.Client, da.AsyncClient])
def test_the_client_has_no_such_setting(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "decode_status" not in inspect.signature(make).parameters
    with pytest.raises(TypeError, match="decode_status"):
        make("sandbox:demo", decode_status=True)
    client = make("sandbox:demo")
    assert "decode_status" not in client.settings
    with pytest.raises(TypeError):
        client.with_options(decode_status=True)
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://cdp.example.com")
    monkeypatch.setenv("DATAACCESS_TOKEN", "t")
    monkeypatch.setenv("DATAACCESS_DECODE_STATUS", "true")
    with pytest.warns(da.DataAccessWarning, match="DATAACCESS_DECODE_STATUS"):
        make()
