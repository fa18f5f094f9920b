"""A time of a zone whose offset had seconds is the same instant in frames, dicts, CSV and JSON lines.

Source: the IANA time zone database, Asia/Ho_Chi_Minh before 1906; ISO 8601 has no seconds in an offset.
"""

from __future__ import annotations

import csv
import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da

ROWS = [{"t": "1900-01-01 00:00:00"}, {"t": "1870-06-01 12:00:00.5"}]


@pytest.mark.parametrize("zone", ["Asia/Ho_Chi_Minh", "America/New_York", "Europe/Amsterdam", "Africa/Monrovia", "UTC"])
def test_one_instant(client_of: Any, zone: str, tmp_path: Path) -> None:
    scan = client_of(ROWS, timezone=zone).scan_items("store", ["t"], da.col("y").equals("1"), schema={"t": "timestamp"})
    scan.to_csv(tmp_path / "t.csv")
    scan.to_jsonl(tmp_path / "t.jsonl")
    with (tmp_path / "t.csv").open() as file:
        texts = {"csv": [row["t"] for row in csv.DictReader(file)]}
    texts["jsonl"] = [json.loads(line)["t"] for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    texts["dicts"] = [row["t"] for row in scan.collect().to_dicts()]
    instants = [value.as_py().astimezone(dt.UTC) for value in scan.to_arrow()["t"]]
    assert [value.to_pydatetime().astimezone(dt.UTC) for value in scan.to_pandas()["t"]] == instants
    for form, values in texts.items():
        assert [dt.datetime.fromisoformat(value).astimezone(dt.UTC) for value in values] == instants, form
