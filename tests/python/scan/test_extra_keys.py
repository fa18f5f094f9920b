"""Rows with keys that were not requested: those of Python's `json`, key for key, however the keys change."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from support.raw_server import http, serving

import dataaccess as da

EXTRAS = [f"extra_{number}" for number in range(6)]
VALUES: list[Any] = [None, True, 0, 7, -1003, 2**40, 1.5, "", "x", 'a "quoted" \\ text', "ü", "y" * 40, [1, {"a": 2}]]


def row_of(members: dict[str, Any]) -> dict[str, Any]:
    """The row that a record becomes: first the requested attributes, then the others in the order of the record."""
    requested = {name: members.get(name) for name in ("a", "b")}
    return requested | {name: value for name, value in members.items() if name not in requested}


def same() -> Iterator[dict[str, Any]]:
    for number in range(2_000):
        yield {"a": number, "extra_0": number, "b": "x", "extra_1": f"note {number % 7}", "extra_2": None}


def alternating() -> Iterator[dict[str, Any]]:
    for number in range(2_000):
        yield {"a": number, "b": None} | ({"extra_0": number, "extra_1": "x"} if number // 3 % 2 else {})


def wild() -> Iterator[dict[str, Any]]:
    source = random.Random(15)
    for _ in range(2_000):
        names = source.sample(["a", "b", *EXTRAS], source.randrange(8))
        yield {name: source.choice(VALUES) for name in names}


def new_each_time() -> Iterator[dict[str, Any]]:
    for number in range(700):
        yield {"a": -number, f"key {number}": number, "b": None, f"other {number}": "x"}


@pytest.mark.parametrize("members", [same, alternating, wild, new_each_time])
def test_rows_are_those_of_json_in_the_same_order(members: Any) -> None:
    records = [json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in members()]
    body = b'{"code":200,"data":{"status":true,"data":[%s]}}' % ",".join(records).encode()
    with serving(lambda connection, _: connection.sendall(http(body))) as server:
        client = da.Client(server.base_url, token="t")
        rows = client.scan_items("store", ["a", "b"], da.col("a").equals("x"), item_type_id=7).to_dicts()
    expected = [row_of(json.loads(record)) for record in records]
    assert [list(row.items()) for row in rows] == [list(row.items()) for row in expected]
    assert [[type(value) for value in row.values()] for row in rows] == [
        [type(value) for value in row.values()] for row in expected
    ]


def test_a_key_that_occurs_twice_has_its_last_value() -> None:
    record = b'{"z":1,"a":1,"z":"last","a":2}'
    body = b'{"code":200,"data":{"status":true,"data":[%s]}}' % b",".join([record] * 100)
    with serving(lambda connection, _: connection.sendall(http(body))) as server:
        client = da.Client(server.base_url, token="t")
        rows = client.scan_items("store", ["a"], da.col("a").equals("x"), item_type_id=7).to_dicts()
    assert rows == [{"a": 2, "z": "last"}] * 100
