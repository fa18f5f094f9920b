"""What the service must refuse: each rule of the specification broken alone.

The response is always a 4xx envelope with a one-line message that names the path; never a 200 or 500.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import broken_rules, demo_tables
from support.broken_rules import Rule
from support.broken_shape_rules import OF_CODES, OF_ITEMS
from support.oracle import Table
from support.plain_http import DOWNLOAD, SEARCH, PlainService
from support.search_bodies import code_bodies, item_bodies

import dataaccess as da

Draw = st.DataObject


@pytest.fixture(scope="module")
def service(sandbox: da.Sandbox) -> Iterator[PlainService]:
    with PlainService(sandbox.base_url, sandbox.issue_token(["item", "download"])) as service:
        yield service


@pytest.fixture(scope="module")
def codes(service: PlainService) -> Table:
    return demo_tables.codes(service)


@pytest.fixture(scope="module")
def customers(service: PlainService) -> Table:
    return demo_tables.customers(service)


def refused(service: PlainService, good: dict[str, Any], rule: Rule, draw: Draw) -> None:
    """The body is served as it is and refused once the rule is broken, with a message that names the place."""
    broken = copy.deepcopy(good)
    named = rule(draw.draw, broken)
    assert service.search(good).status == 200
    reply = service.search(broken)
    message = reply.refusal
    # An unknown object may also be reported as such.
    assert reply.status in ({400, 404} if rule is broken_rules.object_is_unknown else {400}), (message, broken)
    assert all(name in message for name in named), (message, named, broken)


def name_of(rule: Rule) -> str:
    return rule.__name__


# There are many rules, each with a test of its own.
of_each_rule = settings(max_examples=max(6, settings().max_examples // 20))


@pytest.mark.parametrize("rule", [*broken_rules.OF_BOTH, *broken_rules.OF_TIMES, *OF_CODES], ids=name_of)
@of_each_rule
@given(draw=st.data())
def test_a_promotion_code_search_that_breaks_a_rule(
    service: PlainService, codes: Table, rule: Rule, draw: Draw
) -> None:
    refused(service, draw.draw(code_bodies(codes, sendable=True)), rule, draw)


@pytest.mark.parametrize("rule", [*broken_rules.OF_BOTH, *OF_ITEMS], ids=name_of)
@of_each_rule
@given(draw=st.data())
def test_a_generic_search_that_breaks_a_rule(service: PlainService, customers: Table, rule: Rule, draw: Draw) -> None:
    refused(service, draw.draw(item_bodies(customers, sendable=True)), rule, draw)


NO_JSON = {
    "nothing": b"",
    "blanks": b"  \n ",
    "cut": b'{"itemTypeId":-100,"itemTypeName":"promotion_code"',
    "trailing": b"{} {}",
    "single-quotes": b"{'itemTypeId':-100}",
    "trailing-comma": b'{"itemTypeId":-100,}',
    "comment": b"{/* no */}",
    "not-a-number": b'{"itemTypeId":NaN}',
    "infinity": b'{"itemTypeId":-Infinity}',
    "beyond-a-float": b'{"itemTypeId":1e400}',
    "leading-zero": b'{"itemTypeId":-0100}',
    "hexadecimal": b'{"itemTypeId":0x64}',
    "lone-surrogate": rb'{"itemTypeName":"\ud800"}',
    "reversed-surrogates": rb'{"itemTypeName":"\udc00\ud800"}',
    "bad-escape": rb'{"itemTypeName":"\x41"}',
    "raw-control-character": b'{"itemTypeName":"\x01"}',
    "invalid-utf8": b'{"itemTypeName":"\xff"}',
    "overlong-utf8": b'{"itemTypeName":"\xc0\xaf"}',
    "utf16": '{"itemTypeId":-100}'.encode("utf-16"),
    "deep-arrays": b"[" * 100_000,
    "deep-objects": b'{"a":' * 100_000,
    "form": b"itemTypeId=-100&itemTypeName=promotion_code",
    "xml": b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
}


@pytest.mark.parametrize("path", [SEARCH, DOWNLOAD])
@pytest.mark.parametrize("case", NO_JSON)
def test_a_body_that_is_no_json(service: PlainService, path: str, case: str) -> None:
    reply = service.post(path, NO_JSON[case])
    assert reply.status == 400
    assert "JSON" in reply.refusal.partition(": ")[0]


@pytest.mark.parametrize("path", [SEARCH, DOWNLOAD])
@pytest.mark.parametrize("body", [None, True, 7, "a", [], [{}]], ids=json.dumps)
def test_a_body_that_is_no_object(service: PlainService, path: str, body: object) -> None:
    reply = service.post(path, body)
    assert reply.status == 400
    assert reply.refusal.partition(": ")[0].endswith("body")


DOWNLOADS: dict[str, tuple[Any, str]] = {
    "no-scope": ({"exportId": 1}, "`scope`"),
    "no-id": ({"scope": "download"}, "`exportId`"),
    "another-scope": ({"scope": "item", "exportId": 1}, "scope: "),
    "scope-is-a-number": ({"scope": 1, "exportId": 1}, "scope: "),
    "id-is-a-text": ({"scope": "download", "exportId": "5637051"}, "exportId: "),
    "id-is-a-float": ({"scope": "download", "exportId": 5637051.5}, "exportId: "),
    "id-is-too-large": ({"scope": "download", "exportId": 2**63}, "exportId: "),
    "id-is-null": ({"scope": "download", "exportId": None}, "exportId: "),
    "another-member": ({"scope": "download", "exportId": 1, "limit": 1}, "`limit`"),
}


@pytest.mark.parametrize("case", DOWNLOADS)
def test_a_download_that_breaks_a_rule(service: PlainService, case: str) -> None:
    body, named = DOWNLOADS[case]
    reply = service.post(DOWNLOAD, body)
    assert reply.status == 400
    assert named in reply.refusal
