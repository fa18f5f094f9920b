"""A column of strings with other values is named once in the warnings of the result.

Source: a trial of notebooks.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.raw_server import always, http, serving

import dataaccess as da


def body(*records: dict[str, Any]) -> dict[str, Any]:
    return {"code": 200, "message": "", "data": {"status": True, "data": list(records)}}


MIXED = body({"x": "a", "y": 1, "z": "b"}, {"x": 7, "y": 2, "z": "c"}, {"x": 8, "y": 3, "z": "d"})


@pytest.mark.parametrize("use", ["collect", "batches", "to_lazyframe", "to_parquet", "to_folder"])
def test_a_mixed_column_is_named_once(use: str, tmp_path: Path) -> None:
    with serving(always(http(MIXED))) as server:
        client = da.Client(server.base_url, token="t", item_types={"store": 7}, timezone="UTC")
        scan = client.scan_items("store", ["x", "y", "z"], da.col("y").equals("1"))
        uses: dict[str, Callable[[], Any]] = {
            "collect": scan.collect,
            "batches": lambda: list(scan.batches()),
            "to_lazyframe": lambda: scan.to_lazyframe().collect(),
            "to_parquet": lambda: scan.to_parquet(tmp_path / "x.parquet"),
            "to_folder": lambda: scan.to_folder(tmp_path),
        }
        with pytest.warns(da.DataAccessWarning) as caught:
            report = uses[use]()
        assert len([warning for warning in caught if "'x'" in str(warning.message)]) == 1
        if use == "to_folder":
            warnings = [str(warning) for warning in report.warnings]
        else:
            stats = scan.last_stats
            assert stats is not None
            warnings = stats.warnings
        assert len([text for text in warnings if "'x'" in text]) == 1
        assert not [text for text in warnings if "'y'" in text or "'z'" in text]
        if use == "to_folder":
            with pytest.warns(da.DataAccessWarning):
                read = scan.read_folder(tmp_path)
            assert [text for text in read.stats.warnings if "'x'" in text]


@pytest.mark.parametrize("schema", [{"x": "string"}, {"x": "json"}])
def test_a_declared_column_is_not_named(schema: Any) -> None:
    with serving(always(http(MIXED))) as server:
        client = da.Client(server.base_url, token="t", item_types={"store": 7}, timezone="UTC")
        scan = client.scan_items("store", ["x"], da.col("y").equals("1"), schema=schema)
        scan.collect()
        assert scan.last_stats is not None
        assert scan.last_stats.warnings == []
