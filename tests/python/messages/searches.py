"""Searches and scans, their conditions and their zones: what is refused before a request is sent."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from support.messages import ADDRESS, ROW, Cases, User, program
from support.raw_server import always, serving

import dataaccess as da
from dataaccess.filters import parse

col = da.col


class Mute:
    def __repr__(self) -> str:
        raise RuntimeError


SEARCHES = Cases(lambda _user: {"DAY": da.on("2024-01-15"), "Mute": Mute, "np": np})

STORE = {"store_id": "string", "opened": "timestamp", "size": "int64"}
CONDITION = {
    "column": "name", "data_type": "string", "operator": "matches", "value": ["x"], "condition_type": "comp_attr",
    "value_type": "normal",
}  # fmt: skip
CODE_CONDITION = {
    "column": "code_status", "type": 2, "data_type": "number", "operator": "matches", "value": [3], "extendValue": [],
}  # fmt: skip


TIME = {
    "column": "allocated_time", "type": 2, "data_type": "datetime", "operator": "equals", "value": 1705276800000,
    "time_unit": "DAY",
}  # fmt: skip


def changed(condition: dict[str, Any], members: dict[str, Any], *others: dict[str, Any]) -> dict[str, Any]:
    """A body of a condition whose members differ so, and others; `...` is none."""
    kept = {name: value for name, value in {**condition, **members}.items() if value is not ...}
    return {"OR": [{"AND": [kept, *others]}]}


def names(_user: User) -> dict[str, Any]:
    known: Any = {"store": {"id": 7, "attributes": STORE}, "visit": 8}
    deep: Any = "x"
    for _ in range(300):
        deep = [deep]
    return {
        "deep": deep,
        "client": da.Client("http://127.0.0.1:9", token="t", retry_for=0, item_types=known),
        "where": lambda **members: changed(CONDITION, members),
        "code_where": lambda **members: changed(CODE_CONDITION, members, TIME),
        "ID": col("customer_id").equals("17"),
    }


ITEMS = Cases(names)


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


CONDITIONS = Cases(lambda _user: {"itertools": itertools, "parse": parse})


@CONDITIONS.of("more than 100,000 conditions joined by |")
def _joined(_user: User) -> object:
    expression = col("a").equals(1)
    while True:
        expression |= expression


def zones(user: User) -> dict[str, Any]:
    scan = user.client.scan_codes(["id", "allocated_time"], allocated_time=da.on("2024-01-15"))
    store = user.client.scan_items("customer", ["name"], col("customer_id").equals("x"), schema={"name": "string"})
    return {"samoa": da.Client(ADDRESS, token="t", timezone="Pacific/Apia"), "scan": scan, "store": store}


ZONES = Cases(zones)
SEARCH = """
import sys
import dataaccess as da

client = da.Client(sys.argv[1], token=sys.argv[2])
client.search_items("store", ["n", "text"], da.col("n").on("2024-01-15"), item_type_id=7)
"""


@ZONES.of("client.search_codes(…) of a day at a platform, without timezone")
def _no_zone(_user: User) -> object:
    with serving(always(ROW)) as server:
        return program(SEARCH, server.base_url, "t")
