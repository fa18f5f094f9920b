"""Scenario files: what a team commits for a sandbox, in TOML and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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

[[faults]]
kind = "status"
status = 503
retry_after = 0
times = 2
"""
STORE = {"object": "store", "item_type_id": 7, "attributes": {"store_id": "string"}, "rows": [{"store_id": "s-1"}]}


def test_a_file_of_toml_has_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "night.toml"
    path.write_text(TOML, encoding="utf-8")
    with da.Sandbox.scenario(path) as sandbox:
        client = sandbox.client()
        stores = client.search_items("store", ["area", "opened"], da.col("store_id").equals("s-1"), item_type_id=7)
        assert stores == [{"area": 2.5, "opened": "2024-01-15 08:00:00"}]
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


# The content of a scenario, and what the error says: the path of the key, what is wrong, and what is right.
WRONG: list[tuple[str, object, str]] = [
    ("a.json", {"swiches": {}}, r"no key swiches; did you mean 'switches'\?"),
    ("a.json", {"colour": 1}, r"no key colour; there are demo, now, platform, switches, seeds, exports, faults$"),
    ("a.json", {"switches": []}, "switches must be an object, not an array"),
    ("a.json", {"switches": {"latnecy": 1}}, r"\blatnecy\b.*\blatency\b"),
    ("a.json", {"demo": 1}, "demo must be true or false or an object, not an integer"),
    ("a.json", {"demo": {"untill": "2024-02-29"}}, r"no key demo\.untill; did you mean 'until'\?"),
    ("a.json", {"demo": {"until": None}}, r"demo\.until must be a string or a date, not null"),
    ("a.json", {"seeds": [STORE, 5]}, r"seeds\[1\] must be an object, not an integer"),
    (
        "a.json",
        {"seeds": [STORE, {"objct": "a"}]},
        r"seeds\[1\]\.objct; did you mean 'object'\?.*seeds\[1\]\.object is missing",
    ),
    (
        "a.json",
        {"seeds": [{**STORE, "item_type_id": True}]},
        r"seeds\[0\]\.item_type_id must be an integer, not true or false",
    ),
    ("a.json", {"seeds": [{**STORE, "rows": "stores.csv"}]}, r"seeds\[0\]\.rows must be an array, not a string"),
    ("a.json", {"seeds": [{**STORE, "rows": [{}, 5]}]}, r"seeds\[0\]\.rows\[1\] must be an object, not an integer"),
    ("a.json", {"seeds": [{**STORE, "rows": [{"store_id": "1", "aera": 5}]}]}, r"seeds\[0\]: .*row 0: .*`aera`"),
    ("a.json", {"seeds": [{**STORE, "attributes": {"store_id": "text"}}]}, r"seeds\[0\]: .*`store_id`.*`text`"),
    ("a.json", {"seeds": [{"object": "store", "item_type_id": 7}]}, r"seeds\[0\]: item_type_id .* attributes"),
    ("a.json", {"seeds": [{"object": "shop", "attributes": {"id": "string"}}]}, r"seeds\[0\]: item_type_id is missing"),
    ("a.json", {"faults": [{"kind": "status", "status": 503, "tmies": 2}]}, r"faults\[0\]: .*tmies"),
    ("a.json", {"exports": [{"rows": 5, "second": 2}]}, r"exports\[0\]: .*second"),
    ("a.json", {"platform": "utc-all"}, r": platform .*'utc-all'"),
    ("a.json", {"platform": "gone.toml"}, r": platform: .*gone\.toml cannot be read"),
    ("a.json", {"now": "yesterday"}, r": now .*'yesterday'"),
    ("a.json", {"switches": 1, "now": 2, "sed": []}, r"3 keys .*switches .*now .*sed\b"),
    ("a.json", "{", r"a\.json is not JSON: .*line 1"),
    ("a.json", "[]", r"a\.json must be an object, not an array"),
    ("a.json", '{"now": 1, "now": 2}', r"a\.json is not JSON: .*'now'"),
    ("a.json", "[" * 100_000, r"a\.json is nested too deeply"),
    ("a.json", '{"now": "Gr\u00fcn"}'.encode("latin-1"), r"a\.json is not valid UTF-8"),
    ("a.toml", "demo = maybe", r"a\.toml is not TOML: .* line 1\b"),
    ("a.toml", "now = 2024-01-01", "now must be a string or a datetime, not a date"),
    ("a.yaml", "{}", r"a\.yaml: the suffix must be \.toml or \.json"),
]


@pytest.mark.parametrize(("name", "content", "data"), WRONG, ids=[data for *_, data in WRONG])
def test_what_is_wrong_is_reported_with_file_and_path(tmp_path: Path, name: str, content: Any, data: str) -> None:
    path = tmp_path / name
    path.write_bytes(
        content
        if isinstance(content, bytes)
        else (content if isinstance(content, str) else json.dumps(content)).encode()
    )
    with pytest.raises((da.ConfigError, da.SandboxError), match=data) as caught:
        da.Sandbox.scenario(path)
    assert str(path) in str(caught.value)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    for path, data in ((tmp_path / "gone.toml", "cannot be read"), ("", "empty"), (5, "int")):
        with pytest.raises(da.ConfigError, match=data):
            da.Sandbox.scenario(path)  # type: ignore[arg-type]


def test_an_error_of_its_access_is_none_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(da.ConfigError, match=r"^port "):
        da.Sandbox.scenario(path, port=70_000)
    with pytest.raises(TypeError, match="'now'"):
        da.Sandbox.scenario(path, now="2024-03-01")  # type: ignore[call-arg]
    starts: list[Any] = [da.Sandbox, da.Sandbox.demo]
    for start in starts:
        with pytest.raises(TypeError, match=r"'prot'.* 'port'"):
            start(prot=8000)
