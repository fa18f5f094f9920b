"""A search or scan of items: what is refused before a request is sent."""

from __future__ import annotations

from typing import Any

from support.messages import Cases, User, calls

import dataaccess as da

ITEMS = Cases()

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


col = da.col

ITEMS.add(
    calls(
        """
        client.validate_items("basket", ["id"], ID)
        client.validate_items("stroe", ["store_id"], col("store_id").equals("x"))
        client.validate_items("custmer", ["customer_id"], ID)
        client.validate_items("customer", ["customer_id"], ID, item_type_id=5)
        client.validate_items("basket", ["id"], ID, item_type_id=-1003)
        client.validate_items("basket", ["id"], ID, item_type_id="5")
        client.validate_items("basket", ["id"], ID, item_type_id=2**70)
        client.validate_items("basket", ["id"], ID, item_type_id=5.0)
        client.validate_items(7, ["id"], ID)
        client.validate_items("", ["id"], ID)
        client.validate_items("customer", [], ID)
        client.validate_items("customer", None, ID)
        client.validate_items("store", ["store_id", "siez"], col("opend").after("2024-01-01"))
        client.validate_items("store", ["note"], col("store_id").equals("x"))
        client.validate_items("store", ["size"], col("store_id").equals(17.0))
        client.validate_items("customer", ["name"], "customer_id = 17")
        client.validate_items("customer", ["name"], 17)
        client.validate_items("customer", ["name"], ["a", "b"])
        client.validate_items("customer", ["name"], [ID, ID])
        client.validate_items("customer", ["name"], col("customer_id"))
        client.validate_items("customer", ["name"], da.after("2024-01-01"))
        client.validate_items("customer", ["name"], da.days("2024-01-01", "2024-02-01"))
        client.validate_items("customer", ["name"], col("").equals("x"))
        client.validate_items("customer", ["name"], col(7).equals("x"))
        client.validate_items("customer", ["name"], col("name").matches([]))
        client.validate_items("customer", ["name"], col("name").matches(["a", 1]))
        client.validate_items("customer", ["name"], col("name").equals(["a", "b"]))
        client.validate_items("customer", ["name"], col("name").equals(None))
        client.validate_items("customer", ["name"], col("name").equals(b"x"))
        client.validate_items("customer", ["name"], col("name").equals(float("nan")))
        client.validate_items("customer", ["name"], col("name").equals("\\ud800"))
        client.validate_items("customer", ["name"], col("name").matches([dt.date(2024, 1, 1)]))
        client.validate_items("customer", ["name"], col("customer_id").matches([17.0]))
        client.validate_items("customer", ["name"], col("customer_id").matches([None]))
        client.validate_items("customer", ["name"], col("visits").matches([2**2000]))
        client.validate_items("customer", ["name"], col("visits").op("matches", ["5"], data_type="number"))
        client.validate_items("customer", ["name"], col("visits").op("matches", [5], data_type="string"))
        client.validate_items("customer", ["name"], col("name").op("equals", True))
        client.validate_items("customer", ["name"], col("name").op("matches", ["x"], unit="DAY"))
        client.validate_items("customer", ["name"], col("born").op("after_date", 5, data_type="datetime", unit="WEEK"))
        client.validate_items("customer", ["name"], col("born").after(["2024-01-01"]))
        client.validate_items("customer", ["name"], col("born").between("2024-02-01", "2024-01-01"))
        client.validate_items("customer", ["name"], col("born").on(da.days("2024-01-01", "2024-02-01")))
        client.validate_items("customer", ["name"], col("born").on(da.days("2024-01-01", "2024-02-01"), unit="HOUR"))
        client.validate_items("customer", ["name"], {"AND": []})
        client.validate_items("customer", ["name"], {"OR": []})
        client.validate_items("customer", ["name"], {"OR": {}})
        client.validate_items("customer", ["name"], {"OR": [{}], "limit": 5})
        client.validate_items("customer", ["name"], {"OR": ["x"]})
        client.validate_items("customer", ["name"], {"OR": [{"AND": ["x"]}]})
        client.validate_items("customer", ["name"], where(column=...))
        client.validate_items("customer", ["name"], where(column=7))
        client.validate_items("customer", ["name"], where(operator=3))
        client.validate_items("customer", ["name"], where(value="x"))
        client.validate_items("customer", ["name"], where(value=[None]))
        client.validate_items("customer", ["name"], where(values=["x"]))
        client.validate_items("customer", ["name"], where(extendValue=[]))
        client.validate_items("customer", ["name"], where(time_unit="DAY"))
        client.validate_items("customer", ["name"], where(value_type=""))
        client.validate_items("customer", ["name"], where(value_type=5, condition_type=None))
        client.validate_items("promotion_code", ["id"], col("code_status").matches([3]))
        client.validate_items("promotion_code", ["id"], code_where())
        client.validate_items("promotion_code", ["id"], code_where(type=3))
        client.validate_items("promotion_code", ["id"], code_where(extendValue=[1]))
        client.validate_items("promotion_code", ["id"], code_where(data_type="string"))
        client.validate_items("promotion_code", ["id"], code_where(value_type="special"))
        client.validate_items("promotion_code", ["id"], code_where(value_type=" "))
        client.validate_items("promotion_code", ["id"], code_where(value_type=["normal"]))
        client.validate_items("promotion_code", ["id"], code_where(condition_type="comp_attr"))
        client.validate_items("promotion_code", ["id"], code_where(column="id"))
        client.validate_items("promotion_code", ["id"], col("pool_id").matches(["x"]) & col("allocated_time").after(5))
        client.search_items("promotion_code", ["id"], col("allocated_time").on(da.days("2024-01-01", "2024-02-01")))
        client.validate_items("promotion_code", ["id"], col("code_status").after("2024-01-15"))
        client.validate_items("promotion_code", ["id"],
            col("allocated_time").on("2024-01-15") & col("allocated_time").on("2024-01-16"))
        client.validate_items("promotion_code", ["id"], col("allocated_time").on("2024-01-15")
            & col("code_status").matches([3]) & col("code_status").matches([4]))
        client.validate_items("promotion_code", ["id"],
            col("allocated_time").on("2024-01-15") | col("allocated_time").on("2024-01-16"))
        client.validate_items("promotion_code", ["id"], col("audience_type").matches([1])
            & col("allocated_time").on("2024-01-15"))
        client.search_items("customer", ["name"], ID, limit=0)
        client.validate_items("promotion_code", "id,name", ID)
        client.validate_items("customer", ["a,b", "name"], ID)
        client.validate_items("customer", ["name"], col("name").equals(deep))
        client.validate_items("promotion_code", ["id"], col("audience_type").matches([-1003])
            & col("allocated_audience").matches(["x"]) & col("code_status").matches([3])
            & col("allocated_time").after("2024-01-15") & col("pool_id").matches([4]))
        client.validate_items("promotion_code", ["id"], code_where(column="allocated_time", data_type="datetime",
            operator="equals", value=1705276800000, time_unit="DAY"))
        client.scan_items("customer", ["name"], col("born").on(da.days("2024-01-01", "2024-02-01")) | ID)
        client.scan_items("store", ["note"])
        client.scan_items("customer", "name,surname", ID)
        """,
        names,
    )
)


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


ITEMS.add(
    calls("""
        client.post("search", {})
        client.post("access/api/item/search", {})
        client.post("//evil.example.com", {})
        client.post("/access/../admin", {})
        client.post("/access?key=1", {})
        client.post("/" + "a" * 9000, {})
        client.post("/access/api/item/search", {"a": "\\ud800"})
        client.post("/access/api/item/search", {"a": {1, 2}})
        client.post("/access/api/item/search", {"a": float("nan")})
        client.post("/access/api/item/search", {"itemTypeId": -100})
        client.post("/access/api/nothing", {})
    """)
)
