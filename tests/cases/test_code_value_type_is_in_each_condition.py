"""`code_value_type="normal"` puts `value_type` into each condition of promotion codes, whichever call sends it.

Source: API specification 4.1 (`value_type` is required without exception) and 2.4 (generic search).
"""

from __future__ import annotations

from typing import Any

import pytest
from support.raw_server import RESPONSE, always, http, serving

import dataaccess as da

DAY = da.on("2024-01-15")
WHERE = da.col("allocated_time").on("2024-01-15") & da.col("code_status").matches([3, 4])
CALLS = {
    "search_codes": lambda client: client.search_codes(["id"], allocated_time=DAY, code_status=["sent", "used"]),
    "search_items": lambda client: client.search_items("promotion_code", ["id"], WHERE),
    "scan_codes": lambda client: client.scan_codes(["id"], allocated_time=DAY, code_status="used").to_dicts(),
    "split": lambda client: (
        client.with_options(known_row_cap=2).scan_codes(["id"], allocated_time=DAY, on_suspected_cap="split").to_dicts()
    ),
}


def sent(client: Any, call: str) -> None:
    with pytest.warns(da.IncompleteWarning) if call == "split" else _quiet():
        CALLS[call](client)


class _quiet:
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


@pytest.mark.parametrize("call", CALLS)
def test_each_condition_has_it(call: str) -> None:
    with serving(always(http(RESPONSE))) as server:
        sent(da.Client(server.base_url, token="t", code_value_type="normal", timezone="UTC"), call)
        bodies = [request.json for request in server.requests]
    conditions = [each for body in bodies for each in body["filters"]["OR"][0]["AND"]]
    assert conditions
    assert {each.get("value_type") for each in conditions} == {"normal"}


def test_by_default_no_condition_has_it() -> None:
    with serving(always(http(RESPONSE))) as server:
        da.Client(server.base_url, token="t", timezone="UTC").search_codes(["id"], allocated_time=DAY)
        (request,) = server.requests
    assert "value_type" not in request.json["filters"]["OR"][0]["AND"][0]


def test_a_variable_or_a_profile_sets_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("DATAACCESS_CODE_VALUE_TYPE", "normal")
    client = da.Client("https://cdp.example.com", token="t")
    assert client.settings["code_value_type"].value == "normal"
    monkeypatch.setenv("DATAACCESS_CODE_VALUE_TYPE", "other")
    with pytest.raises(da.ConfigError, match="DATAACCESS_CODE_VALUE_TYPE"):
        da.Client("https://cdp.example.com", token="t")
    monkeypatch.delenv("DATAACCESS_CODE_VALUE_TYPE")
    folder = tmp_path / "dataaccess"
    folder.mkdir()
    (folder / "config.toml").write_text(
        '[profiles.staging]\nbase_url = "https://cdp.example.com"\ncode_value_type = "normal"\n'
    )
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    client = da.Client(profile="staging", token="t")
    assert client.settings["code_value_type"].value == "normal"


def test_the_sandbox_takes_codes_with_and_without_it() -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        without, with_ = sandbox.client(), sandbox.client(code_value_type="normal")
        assert without.search_codes(allocated_time=DAY) == with_.search_codes(allocated_time=DAY)


@pytest.mark.parametrize(("switch", "setting"), [("required", None), ("refused", "normal")])
def test_a_switch_of_the_sandbox_requires_or_refuses_it(switch: str, setting: Any) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"value_type": switch}) as sandbox:
        with pytest.raises(da.RequestRejectedError):
            sandbox.client(code_value_type=setting).search_codes(allocated_time=DAY)
        other = sandbox.client(code_value_type=None if setting else "normal")
        assert other.search_codes(allocated_time=DAY)
