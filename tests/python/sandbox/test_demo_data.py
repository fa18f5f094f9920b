"""Demo data of any days: the same rows of a day everywhere, statuses that move, days that are added."""

from __future__ import annotations

import hashlib
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da

ATTRS = [
    "id", "name", "pool_id", "date_created", "allocated_time", "allocated_audience", "audience_type", "code_status",
    "last_used_source", "last_used_time", "channel_id",
]  # fmt: skip
ALL = da.after("2000-01-01")
NOON = "2026-05-20T12:00:00"
# Of all rows with an allocated_time as they were when the demo data was January and February 2024 alone.
DIGEST = "8252b2f0517f9c49ca4117f0abdddef5c91eb07125b9ed049107f4c1169f5988"


def rows_of(sandbox: da.Sandbox, time: Any = ALL) -> list[dict[str, Any]]:
    return sandbox.client().search_codes(ATTRS, allocated_time=time)


def test_the_days_up_to_the_leap_day_have_the_rows_that_they_always_had() -> None:
    with da.Sandbox.demo(until=date(2024, 2, 29)) as sandbox:
        rows = rows_of(sandbox)
    assert len(rows) == 4213
    assert hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest() == DIGEST


@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")
def test_the_address_chooses_the_days(monkeypatch: pytest.MonkeyPatch) -> None:
    fixed, others = da.Client("sandbox:demo?until=2024-02-29"), da.Client("sandbox:demo?until=2024-03-01")
    assert len(fixed.search_codes(allocated_time=ALL)) == 4213
    assert fixed.search_codes(allocated_time=da.on("2024-03-01")) == []
    assert len(others.search_codes(allocated_time=da.on("2024-03-01"))) > 60
    assert fixed.base_url == da.Client("sandbox:demo?until=2024-02-29").base_url != others.base_url
    assert len(da.Client("sandbox:demo").search_codes(allocated_time=da.yesterday())) > 60
    monkeypatch.setenv("DATAACCESS_BASE_URL", "sandbox:demo?until=2024-02-29")
    assert len(da.search_codes(allocated_time=da.on("2024-01-15"))) == 73
    assert fixed.is_sandbox
    assert repr(fixed) == "Client('sandbox:demo?until=2024-02-29', token from the sandbox)"


def test_rows_of_the_user_stay_and_removed_ones_do_not_return() -> None:
    with da.Sandbox.demo(now=NOON) as sandbox:
        sent = next(row for row in rows_of(sandbox, da.on("2026-05-19")) if row["code_status"] == 3)
        mine = {**sent, "name": "mine"}
        sandbox.load("promotion_code", [mine], replace=True)
        sandbox.advance(days=20)
        assert mine in rows_of(sandbox)
        sandbox.clear("promotion_code")
        sandbox.advance(days=20)
        assert rows_of(sandbox) == []


TOML = """
now = 2024-03-01T02:00:00Z
demo = { export_seconds = 3600 }

[[seeds]]
object = "store"
item_type_id = 7
attributes = { store_id = "string", area = "float64", opened = "timestamp" }
rows = [{ store_id = "s-1", area = 2.5, opened = 2024-01-15T08:00:00 }]

[[seeds]]
object = "customer"
rows = [{ customer_id = "mine" }]

[[exports]]
export_id = 7001
entries = [
    { delay = 0, seconds = 60, rows = 5, succeeds = true },
    { delay = 0, seconds = 3600, rows = 0, succeeds = false },
]

"""
STORE = {"object": "store", "item_type_id": 7, "attributes": {"store_id": "string"}, "rows": [{"store_id": "s-1"}]}


def test_a_file_of_toml_has_rows_times_and_exports(tmp_path: Path) -> None:
    path = tmp_path / "night.toml"
    path.write_text(TOML, encoding="utf-8")
    with da.Sandbox.scenario(path) as sandbox:
        client = sandbox.client()
        stores = client.search_items("store", ["area", "opened"], da.col("store_id").equals("s-1"), item_type_id=7)
        assert stores == [{"area": 2.5, "opened": "2024-01-15 08:00:00"}]
        assert client.download_segment(5637053)["entries"][0]["exportedRows"] is None
        assert client.search_items("customer", ["customer_id"], da.col("customer_id").equals("mine"))

        assert [entry["exportedRows"] for entry in client.download_segment(7001)["entries"]] == [None, None]
        sandbox.advance(60)
        first, second = client.download_segment(7001)["entries"]
        assert (first["exportedRows"], second["exportedRows"]) == (5, None)
        sandbox.advance(3600)
        assert client.download_segment(7001)["entries"][1]["responseCode"] != 200


def test_a_file_of_json_has_no_demo_data_and_customers_of_other_attributes(tmp_path: Path) -> None:
    path = tmp_path / "night.json"
    people = {"object": "customer", "attributes": {"customer_id": "string", "age": "int64"}}
    content = {"seeds": [STORE, {**people, "rows": [{"customer_id": "17", "age": 36}]}]}
    path.write_text(json.dumps(content), encoding="utf-8-sig")
    with da.Sandbox.scenario(path, token="my-own-token-0123456789") as sandbox:
        client = da.Client(sandbox.base_url, token="my-own-token-0123456789")
        assert client.search_items("store", ["store_id"], da.col("store_id").equals("s-1"), item_type_id=7)
        assert client.search_items("customer", ["age"], da.col("customer_id").equals("17")) == [{"age": 36}]
        assert client.search_codes(allocated_time=da.after("2000-01-01")) == []


def test_a_platform_is_a_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "platform.toml").write_text("[switches]\nmaximum_rows = 3\n", encoding="utf-8")
    path = tmp_path / "night.json"
    path.write_text(json.dumps({"platform": "platform.toml"}), encoding="utf-8")
    with da.Sandbox.scenario(path) as sandbox:
        assert sandbox._control.call("GET", "/switches")["maximum_rows"] == 3


def test_a_reset_comes_back_to_the_scenario(tmp_path: Path) -> None:
    path = tmp_path / "night.json"
    path.write_text(json.dumps({"seeds": [STORE], "faults": [{"kind": "status", "status": 418}]}), encoding="utf-8")
    with da.Sandbox.scenario(path) as sandbox:
        sandbox.clear("store")
        sandbox._control.call("DELETE", "/faults")
        sandbox.reset()
        with pytest.raises(da.ApiError, check=lambda error: error.status == 418):
            sandbox.client().search_codes(allocated_time=da.on("2024-01-15"))
        sandbox._control.call("DELETE", "/faults")
        client = sandbox.client()
        assert client.search_items("store", ["store_id"], da.col("store_id").equals("s-1"), item_type_id=7)
