"""Responses of the sandbox to the letter, and what a request has of a sandbox that changes meanwhile."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from support.plain_http import DOWNLOAD, SEARCH, PlainService

import dataaccess as da

ALL: dict[str, Any] = {"OR": [{"AND": []}]}
EVERYBODY = {"itemTypeId": -1003, "itemTypeName": "customer", "attrs": ["customer_id"], "filters": ALL}
# 2024-01-01 and a day long ago, in milliseconds.
NEW_YEAR, LONG_AGO = 1704067200000, 946684800000


def codes(attrs: list[str], operator: str, value: int, *conditions: dict[str, Any]) -> dict[str, Any]:
    time = {"column": "allocated_time", "data_type": "datetime", "operator": operator, "value": value}
    allocated = {"type": 2, **time, "time_unit": "DAY"}
    filters = {"OR": [{"AND": [*conditions, allocated]}]}
    return {"itemTypeId": -100, "itemTypeName": "promotion_code", "attrs": attrs, "filters": filters}


@pytest.fixture
def plain(own: da.Sandbox) -> Iterator[PlainService]:
    with PlainService(own.base_url, own.issue_token()) as service:
        yield service


def test_a_search_is_the_specifications_to_the_letter(plain: PlainService) -> None:
    success = b'{"code":200,"message":"Search Business Object success","data":{"status":true,"data":['
    reply = plain.search(codes(["id", "allocated_time"], "equals", NEW_YEAR))
    first = b'{"id":"demo-code-00001","allocated_time":"2024-01-01 00:00:00"},{"id":'
    assert reply.body.startswith(success + first)
    assert reply.body.endswith(b'"}]}}')
    assert reply.headers["server"] == "dataaccess-sandbox"
    assert plain.search(codes(["id"], "before_date", LONG_AGO)).body == success + b"]}}"


# Status, rows, start, end, durations, code and message.
@pytest.mark.parametrize(
    ("advance", "values"), [(0, '1,null,"T",null,null,null,null'), (3600, '2,42,"T","T",3600000,200,"OK"')]
)
def test_a_download_is_the_specifications_to_the_letter(
    own: da.Sandbox, plain: PlainService, advance: int, values: str
) -> None:
    export = own.start_export(rows=42, seconds=3600)
    own.advance(advance)
    reply = plain.post(DOWNLOAD, {"scope": "download", "exportId": export})
    body = re.sub(r'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"', '"T"', reply.body.decode())
    names = ["exportStatus", "exportedRows", "startTime", "endTime", "durations", "responseCode", "responseMessage"]
    entry = ",".join(f'"{name}":{value}' for name, value in zip(names, values.split(","), strict=True))
    expected = f'{{"code":200,"message":"Success","data":{{"entries":[{{{entry}}}],"meta":{{"total":1}}}},'
    assert re.fullmatch(re.escape(expected) + r'"codeMessage":null,"duration":"\d+ms"\}', body)


def test_an_export_has_the_id_it_is_given_or_a_free_one(own: da.Sandbox) -> None:
    assert own.start_export(export_id=7) == own.start_export(export_id=7) == 7
    free = {own.start_export() for _ in range(3)}
    assert len(free) == 3
    assert 7 not in free


def test_only_a_promotion_code_search_needs_its_content_type(plain: PlainService) -> None:
    search = codes(["id"], "equals", NEW_YEAR)
    for kind, status in (("text/plain", 415), ("", 415), ("application/json; charset=utf-8", 200)):
        assert plain.post(SEARCH, search, {"Content-Type": kind}).status == status
    assert plain.post(SEARCH, EVERYBODY, {"Content-Type": "text/plain"}).status == 200


def test_path_and_token_are_judged_before_the_query_string_and_the_body(own: da.Sandbox, plain: PlainService) -> None:
    own.switch(query_string="refused")
    large, encoded = {"Content-Length": str(2**30)}, {"Content-Encoding": "gzip"}
    stranger = {"Authorization": "Bearer unknown"}
    for headers, status in ((large, 413), (encoded, 415)):
        assert plain.post(SEARCH, b"{}", headers).status == status
        for token in (stranger, {"Authorization": f"Bearer {own.issue_token(['download'])}"}):
            assert plain.post(SEARCH, b"{}", headers | token).refusal == "Permission denied"
        assert plain.post(f"{SEARCH}/", b"{}", headers).status == 404
    assert plain.post(f"{SEARCH}?a=1", b"{}").status == 400
    assert plain.post(f"{SEARCH}?a=1", b"{}", stranger).refusal == "Permission denied"


def test_a_request_has_the_switches_of_its_beginning(own: da.Sandbox, plain: PlainService) -> None:
    nothing = codes(["id"], "before_date", LONG_AGO)
    replies = []
    with own.fault("delay", seconds=60) as delay:
        thread = threading.Thread(target=lambda: replies.append(plain.search(nothing)))
        thread.start()
        while not delay.hits:
            time.sleep(0.01)
        own.switch(empty_shape="null")
    thread.join()
    assert replies[0].envelope["data"]["data"] == []
    assert plain.search(nothing).envelope["data"]["data"] is None


def test_a_token_of_ones_own_has_a_scope_that_a_switch_names_later() -> None:
    token = "a-token-of-my-own"
    with da.Sandbox(token=token) as sandbox:
        earlier = sandbox.issue_token()
        sandbox.switch(generic_scope="crm.read")
        for each, status in ((token, 200), (earlier, 403)):
            with PlainService(sandbox.base_url, each) as service:
                assert service.search(EVERYBODY).status == status
