"""Switches of the sandbox: types that are not shown, codes in the generic shape, and times in seconds.

Source: API specification 1, 2.2 (`channel_id`, `last_used_*`), 2.4 ("the magnitude indicates milliseconds"), 2.5, 4.1.
"""

from __future__ import annotations

from typing import Any

import pytest

import dataaccess as da

PATH = "/access/api/item/search"
DAY = da.on("2024-01-15")


def test_types_of_codes_and_exports() -> None:
    switches = {"channel_id_type": "string", "last_used_type": "object"}
    types = {"finished_types": "string", "end_time_type": "number"}
    with da.Sandbox.demo(until="2024-02-29", switches={**switches, **types}) as sandbox:
        codes = {"id": "a", "code_status": 4, "allocated_time": "2031-01-15 10:00:00", "channel_id": 3}
        sandbox.load("promotion_code", [{**codes, "last_used_source": "till"}])
        (row,) = sandbox.client().search_codes(["channel_id", "last_used_source"], allocated_time=da.on("2031-01-15"))
        entries: list[Any] = [*sandbox.client().wait_for_segment(5637051, timeout=5)["entries"]]
    assert row == {"channel_id": "3", "last_used_source": {"value": "till"}}
    assert [type(entries[0][name]) for name in ("responseCode", "durations", "endTime")] == [str, str, int]


def generic(value: int) -> dict[str, Any]:
    condition = {"column": "allocated_time", "data_type": "datetime", "operator": "equals", "value_type": "normal"}
    condition |= {"value": value, "condition_type": "comp_attr", "time_unit": "DAY"}  # type: ignore[dict-item] # a body
    filters = {"OR": [{"AND": [condition]}]}
    return {"itemTypeId": -100, "itemTypeName": "promotion_code", "attrs": ["id"], "filters": filters}


def in_seconds() -> dict[str, Any]:
    body = da.validate_codes(["id"], allocated_time=DAY)
    body["filters"]["OR"][0]["AND"][0]["value"] //= 1_000
    return body


@pytest.mark.parametrize(
    ("body", "switches", "finds"),
    [
        (generic(1_705_276_800_000), {"generic_codes": "accepted"}, True),
        (in_seconds(), {"seconds": "unmatched"}, False),
    ],
)
def test_a_switch_takes_what_is_refused_by_default(body: dict[str, Any], switches: Any, finds: bool) -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox, pytest.raises(da.RequestRejectedError):
        sandbox.client().post(PATH, body)
    with da.Sandbox.demo(until="2024-02-29", switches=switches) as sandbox:
        expected = sandbox.client().search_codes(["id"], allocated_time=DAY) if finds else []
        assert sandbox.client().post(PATH, body)["data"]["data"] == expected
