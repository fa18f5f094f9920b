"""`customer_id` and `name` of customers are strings, whatever the first rows have.

Source: API specification 2.3.
"""

from __future__ import annotations

from typing import Any

import pytest

import dataaccess as da

WHERE = da.col("age").equals(1)


def test_the_types_are_known_before_any_row(client_of: Any) -> None:
    scan = client_of([]).scan_items("customer", ["customer_id", "name", "age"], WHERE)
    assert dict(scan.schema) == {"customer_id": "string", "name": "string", "age": "inferred"}
    assert client_of([]).scan_items("store", ["customer_id"], WHERE).schema["customer_id"] == "inferred"


def test_another_value_is_its_json_text_and_named(client_of: Any) -> None:
    client = client_of([{"customer_id": "C01", "name": "x"}, {"customer_id": 7, "name": "y"}])
    scan = client.scan_items("customer", ["customer_id", "name"], WHERE)
    with pytest.warns(da.DataAccessWarning, match="customer_id"):
        assert scan.to_pandas()["customer_id"].to_list() == ["C01", "7"]
    assert len(scan.last_stats.warnings) == 1
