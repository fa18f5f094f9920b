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
from support.raw_server import always, http, serving

import dataaccess as da

BODY = {
    "code": 200,
    "message": "",
    "data": {"status": True, "data": [{"t": "1900-01-01 00:00:00"}, {"t": "1870-06-01 12:00:00.5"}]},
}


@pytest.mark.parametrize("zone", ["Asia/Ho_Chi_Minh", "America/New_York", "Europe/Amsterdam", "Africa/Monrovia", "UTC"])
def test_one_instant(zone: str, tmp_path: Path) -> None:
    with serving(always(http(BODY))) as server:
        client = da.Client(server.base_url, token="t", item_types={"store": 7}, timezone=zone)
        scan = client.scan_items("store", ["t"], da.col("y").equals("1"), schema={"t": "timestamp"})
        table = scan.collect()
        instants = [value.as_py().astimezone(dt.UTC) for value in table.to_arrow()["t"]]
        assert [value.to_pydatetime().astimezone(dt.UTC) for value in scan.to_pandas()["t"]] == instants
        forms: dict[str, list[Any]] = {"dicts": [row["t"] for row in table.to_dicts()]}
        scan.to_csv(tmp_path / "t.csv")
        with (tmp_path / "t.csv").open() as file:
            forms["csv"] = [row["t"] for row in csv.DictReader(file)]
        scan.to_jsonl(tmp_path / "t.jsonl")
        forms["jsonl"] = [json.loads(line)["t"] for line in (tmp_path / "t.jsonl").read_text().splitlines()]
        for form, values in forms.items():
            assert [dt.datetime.fromisoformat(value).astimezone(dt.UTC) for value in values] == instants, form
