"""What the service refuses beside `test_refusals.py`: what is no JSON, too long, too deep or for nobody.

The response is a 4xx envelope with a message of one line that names the path; never a 200 or 500.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from support.oracle_tables import allocated_after
from support.plain_http import DOWNLOAD, SEARCH, PlainService

import dataaccess as da

Body = dict[str, Any]


@pytest.fixture(scope="module")
def service(sandbox: da.Sandbox) -> Iterator[PlainService]:
    with PlainService(sandbox.base_url, sandbox.issue_token(["item", "download"])) as service:
        yield service


def customers_of(*groups: list[Body], **members: Any) -> Body:
    filters = {"OR": [{"AND": group} for group in groups]}
    return {"itemTypeId": -1003, "itemTypeName": "customer", "attrs": ["customer_id"], "filters": filters, **members}


def ids(*values: Any, **members: Any) -> Body:
    condition = {"column": "customer_id", "data_type": "string", "operator": "matches", "value_type": "normal"}
    return {**condition, "value": list(values), "condition_type": "comp_attr", **members}


def codes_of(*conditions: Body) -> Body:
    filters = {"OR": [{"AND": [*conditions, allocated_after(1_700_000_000_000)]}]}
    return {"itemTypeId": -100, "itemTypeName": "promotion_code", "attrs": ["id"], "filters": filters}


KNOWN = "demo-customer-0001"
STATUS: Body = {"type": 2, "column": "code_status", "data_type": "number", "operator": "matches", "extendValue": []}
AUDIENCE: Body = {**STATUS, "column": "allocated_audience", "data_type": "string"}
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
    (SEARCH, codes_of({**AUDIENCE, "value": ["a"] * 100_001}), r"filters\.OR: .*\b100000\b", 400),
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
    (SEARCH, codes_of({**STATUS, "value": [HOSTILE]}), ".*x{30}", 400),
    *((DOWNLOAD, EXPORT | {name: HOSTILE}, ".*x{30}", 400) for name in ("scope", "exportId", HOSTILE)),
    (SEARCH, AND_TWICE, r"filters\.OR\[0\]: `AND` occurs twice", 400),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0][12:]}-{str(case[1])[:30]}")
def test_what_is_sent_is_refused_by_its_place(service: PlainService, case: tuple[str, Any, str, int]) -> None:
    path, sent, data, status = case
    reply = service.post(path, sent)
    assert reply.status == status
    assert re.match(data, reply.refusal)
    assert len(reply.refusal) <= 500


@pytest.mark.slow
def test_ten_thousand_conditions_and_a_hundred_thousand_values_are_searched(service: PlainService) -> None:
    names = [f"demo-customer-{number:04}" for number in range(1, 10_001)]
    known = [{"customer_id": name} for name in names[:2_025]]
    assert service.search(customers_of(*([ids(name)] for name in names))).records == known
    assert service.search(customers_of([ids(KNOWN, name) for name in names])).records == known[:1]
    assert service.search(customers_of([ids(*names, *map(str, range(90_000)))])).records == known
