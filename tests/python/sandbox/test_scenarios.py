"""Scenario files: what a team commits for a sandbox, in TOML and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dataaccess as da

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


# What the messages in tests/python/messages do not show: the content of a scenario, and the path in the error.
WRONG: list[tuple[object, str]] = [
    ({"colour": 1}, r"no key colour; there are demo, now, platform, switches, seeds, exports, faults$"),
    ({"demo": {"until": None}}, r"demo\.until must be a string or a date, not null"),
    ({"seeds": [STORE, 5]}, r"seeds\[1\] must be an object, not an integer"),
    ({"seeds": [STORE, {}]}, r"seeds\[1\]\.object is missing"),
    ({"seeds": [{**STORE, "item_type_id": True}]}, r"seeds\[0\]\.item_type_id must be an integer"),
    ({"seeds": [{**STORE, "rows": "stores.csv"}]}, r"seeds\[0\]\.rows must be an array, not a string"),
    ({"seeds": [{**STORE, "rows": [{}, 5]}]}, r"seeds\[0\]\.rows\[1\] must be an object, not an integer"),
    ({"seeds": [{**STORE, "attributes": {"store_id": "text"}}]}, r"seeds\[0\]: .*`store_id`.*`text`"),
    ({"faults": [{"kind": "status", "status": 503, "tmies": 2}]}, r"faults\[0\]: .*tmies"),
    ({"platform": "gone.toml"}, r": platform: .*gone\.toml cannot be read"),
]


@pytest.mark.parametrize(("content", "data"), WRONG, ids=[data for _, data in WRONG])
def test_what_is_wrong_is_reported_with_file_and_path(tmp_path: Path, content: object, data: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises((da.ConfigError, da.SandboxError), match=data) as caught:
        da.Sandbox.scenario(path)
    assert str(path) in str(caught.value)
