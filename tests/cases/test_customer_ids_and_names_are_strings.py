"""`customer_id` and `name` of customers are strings, whatever the first rows have.

Source: the API specification, 2.3.
"""

from __future__ import annotations

from typing import Any

import pytest
from support.raw_server import always, http, serving

import dataaccess as da


def body(*records: dict[str, Any]) -> dict[str, Any]:
    return {"code": 200, "message": "", "data": {"status": True, "data": list(records)}}


def test_the_types_are_known_before_any_row() -> None:
    client = da.Client("https://cdp.example.com", token="t", timezone="UTC")
    scan = client.scan_items("customer", ["customer_id", "name", "age"], da.col("age").equals(1))
    assert (scan.schema["customer_id"], scan.schema["name"]) == ("string", "string")
    assert scan.schema["age"] == "inferred"
    other = client.scan_items("store", ["customer_id"], da.col("age").equals(1), item_type_id=7)
    assert other.schema["customer_id"] == "inferred"


def test_another_value_is_its_json_text_and_named() -> None:
    records: list[dict[str, Any]] = [{"customer_id": "C01", "name": "x"}, {"customer_id": 7, "name": "y"}]
    with serving(always(http(body(*records)))) as server:
        client = da.Client(server.base_url, token="t", timezone="UTC")
        scan = client.scan_items("customer", ["customer_id", "name"], da.col("age").equals(1))
        with pytest.warns(da.DataAccessWarning, match="customer_id"):
            frame = scan.to_pandas()
        assert frame["customer_id"].to_list() == ["C01", "7"]
        assert scan.last_stats is not None
        assert len(scan.last_stats.warnings) == 1
