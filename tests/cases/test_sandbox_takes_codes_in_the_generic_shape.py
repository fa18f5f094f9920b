"""A switch of the sandbox takes promotion codes in the shape of the generic search, beside the shape of 4.2.

Source: API specification 1 and 4.1 ("searches any BO"), 4.2.
"""

from __future__ import annotations

from typing import Any

import pytest

import dataaccess as da

PATH = "/access/api/item/search"


def generic() -> dict[str, Any]:
    condition = {
        "column": "allocated_time",
        "data_type": "datetime",
        "operator": "equals",
        "value_type": "normal",
        "value": 1705276800000,
        "condition_type": "comp_attr",
        "time_unit": "DAY",
    }
    filters = {"OR": [{"AND": [condition]}]}
    return {"itemTypeId": -100, "itemTypeName": "promotion_code", "attrs": ["id"], "filters": filters}


def test_refused_by_default() -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox, pytest.raises(da.RequestRejectedError):
        sandbox.client().post(PATH, generic())


def test_both_shapes_find_the_same() -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"generic_codes": "accepted"}) as sandbox:
        client = sandbox.client()
        rows = client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        assert client.post(PATH, generic())["data"]["data"] == rows
