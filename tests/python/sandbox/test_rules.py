"""What the service must refuse: each rule of the specification broken alone, and what is sent by hostile clients.

The response is always a 4xx envelope with a one-line message that names the path; never a 200 or 500. The ids in names
of tests are those of docs/reliability.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.demo_tables import allocated_after
from support.hostile import BYTES, is_one_harmless_line, is_unicode, texts_of
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
    *(b'{"itemTypeName":"' + hostile + b'"}' for hostile in BYTES.values()),
]
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
    (SEARCH, AND_TWICE, r"filters\.OR\[0\]: `AND` occurs twice", 400),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0][12:]}-{str(case[1])[:30]}")
def test_what_is_sent_is_refused_by_its_place(service: PlainService, case: tuple[str, Any, str, int]) -> None:
    path, sent, data, status = case
    reply = service.post(path, sent)
    assert reply.status == status
    assert re.match(data, reply.refusal)


@pytest.mark.slow
def test_b3_ten_thousand_conditions_and_a_hundred_thousand_values_are_searched(service: PlainService) -> None:
    names = [f"demo-customer-{number:04}" for number in range(1, 10_001)]
    known = [{"customer_id": name} for name in names[:2_025]]
    assert service.search(customers_of(*([ids(name)] for name in names))).records == known
    assert service.search(customers_of([ids(KNOWN, name) for name in names])).records == known[:1]
    assert service.search(customers_of([ids(*names, *map(str, range(90_000)))])).records == known


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=8), inside, max_size=3),
    max_leaves=8,
)


def everywhere(body: Any, put: Any) -> Iterator[tuple[str, Any]]:
    """The body with something in each of its places, and with one more key in each of its objects."""

    def member(value: Body, name: str, whole: Callable[[Any], Any], new: Any) -> Any:
        return whole({**value, name: new})

    def element(value: list[Any], index: int, whole: Callable[[Any], Any], new: Any) -> Any:
        return whole([*value[:index], new, *value[index + 1 :]])

    def below(value: Any, path: str, whole: Callable[[Any], Any]) -> Iterator[tuple[str, Any]]:
        yield path, whole(put)
        if isinstance(value, dict):
            if isinstance(put, str):
                yield f"{path}.+", whole({**value, put: 1})
            for name, each in value.items():
                yield from below(each, f"{path}.{name}", partial(member, value, name, whole))
        elif isinstance(value, list):
            for index, each in enumerate(value):
                yield from below(each, f"{path}[{index}]", partial(element, value, index, whole))

    yield from below(body, "", lambda new: new)


@given(put=ANYTHING)
def test_b3_anything_in_any_place_of_a_filter_is_answered(service: PlainService, put: Any) -> None:
    """A response or a refusal, no failure."""
    for _, body in everywhere(customers_of([ids(KNOWN)]), put):
        reply = service.search(body)
        assert reply.records is not None if reply.status == 200 else reply.refusal


BODIES: dict[str, tuple[str, Body]] = {
    "customers": (SEARCH, customers_of([ids(KNOWN)], [ids(KNOWN, column="name", operator="equals")])),
    "codes": (SEARCH, codes_of({**STATUS, "value": [3]})),
    "audience": (SEARCH, codes_of({**AUDIENCE, "value": [KNOWN]})),
    "download": (DOWNLOAD, EXPORT),
}
# Where a text is a value that is searched.
VALUES = re.compile(r"\.filters\.OR\[\d\]\.AND\[0\]\.value\[0\]")
# What only the inside of the service would write.
INTERNALS = ["select ", ".rs", "panick", "/src", "thread '"]


@pytest.mark.parametrize("name", BODIES)
def test_b4_a_hostile_text_in_any_place_is_refused_or_finds_nothing(service: PlainService, name: str) -> None:
    path, good = BODIES[name]
    before = service.post(path, good).status
    turn = list(BODIES).index(name)
    for text in texts_of(turn).values():
        for place, body in everywhere(good, text):
            reply = service.post(path, body)
            if VALUES.fullmatch(place) and is_unicode(text) and name != "codes":
                # The other group of customers finds the one that is there.
                assert len(reply.records) == (name == "customers" and "OR[1]" in place), (place, text)
                continue
            message = reply.refusal
            assert reply.status in {400, 404}, (place, text)
            assert is_one_harmless_line(message), (place, text)
            assert len(message) <= 500, (place, text)
            assert not [word for word in INTERNALS if word in message.lower() and word not in text.lower()], message
    assert service.post(path, good).status == before
