"""`tz=`: timestamp columns in a time zone, the same instants in every library."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.arguments import about

import dataaccess as da

BERLIN = "Europe/Berlin"
# One in winter, one in summer, one that the clocks of Berlin show twice.
TIMES = ["2024-01-15 23:30:00", "2024-07-01 22:30:00", "2024-10-27 01:15:00", None]
SHOWN = ["2024-01-16T00:30:00+01:00", "2024-07-02T00:30:00+02:00", "2024-10-27T02:15:00+01:00", None]


@pytest.fixture(scope="module")
def service() -> Any:
    with da.Sandbox() as sandbox:
        sandbox.declare("visit", 7, {"visit_id": "string", "time": "datetime", "note": "string"})
        rows = [{"visit_id": str(number), "time": time, "note": "x"} for number, time in enumerate(TIMES)]
        sandbox.load("visit", rows)
        yield sandbox


@pytest.fixture
def scan(connect: Any, service: da.Sandbox) -> Any:
    return connect(service).scan_items("visit", ["time", "note"], item_type_id=7, schema={"time": "timestamp"})


def iso(times: Any) -> list[str | None]:
    return [None if time is None or pd.isna(time) else time.isoformat() for time in times]


FORMS: dict[str, Callable[..., Any]] = {
    "to_pandas": lambda scan, **zone: scan.to_pandas(**zone)["time"].tolist(),
    "to_pandas-pyarrow": lambda scan, **zone: scan.to_pandas("pyarrow", **zone)["time"].tolist(),
    "to_polars": lambda scan, **zone: scan.to_polars(**zone)["time"].to_list(),
    "to_arrow": lambda scan, **zone: scan.to_arrow(**zone)["time"].to_pylist(),
    "collect": lambda scan, **zone: scan.collect(**zone)["time"],
    "head": lambda scan, **zone: [row["time"] for row in scan.head(4, **zone).to_pylist()],
    "batches": lambda scan, **zone: [row["time"] for batch in scan.batches(**zone) for row in batch.to_pylist()],
    "table-to_pandas": lambda scan, **zone: scan.collect(**zone).to_pandas()["time"].tolist(),
    "table-to_polars": lambda scan, **zone: scan.collect(**zone).to_polars()["time"].to_list(),
    "table-to_arrow": lambda scan, **zone: scan.collect(**zone).to_arrow()["time"].to_pylist(),
    "table-capsule": lambda scan, **zone: pl.DataFrame(scan.collect(**zone))["time"].to_list(),
    "batch-to_arrow": lambda scan, **zone: next(iter(scan.batches(**zone))).to_arrow()["time"].to_pylist(),
}


@pytest.mark.parametrize("name", FORMS)
def test_the_same_instants_come_in_every_form(scan: Any, name: str) -> None:
    assert iso(FORMS[name](scan, tz=BERLIN)) == SHOWN
    assert iso(FORMS[name](scan, tz=ZoneInfo(BERLIN))) == SHOWN
    assert iso(FORMS[name](scan, tz=dt.UTC)) == [time and f"{time.replace(' ', 'T')}+00:00" for time in TIMES]
    assert iso(FORMS[name](scan)) == [time and time.replace(" ", "T") for time in TIMES]


def test_the_types_name_the_zone(scan: Any) -> None:
    table = scan.collect(tz="europe/berlin")
    assert table.schema == {"time": "timestamp", "note": "string"}
    assert table.to_arrow().schema.field("time").type == pa.timestamp("us", BERLIN)
    assert table.to_polars().schema["time"] == pl.Datetime("us", BERLIN)
    assert str(table.to_pandas()["time"].dtype) == f"datetime64[us, {BERLIN}]"
    assert "2024-01-16 00:30:00+01:00" in str(table)
    assert table.stats.rows == len(TIMES)
    assert scan.collect().to_arrow().schema.field("time").type == pa.timestamp("us")


def test_what_a_run_wrote_is_read_in_a_zone(scan: Any, service: da.Sandbox, tmp_path: Path) -> None:
    scan.to_folder(tmp_path)
    service.clear_requests()
    for zone in (BERLIN, ZoneInfo(BERLIN)):
        assert iso(scan.read_folder(tmp_path, tz=zone)["time"]) == SHOWN
    assert iso(scan.read_folder(tmp_path).to_pandas()["time"]) == [time and time.replace(" ", "T") for time in TIMES]
    with pytest.raises(da.ValidationError, check=about("tz")):
        scan.read_folder(tmp_path, tz="Europe/Berlln")
    assert service.requests == []


def test_the_last_time_of_the_calendar_has_a_zone_too(tmp_path: Path) -> None:
    with da.Sandbox() as sandbox:
        sandbox.declare("visit", 7, {"visit_id": "string", "time": "datetime"})
        sandbox.load("visit", [{"visit_id": "1", "time": "9999-12-31 23:59:59"}])
        never = dt.datetime.fromisoformat("9999-12-31 23:59:59")
        for source, zone, shown in [
            ("UTC", "Asia/Ho_Chi_Minh", never.replace(tzinfo=dt.UTC)),
            ("Asia/Ho_Chi_Minh", "Asia/Ho_Chi_Minh", never.replace(tzinfo=ZoneInfo("Asia/Ho_Chi_Minh"))),
            ("America/New_York", None, never),
        ]:
            client = sandbox.client(source_timezone=source)
            scan = client.scan_items("visit", ["time"], item_type_id=7, schema={"time": "timestamp"})
            assert scan.collect(tz=zone)["time"] == [shown]
            scan.to_csv(tmp_path / "visits.csv", tz=zone)
            scan.to_jsonl(tmp_path / "visits.jsonl", tz=zone)
            written = (tmp_path / "visits.csv").read_text().split("\n")[1].strip('"')
            assert dt.datetime.fromisoformat(written) == shown
            assert json.loads((tmp_path / "visits.jsonl").read_text()) == {"time": written}


def test_frames_of_one_client_join(client: Any) -> None:
    scan = client.scan_codes(["id", "allocated_time"], allocated_time=da.on("2024-01-15"))
    left, right = scan.to_pandas(tz=client.timezone), scan.collect(tz=client.timezone).to_pandas()
    assert len(left.merge(right, on=["id", "allocated_time"])) == 73
    assert scan.to_polars(tz=client.timezone).join(pl.from_pandas(left), on="allocated_time").height >= 73


@pytest.mark.parametrize("bad", ["Europe/Berlln", "", 7, b"UTC", dt.timezone(dt.timedelta(hours=2))], ids=repr)
def test_a_zone_that_does_not_exist_is_refused_before_anything_is_sent(
    scan: Any, service: da.Sandbox, bad: Any
) -> None:
    service.clear_requests()
    for name in ("to_pandas", "to_polars", "to_arrow", "collect", "head", "batches"):
        with pytest.raises(da.ValidationError, check=about("tz")):
            FORMS[name](scan, tz=bad)
    assert service.requests == []
