"""Scenario files: what a team commits for a sandbox, in TOML and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dataaccess as da

TOML = """
platform = "all-utc"
now = 2024-03-01T02:00:00Z
demo = { export_seconds = 3600 }

[switches]
maximum_rows = 5

[[seeds]]
object = "store"
item_type_id = 7
attributes = { store_id = "string", area = "float64" }
rows = "stores.csv"

[[seeds]]
object = "customer"
rows = [{ customer_id = "mine" }]

[[exports]]
export_id = 7001
entries = [
    { delay = 0, seconds = 60, rows = 5, succeeds = true },
    { delay = 0, seconds = 3600, rows = 0, succeeds = false },
]

[[faults]]
kind = "status"
status = 503
retry_after = 0
times = 2
"""
JSON = {
    "switches": {"maximum_rows": 5},
    "seeds": ["shop.json"],
    "faults": [{"preset": "flaky"}],
    "now": "2024-03-01T02:00:00Z",
}
STORE = {"object": "store", "item_type_id": 7, "attributes": {"store_id": "string"}, "rows": [{"store_id": "s-1"}]}


def test_a_file_of_toml_has_all_of_it(tmp_path: Path) -> None:
    (tmp_path / "stores.csv").write_text("store_id,area\ns-1,2.5\n", encoding="utf-8")
    path = tmp_path / "night.toml"
    path.write_text(TOML, encoding="utf-8")
    with da.Sandbox.scenario(path) as sandbox:
        client = sandbox.client()
        stores = client.search_items("store", ["area"], da.col("store_id").equals("s-1"), item_type_id=7)
        assert stores == [{"area": 2.5}]
        assert [request.status for request in sandbox.requests] == [503, 503, 200]
        assert len(client.search_codes(["id"], allocated_time=da.after("2024-01-01"))) == 5
        assert client.download_segment(5637053)["entries"][0]["exportedRows"] is None
        assert client.search_items("customer", ["customer_id"], da.col("customer_id").equals("mine"))

        assert [entry["exportedRows"] for entry in client.download_segment(7001)["entries"]] == [None, None]
        sandbox.advance(60)
        first, second = client.download_segment(7001)["entries"]
        assert (first["exportedRows"], second["exportedRows"]) == (5, None)
        sandbox.advance(3600)
        assert client.download_segment(7001)["entries"][1]["responseCode"] != 200


def test_a_file_of_json_has_seeds_by_their_path_and_no_demo_data(tmp_path: Path) -> None:
    (tmp_path / "shop.json").write_text(json.dumps(STORE), encoding="utf-8")
    path = tmp_path / "night.json"
    path.write_text(json.dumps(JSON), encoding="utf-8")
    with da.Sandbox.scenario(path, token="my-own-token-0123456789") as sandbox:
        for fault in sandbox._control.call("GET", "/faults"):
            sandbox._control.call("DELETE", f"/faults/{fault['id']}")
        client = da.Client(sandbox.base_url, token="my-own-token-0123456789")
        assert client.search_items("store", ["store_id"], da.col("store_id").equals("s-1"), item_type_id=7)
        assert client.search_codes(allocated_time=da.after("2000-01-01")) == []


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


# The members of a scenario, and what the error of them names.
WRONG: list[tuple[str, object, str]] = [
    ("a.json", {"swiches": {}}, r"'swiches'.*'switches'\?"),
    ("a.json", {"switches": []}, r"\bswitches\b.* array"),
    ("a.json", {"switches": {"latnecy": 1}}, r"\blatnecy\b"),
    ("a.json", {"demo": {"untill": "2024-02-29"}}, r"demo: .*'untill'.*'until'\?"),
    ("a.json", {"seeds": [STORE, 5]}, r"seeds\[1\] .* integer"),
    ("a.json", {"seeds": [STORE, {"objct": "a"}]}, r"seeds\[1\]: .*'objct'.*'object'\?"),
    ("a.json", {"seeds": ["gone.json"]}, r"gone\.json\b"),
    ("a.json", {"faults": [{"kind": "statsu"}]}, r"faults\[0\]: .*statsu"),
    ("a.json", {"faults": [{"kind": "status", "status": 503, "tmies": 2}]}, r"faults\[0\]: .*tmies"),
    ("a.json", {"exports": [{"rows": 5, "second": 2}]}, r"exports\[0\]: .*second"),
    ("a.json", {"platform": "utc-all"}, r"utc-all"),
    ("a.json", {"now": "yesterday"}, r": now\b"),
    ("a.toml", "demo = maybe", r"a\.toml\b.* line 1\b"),
    ("a.toml", "now = 2024-01-01", r": now\b"),
    ("a.yaml", "{}", r"a\.yaml: .*\.toml .*\.json"),
]


@pytest.mark.parametrize(("name", "content", "data"), WRONG, ids=[data for *_, data in WRONG])
def test_what_is_wrong_is_reported_with_file_and_place(tmp_path: Path, name: str, content: object, data: str) -> None:
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    with pytest.raises((da.ConfigError, da.SandboxError), match=data) as caught:
        da.Sandbox.scenario(path)
    assert str(caught.value).startswith(str(tmp_path))
