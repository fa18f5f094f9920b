"""Items of any business object (section 4.1)."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from support.arguments import about

import dataaccess as da

ONE, TWO = "demo-customer-0001", "demo-customer-0002"


def test_customers_are_found_by_id(client: Any) -> None:
    rows = client.search_items("customer", ["customer_id", "name"], da.col("customer_id").matches([TWO, ONE]))
    assert [row["customer_id"] for row in rows] == [ONE, TWO]
    assert all(isinstance(row["name"], str) for row in rows)


def test_either_side_of_or_is_enough_and_both_of_and_are_needed(client: Any) -> None:
    one, two = da.col("customer_id").equals(ONE), da.col("customer_id").equals(TWO)
    ids = ["customer_id"]
    assert len(client.search_items("customer", ids, one | two)) == 2
    assert client.search_items("customer", ids, one & two) == []
    name = client.search_items("customer", ["name"], one)[0]["name"]
    assert len(client.search_items("customer", ids, one & da.col("name").equals(name))) == 1


def test_without_a_where_every_record_is_asked_for(client: Any) -> None:
    everything: dict[str, Any] = {"OR": [{"AND": []}]}
    ids = [f"demo-customer-{number:04}" for number in range(1, 2_026)]
    for arguments in [(), (None,), (everything,)]:
        assert client.validate_items("customer", ["customer_id"], *arguments)["filters"] == everything
        scan = client.scan_items("customer", ["customer_id"], *arguments)
        (task,) = scan.tasks()
        found = [client.search_items("customer", ["customer_id"], *arguments), scan.to_dicts(), task.to_dicts()]
        assert [[row["customer_id"] for row in rows] for rows in found] == [ids] * 3
    with pytest.raises(da.ValidationError, match=r' col\("allocated_time"\)\.after\(', check=about("where")):
        client.search_items("promotion_code", ["id"])


def test_attributes_may_travel_as_text(client: Any) -> None:
    where = da.col("customer_id").equals(ONE)
    as_text = client.with_options(attrs_format="string").search_items("customer", ["customer_id", "name"], where)
    assert as_text == client.search_items("customer", ["customer_id", "name"], where)
    assert list(as_text[0]) == ["customer_id", "name"]


def test_promotion_codes_keep_their_rules_in_the_generic_call(client: Any) -> None:
    where = da.col("code_status").matches(["used"]) | da.col("pool_id").equals(1)
    with pytest.raises(da.ValidationError):
        client.search_items("promotion_code", ["id"], where)
    good = da.col("allocated_time").on("2024-01-15") & da.col("code_status").matches([4])
    rows = client.search_items("promotion_code", ["id"], good)
    assert rows == client.search_codes(["id"], allocated_time=da.on("2024-01-15"), code_status="used")


def test_an_unknown_object_is_refused_by_the_service_in_its_own_words(client: Any) -> None:
    with pytest.raises(da.RequestRejectedError) as caught:
        client.search_items("voucher", ["id"], da.col("id").equals("x"), item_type_id=-7)
    assert caught.value.status == 404
    assert caught.value.api_message


def test_ids_of_a_series_are_found(client: Any) -> None:
    ids = pd.Series([f"demo-customer-{number:04}" for number in range(1, 101)])
    assert len(client.search_items("customer", ["customer_id"], da.col("customer_id").matches(ids))) == 100
