"""A search or scan of items: what is refused before a request is sent."""

from __future__ import annotations

from typing import Any

from support.messages import Cases, User

import dataaccess as da

STORE = {"store_id": "string", "opened": "timestamp", "size": "int64"}


def names(_user: User) -> dict[str, Any]:
    """What the calls use."""
    condition = {
        "column": "name", "data_type": "string", "operator": "matches", "value": ["x"], "condition_type": "comp_attr",
        "value_type": "normal",
    }  # fmt: skip
    code = {
        "column": "code_status", "type": 2, "data_type": "number", "operator": "matches", "value": [3],
        "extendValue": [],
    }  # fmt: skip

    def where(**members: Any) -> dict[str, Any]:
        changed = {name: value for name, value in {**condition, **members}.items() if value is not ...}
        return {"OR": [{"AND": [changed]}]}

    def code_where(**members: Any) -> dict[str, Any]:
        changed = {name: value for name, value in {**code, **members}.items() if value is not ...}
        return {"OR": [{"AND": [changed]}]}

    client = da.Client(
        "http://127.0.0.1:9", token="t", retry_for=0, item_types={"store": {"id": 7, "attributes": STORE}, "visit": 8}
    )
    deep: Any = "x"
    for _ in range(300):
        deep = [deep]
    return {
        "deep": deep,
        "client": client,
        "where": where,
        "code_where": code_where,
        "ID": col("customer_id").equals("17"),
    }


ITEMS = Cases(names)


col = da.col


@ITEMS.of("client.search_items(…) where the conditions become too many groups")
def _groups(_user: User) -> object:
    expression = col("a").equals(1)
    for _ in range(20):
        expression = (expression & col("b").equals(2)) | col("c").equals(3)
        expression = expression & (col("d").equals(2) | col("e").equals(3))
    return da.validate_items("voucher", ["a"], expression, item_type_id=5)


@ITEMS.of("client.search_items(…) where the conditions have too many values once they are expanded")
def _values(_user: User) -> object:
    expression = col("a").matches(range(50_000))
    for number in range(6):
        expression &= col(f"b{number}").equals(2) | col(f"c{number}").equals(3)
    return da.validate_items("voucher", ["a"], expression, item_type_id=5)


@ITEMS.of("client.search_items(…) where a list holds itself")
def _endless(_user: User) -> object:
    itself: list[Any] = []
    itself.append(itself)
    return da.validate_items("voucher", ["a"], col("a").matches(itself), item_type_id=5)
