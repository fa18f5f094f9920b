"""`code_value_type="normal"` puts `value_type` into each condition of promotion codes, whichever call sends it.

Source: API specification 4.1 (`value_type` is required without exception) and 2.4 (generic search).
"""

from __future__ import annotations

from typing import Any

import pytest
from support.raw_server import always, http, serving
from support.streams import client_of

import dataaccess as da

DAY = da.on("2024-01-15")
WHERE = da.col("allocated_time").on("2024-01-15") & da.col("code_status").matches([3, 4])
CALLS: dict[str, Any] = {
    "search_codes": lambda client: client.search_codes(["id"], allocated_time=DAY, code_status=["sent", "used"]),
    "search_items": lambda client: client.search_items("promotion_code", ["id"], WHERE),
    "scan_codes": lambda client: client.scan_codes(["id"], allocated_time=DAY, code_status="used").to_dicts(),
    "split": lambda client: (
        client.with_options(known_row_cap=2).scan_codes(["id"], allocated_time=DAY, on_suspected_cap="split").to_dicts()
    ),
}


@pytest.mark.filterwarnings("ignore::dataaccess.IncompleteWarning")
@pytest.mark.parametrize("setting", ["normal", None])
@pytest.mark.parametrize("call", CALLS)
def test_each_condition_has_it(call: str, setting: Any) -> None:
    with serving(always(http())) as server:
        CALLS[call](client_of(server, code_value_type=setting, timezone="UTC"))
        conditions = [each for request in server.requests for each in request.json["filters"]["OR"][0]["AND"]]
    assert conditions
    if (call, setting) != ("search_items", None):
        assert {each.get("value_type") for each in conditions} == {setting}


@pytest.mark.parametrize(("switch", "refused"), [("required", None), ("refused", "normal"), ("optional", "")])
def test_a_switch_of_the_sandbox_requires_or_refuses_it(switch: str, refused: Any) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"value_type": switch}) as sandbox:
        for setting in ("normal", None):
            client: Any = sandbox.client(code_value_type=setting)
            if setting == refused:
                with pytest.raises(da.RequestRejectedError):
                    client.search_codes(allocated_time=DAY)
            else:
                assert client.search_codes(allocated_time=DAY)
