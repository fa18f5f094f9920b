"""`dataaccess sandbox`: data of files, the lines of requests, and other machines."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from support.commands import MODULE, serving

import dataaccess as da

OWN = "a-token-of-thirty-two-characters-1"
ADMIN = "an-admin-token-of-thirty-two-characters"
SHOP = {"object": "store", "item_type_id": 7, "attributes": {"store_id": "string"}, "rows": [{"store_id": "s-1"}]}


def stores(client: da.Client) -> list[dict[str, Any]]:
    return client.search_items("store", ["store_id"], da.col("store_id").equals("s-1"), item_type_id=7)


def test_a_scenario_is_served_and_comes_back_with_a_reset(tmp_path: Path) -> None:
    scenario = tmp_path / "night.json"
    scenario.write_text(json.dumps({"seeds": [SHOP]}), encoding="utf-8")
    with serving("--scenario", str(scenario)) as served:
        admin = served.exports["DATAACCESS_SANDBOX_ADMIN_TOKEN"]
        with da.Sandbox.connect(served.exports["DATAACCESS_BASE_URL"], admin) as sandbox:
            sandbox.clear("store")
            assert stores(served.client()) == []
            sandbox.reset()
            assert stores(served.client()) == [{"store_id": "s-1"}]
        assert str(scenario) in served.stop()[1]


def test_a_line_for_each_request_says_what_was_asked_and_what_came(tmp_path: Path) -> None:
    scenario = tmp_path / "busy.json"
    busy = {"kind": "status", "status": 503, "retry_after": 0, "times": 1}
    scenario.write_text(json.dumps({"demo": True, "faults": [busy]}), encoding="utf-8")
    for words, lines in (([], 3), (["--quiet"], 0)):
        with serving("--scenario", str(scenario), *words) as served:
            client = served.client()
            client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
            client.download_segment(5637051)
            _, reported = served.stop()
        found = [line for line in reported.splitlines() if "->" in line]
        assert len(found) == lines
        if found:
            search = r"POST /access/api/item/search promotion_code, allocated_time equals 2024-01-15 -> "
            assert re.fullmatch(rf"{search}503 .* \(fault .*\) a fault that was asked for", found[0])
            assert re.fullmatch(rf"{search}200 [\d.]+ k?B [\d.]+ ms", found[1])
            assert re.fullmatch(r"POST /access/api/segment/download export 5637051 -> 200 .* ms", found[2])
        assert client.settings["token"].value == "(hidden)"
        assert served.exports["DATAACCESS_TOKEN"] not in reported


def test_a_line_has_no_control_characters_and_no_value_but_days() -> None:
    with serving("--empty") as served:
        content = {
            "itemTypeName": "x\x1b[2J",
            "filters": {"OR": [{"AND": [{"column": "c", "value": ["secret"]}, 5]}, 7]},
        }
        request = urllib.request.Request(
            f"{served.exports['DATAACCESS_BASE_URL']}/access/api/item/search?x=%1b", data=json.dumps(content).encode()
        )
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(request)
        _, reported = served.stop()
    line = next(line for line in reported.splitlines() if "->" in line)
    assert "\x1b" not in line
    assert "secret" not in line
    assert "c None [1]" in line


def test_json_has_the_admin_token_too() -> None:
    process = subprocess.Popen([*MODULE, "sandbox", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    with process:
        assert process.stdout
        found = json.loads(process.stdout.readline())
        assert found["admin_token"].startswith("sbx_admin_")
        with da.Sandbox.connect(found["base_url"], found["admin_token"]) as sandbox:
            assert sandbox.scopes == found["scopes"]
        process.terminate()


def test_other_machines_need_two_tokens_which_are_not_printed(tmp_path: Path) -> None:
    files = []
    for name, token in (("token", OWN), ("admin-token", ADMIN)):
        file = tmp_path / name
        file.write_text(token, encoding="utf-8")
        file.chmod(0o600)
        files += [f"--{name}-file", str(file)]
    everywhere = ["--empty", "--host", "0.0.0.0", "--allow-remote"]
    variables = {"DATAACCESS_SANDBOX_TOKEN": OWN, "DATAACCESS_SANDBOX_ADMIN_TOKEN": ADMIN}
    for words, environment in ((files, {}), ([], variables)):
        with serving(*everywhere, *words, **environment) as served:
            assert served.exports.keys() == {"DATAACCESS_BASE_URL"}
            port = served.exports["DATAACCESS_BASE_URL"].rpartition(":")[2]
            url = f"http://127.0.0.1:{port}"
            assert da.Client(url, token=OWN).search_codes(allocated_time=da.on("2024-01-15")) == []
            with da.Sandbox.connect(url, ADMIN) as sandbox:
                assert len(sandbox.requests) == 1
            with urllib.request.urlopen(f"{url}/healthz") as response:
                assert json.load(response)["status"] == "ok"
            _, reported = served.stop()
            assert OWN not in reported
            assert ADMIN not in reported
