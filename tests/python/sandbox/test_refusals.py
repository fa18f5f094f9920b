"""A body that breaks one rule is refused with its place: the refusals of `tests/json/contract.json`.

So is what is no JSON, too long, too deep or for nobody. The response is a 4xx envelope with a message of one line that
names the path; never a 200 or 500.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from support.contract import CONTRACT, named
from support.oracle_tables import allocated_after
from support.plain_http import DOWNLOAD, SEARCH, PlainService

import dataaccess as da


@pytest.fixture(scope="module")
def service() -> Iterator[PlainService]:
    """A sandbox with an object that has an attribute of each type."""
    with da.Sandbox() as sandbox:
        sandbox.declare("store", 7, {"name": "string", "area": "int64", "opened": "datetime"})
        with PlainService(sandbox.base_url, sandbox.issue_token(["item"])) as service:
            yield service


@pytest.fixture(scope="module")
def demo(sandbox: da.Sandbox) -> Iterator[PlainService]:
    with PlainService(sandbox.base_url, sandbox.issue_token(["item", "download"])) as demo:
        yield demo


Body = dict[str, Any]


def body_of(item_type: int, name: str, attrs: list[str], *groups: list[Body]) -> Body:
    filters = {"OR": [{"AND": group} for group in groups]}
    return {"itemTypeId": item_type, "itemTypeName": name, "attrs": attrs, "filters": filters}


def code(column: str, data_type: str, value: Any) -> Body:
    condition = {"type": 2, "column": column, "data_type": data_type, "operator": "matches"}
    return {**condition, "value": value, "extendValue": []}


def item(column: str, data_type: str, operator: str, value: Any, **members: Any) -> Body:
    types = {"value_type": "normal", "condition_type": "comp_attr"}
    return {"column": column, "data_type": data_type, "operator": operator, "value": value, **types, **members}


# Bodies that break no rule.
GOOD: dict[str, Body] = {
    "codes": body_of(
        *(-100, "promotion_code", ["id", "name"]),
        [
            code("audience_type", "number", [-1003, -1007]),
            code("allocated_audience", "string", ["c-1"]),
            code("code_status", "number", [4]),
            allocated_after(1_705_276_800_000),
        ],
    ),
    "items": body_of(
        *(7, "store", ["name", "area"]),
        [item("name", "string", "matches", ["a"]), item("area", "number", "matches", [1])],
        [item("opened", "datetime", "equals", 1_705_276_800_000, time_unit="DAY")],
    ),
}


def broken(body: Any, path: str, *value: Any) -> Any:
    """The body with a value at a path, or without what is there."""
    body = copy.deepcopy(body)
    steps: list[Any] = [int(step) if step.isdigit() else step for step in re.findall(r"[^.\[\]]+", path)] or [""]
    place = body
    for step in steps[:-1]:
        place = place[step]
    last = steps[-1]
    if not value:
        del place[last]
    elif isinstance(place, list) and last == len(place):
        place.append(value[0])
    else:
        place[last] = value[0]
    return body


@pytest.mark.parametrize("name", GOOD)
def test_a_body_that_breaks_no_rule_is_searched(service: PlainService, name: str) -> None:
    assert service.search(GOOD[name]).records == []


@pytest.mark.parametrize("case", CONTRACT["refusals"], ids=named)
def test_a_body_that_breaks_a_rule_is_refused_with_its_place(service: PlainService, case: dict[str, Any]) -> None:
    values = CONTRACT["values"].get(case["to"], case["to"]) if isinstance(case.get("to"), str) else case.get("to")
    for name in case["of"]:
        for value in [()] if values is None else [(each,) for each in values]:
            body = broken(GOOD[name], case["at"], *value)
            reply = service.search(body)
            assert reply.status in case.get("status", [400]), (reply.refusal, body)
            assert [part for part in case.get("named", [case["at"]]) if part not in reply.refusal] == [], reply.refusal


def customers_of(*groups: list[Body], **members: Any) -> Body:
    return {**body_of(-1003, "customer", ["customer_id"], *groups), **members}


def ids(*values: Any, **members: Any) -> Body:
    return {**item("customer_id", "string", "matches", list(values)), **members}


def codes_of(condition: Body) -> Body:
    return body_of(-100, "promotion_code", ["id"], [condition, allocated_after(1_700_000_000_000)])


KNOWN = "demo-customer-0001"
EXPORT = {"scope": "download", "exportId": 5637051}
MANY = [ids()] * 10_001

NO_JSON: list[bytes] = [
    *(b"", b"  \n ", b'{"itemTypeId":-100,"itemTypeName":"promotion_code"', b"{} {}", b"{'itemTypeId':-100}"),
    *(b'{"itemTypeId":-100,}', b"{/* no */}", b'{"itemTypeId":NaN}', b'{"itemTypeId":1e400}'),
    *(b'{"itemTypeId":-0100}', b'{"itemTypeId":0x64}', '{"itemTypeId":-100}'.encode("utf-16")),
    *(b"[" * 100_000, b'{"a":' * 100_000, b"itemTypeId=-100", b'<?xml version="1.0"?>'),
    *(b'{"itemTypeName":"' + string + b'"}' for string in (b"\n", rb"\q", rb"\ud800", b"\x80", b"\xed\xa0\x80")),
]
# A message shows its beginning, escaped.
HOSTILE = "\x1b[31m\u202e\r\n\x00" + "x" * 10_000
AND_TWICE = json.dumps(customers_of([])).replace('"AND":', '"AND": [], "AND":').encode()
NO_OBJECTS: list[Any] = [None, True, 7, "a", [], [{}]]

# What is sent, how the refusal begins, and its status. Bytes are sent as they are.
CASES: list[tuple[str, Any, str, int]] = [
    *((path, body, ".*JSON", 400) for path in (SEARCH, DOWNLOAD) for body in NO_JSON),
    *((path, body, ".*body: ", 400) for path in (SEARCH, DOWNLOAD) for body in NO_OBJECTS),
    (DOWNLOAD, {"exportId": 5637051}, ".*`scope`", 400),
    (DOWNLOAD, {"scope": "download"}, ".*`exportId`", 400),
    *((DOWNLOAD, EXPORT | {"scope": scope}, "scope: ", 400) for scope in (1, "item")),
    *(
        (DOWNLOAD, EXPORT | {"exportId": one}, "exportId: ", 400)
        for one in (5637051.5, 2**63, "5637051", None, [5637051])
    ),
    (DOWNLOAD, EXPORT | {"limit": 1}, ".*`limit`", 400),
    (DOWNLOAD, EXPORT | {"exportId": 1}, ".*", 404),
    (SEARCH, customers_of(*[[each] for each in MANY]), r"filters\.OR: .*\b10000\b", 400),
    (SEARCH, customers_of(MANY), r"filters\.OR: .*\b10000\b", 400),
    (SEARCH, customers_of(*[[]] * 10_001), r"filters\.OR: .*\b10000\b", 400),
    (SEARCH, customers_of([ids(*["a"] * 100_001)]), r"filters\.OR: .*\b100000\b", 400),
    (SEARCH, customers_of([ids(*[7] * 1_000_000)]), r"filters\.OR\b", 400),
    (SEARCH, codes_of(code("allocated_audience", "string", ["a"] * 100_001)), r"filters\.OR: .*\b100000\b", 400),
    (SEARCH, b"[" * 127 + b"]" * 127, "the body: .*array", 400),
    (SEARCH, b"[" * 128 + b"]" * 128, "the body is not JSON: recursion limit", 400),
    (SEARCH, b'{"itemTypeId":-100,"itemTypeId":-100}', "the body: `itemTypeId` occurs twice", 400),
    *(
        (SEARCH, customers_of([ids(KNOWN)], **{name: HOSTILE}), ".*x{30}", 404 if name == "itemTypeName" else 400)
        for name in ("itemTypeId", "itemTypeName", "attrs", "filters", HOSTILE)
    ),
    *(
        (SEARCH, customers_of([ids(KNOWN, **{name: HOSTILE})]), ".*x{30}", 400)
        for name in ("column", "operator", "data_type", "value_type", HOSTILE)
    ),
    (SEARCH, codes_of(code("code_status", "number", [HOSTILE])), ".*x{30}", 400),
    *((DOWNLOAD, EXPORT | {name: HOSTILE}, ".*x{30}", 400) for name in ("scope", "exportId", HOSTILE)),
    (SEARCH, AND_TWICE, r"filters\.OR\[0\]: `AND` occurs twice", 400),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0][12:]}-{str(case[1])[:30]}")
def test_what_is_sent_is_refused_by_its_place(demo: PlainService, case: tuple[str, Any, str, int]) -> None:
    path, sent, data, status = case
    reply = demo.post(path, sent)
    assert reply.status == status
    assert re.match(data, reply.refusal)
    assert len(reply.refusal) <= 500


@pytest.mark.slow
def test_ten_thousand_conditions_and_a_hundred_thousand_values_are_searched(demo: PlainService) -> None:
    names = [f"demo-customer-{number:04}" for number in range(1, 10_001)]
    known = [{"customer_id": name} for name in names[:2_025]]
    assert demo.search(customers_of(*([ids(name)] for name in names))).records == known
    assert demo.search(customers_of([ids(KNOWN, name) for name in names])).records == known[:1]
    assert demo.search(customers_of([ids(*names, *map(str, range(90_000)))])).records == known
