"""The program of `docs/spark.md`: a second load keeps the days of the first, and days are those of the requests."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(400)
def test_loads_of_other_days_stay_and_a_day_is_replaced(
    spark: Any, client: da.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The program ends the session, which other tests need.
    monkeypatch.setattr(type(spark), "stop", lambda _self: None)

    def load(start: str, stop: str) -> dict[str, int]:
        monkeypatch.setattr(sys, "argv", ["spark_codes.py", start, stop, str(tmp_path / "codes")])
        runpy.run_path(str(ROOT / "examples" / "recipes" / "spark_codes.py"))
        rows = spark.read.parquet(str(tmp_path / "codes")).groupBy("day").count().collect()
        return {str(row.day): row["count"] for row in rows}

    january = load("2024-01-25", "2024-02-01")
    assert len(january) == 7
    both = load("2024-02-01", "2024-02-05")
    assert {day: rows for day, rows in both.items() if day < "2024-02"} == january
    assert sorted(set(both) - set(january)) == [f"2024-02-0{day}" for day in range(1, 5)]
    # The session is seven hours ahead; the days are UTC's, as the client cuts them.
    for day, rows in both.items():
        assert rows == len(client.search_codes(["id"], allocated_time=da.on(day)))
    assert load("2024-01-31", "2024-02-02") == both
