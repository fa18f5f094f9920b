"""A hostile string in every position of a request: the service returns an envelope and its rows stay as they are.

The rows are fetched and hashed before all tests and after. Texts that are legal values are compared with the oracle.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest
from support import demo_tables
from support.demo_tables import allocated_after
from support.hostile import BYTES, TEXTS, is_one_harmless_line, is_unicode, texts_of
from support.oracle import Table, records
from support.plain_http import DOWNLOAD, SEARCH, PlainService, Reply

import dataaccess as da

# What only the inside of the service would write.
INTERNALS = ["select ", "sqlite", "item_0", "item_1", "json_each", "memdb", ".rs", "panick", "/src", "thread '"]

Body = dict[str, Any]
Put = Callable[[Any], Body]


@pytest.fixture(scope="module")
def service(sandbox: da.Sandbox) -> Iterator[PlainService]:
    with PlainService(sandbox.base_url, sandbox.issue_token(["item", "download"])) as service:
        yield service


@pytest.fixture(scope="module")
def customers(service: PlainService) -> Table:
    return demo_tables.customers(service)


def content(service: PlainService) -> str:
    """A hash of every row that a search can find, and of the entries of a finished export."""
    export = service.post(DOWNLOAD, {"scope": "download", "exportId": 5637051}).envelope["data"]
    rows = [demo_tables.codes(service).rows, demo_tables.customers(service).rows, export]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


# Once for all tests, as it takes a while. With scope="function" it names the test that changed the rows.
@pytest.fixture(autouse=True, scope="module")
def _content_stays(service: PlainService) -> Iterator[None]:
    before = content(service)
    yield
    assert content(service) == before


def item_search(**members: Any) -> Body:
    filters = {"OR": [{"AND": [item_condition()]}]}
    body = {"itemTypeId": -1003, "itemTypeName": "customer", "attrs": ["customer_id", "name"], "filters": filters}
    return {**body, **members}


def item_condition(**members: Any) -> Body:
    condition = {
        "column": "customer_id",
        "data_type": "string",
        "operator": "matches",
        "value_type": "normal",
        "value": ["demo-customer-0001"],
        "condition_type": "comp_attr",
    }
    return {**condition, **members}


def item_filter(**members: Any) -> Body:
    return item_search(filters={"OR": [{"AND": [item_condition(**members)]}]})


def code_search(*conditions: Body, **members: Any) -> Body:
    filters = {"OR": [{"AND": [*conditions, allocated_after(1_700_000_000_000)]}]}
    return {"itemTypeId": -100, "itemTypeName": "promotion_code", "attrs": ["id"], "filters": filters, **members}


def code_condition(**members: Any) -> Body:
    condition = {
        "type": 2,
        "column": "allocated_audience",
        "data_type": "string",
        "operator": "matches",
        "value": ["demo-customer-0001"],
        "extendValue": [],
    }
    return {**condition, **members}


def time_search(**members: Any) -> Body:
    return {**code_search(), "filters": {"OR": [{"AND": [{**allocated_after(1_700_000_000_000), **members}]}]}}


def status_search(value: Any) -> Body:
    return code_search(code_condition(column="code_status", data_type="number", value=[value]))


# Where a hostile string breaks a rule, whatever it is.
SEARCHES: dict[str, Put] = {
    "body": lambda text: text,
    "itemTypeId": lambda text: item_search(itemTypeId=text),
    "itemTypeName": lambda text: item_search(itemTypeName=text),
    "attrs": lambda text: item_search(attrs=text),
    "attrs-element": lambda text: item_search(attrs=["name", text]),
    "filters": lambda text: item_search(filters=text),
    "OR": lambda text: item_search(filters={"OR": text}),
    "AND": lambda text: item_search(filters={"OR": [{"AND": text}]}),
    "condition": lambda text: item_search(filters={"OR": [{"AND": [text]}]}),
    "column": lambda text: item_filter(column=text),
    "data_type": lambda text: item_filter(data_type=text),
    "operator": lambda text: item_filter(operator=text),
    "value_type": lambda text: item_filter(value_type=text),
    "condition_type": lambda text: item_filter(condition_type=text),
    "time_unit": lambda text: item_filter(time_unit=text),
    "value": lambda text: item_filter(value=text),
    "value-nested": lambda text: item_filter(value=[[text]]),
    "key-of-body": lambda text: item_search(**{text: 1}),
    "key-of-filters": lambda text: item_search(filters={"OR": [], text: []}),
    "key-of-group": lambda text: item_search(filters={"OR": [{"AND": [], text: []}]}),
    "key-of-condition": lambda text: item_filter(**{text: 1}),
    "codes-itemTypeName": lambda text: code_search(itemTypeName=text),
    "codes-attrs": lambda text: code_search(attrs=text),
    "codes-attrs-element": lambda text: code_search(attrs=[text]),
    "codes-type": lambda text: code_search(code_condition(type=text)),
    "codes-column": lambda text: code_search(code_condition(column=text)),
    "codes-data_type": lambda text: code_search(code_condition(data_type=text)),
    "codes-operator": lambda text: code_search(code_condition(operator=text)),
    "codes-extendValue": lambda text: code_search(code_condition(extendValue=text)),
    "codes-status": status_search,
    "codes-key-of-condition": lambda text: code_search(code_condition(**{text: 1})),
    "time-value": lambda text: time_search(value=text),
    "time-operator": lambda text: time_search(operator=text),
    "time-time_unit": lambda text: time_search(time_unit=text),
}
DOWNLOADS: dict[str, Put] = {
    "body": lambda text: text,
    "scope": lambda text: {"scope": text, "exportId": 5637051},
    "exportId": lambda text: {"scope": "download", "exportId": text},
    "key": lambda text: {"scope": "download", "exportId": 5637051, text: 1},
}
POSITIONS = [*((SEARCH, name) for name in SEARCHES), *((DOWNLOAD, name) for name in DOWNLOADS)]


def put_at(path: str, position: str) -> Put:
    return SEARCHES[position] if path == SEARCH else DOWNLOADS[position]


def fault(reply: Reply, text: str) -> str | None:
    """What is wrong with a refusal, if anything."""
    # An unknown object may also be reported as such.
    if reply.status not in {400, 404}:
        return f"status {reply.status}: {reply.body[:200]!r}"
    envelope = reply.envelope
    message = envelope["message"]
    if (envelope["code"], envelope["data"]) != (reply.status, message):
        return f"not a refusal: {reply.body[:200]!r}"
    if not is_one_harmless_line(message) or len(message) > 500:
        return f"not one harmless line: {message!a}"
    leaked = [word for word in INTERNALS if word in message.lower() and word not in text.lower()]
    return f"shows {leaked}: {message}" if leaked else None


@pytest.mark.parametrize(("path", "position"), POSITIONS)
def test_a_hostile_text_where_it_breaks_a_rule(service: PlainService, path: str, position: str) -> None:
    put, turn = put_at(path, position), POSITIONS.index((path, position))
    faults = {name: fault(service.post(path, put(text)), text) for name, text in texts_of(turn).items()}
    assert not {name: leaked for name, leaked in faults.items() if leaked}


@pytest.mark.parametrize(("path", "position"), POSITIONS)
def test_bytes_that_are_no_json_text(service: PlainService, path: str, position: str) -> None:
    template = json.dumps(put_at(path, position)("HOSTILE")).encode()
    faults = {}
    for name, hostile in BYTES.items():
        reply = service.post(path, template.replace(b"HOSTILE", hostile))
        if leaked := fault(reply, ""):
            faults[name] = leaked
    assert not faults


@pytest.mark.slow
@pytest.mark.parametrize(("column", "operator"), [("customer_id", "matches"), ("name", "equals")])
def test_a_hostile_text_as_a_value_finds_what_the_oracle_finds(
    service: PlainService, customers: Table, column: str, operator: str
) -> None:
    for name, text in TEXTS.items():
        body = item_filter(column=column, operator=operator, value=[text])
        if is_unicode(text):
            assert service.search(body).records == records(customers, body) == [], name
        else:
            assert fault(service.search(body), text) is None, name


def test_a_hostile_text_as_an_audience_member_finds_nothing(service: PlainService) -> None:
    for name, text in TEXTS.items():
        body = code_search(code_condition(value=[text]))
        if is_unicode(text):
            assert service.search(body).records == [], name
        else:
            assert fault(service.search(body), text) is None, name


def test_all_hostile_strings_at_once_leave_the_known_one_to_be_found(service: PlainService) -> None:
    legal = [text for text in TEXTS.values() if is_unicode(text)]
    body = item_filter(value=[*legal, "demo-customer-0001", *legal])
    assert [record["customer_id"] for record in service.search(body).records] == ["demo-customer-0001"]


def header(name: str) -> Callable[[str], tuple[str, dict[str, str]]]:
    return lambda text: (SEARCH, {name: text})


# Outside of the body: what no JSON reader sees. The path of the request, and headers to add.
AROUND: dict[str, Callable[[str], tuple[str, dict[str, str]]]] = {
    "authorization": header("Authorization"),
    "token": lambda text: (SEARCH, {"Authorization": f"Bearer {text}"}),
    "content-type": header("Content-Type"),
    "content-encoding": header("Content-Encoding"),
    "transfer-encoding": header("Transfer-Encoding"),
    "host": header("Host"),
    "origin": header("Origin"),
    "request-id": header("X-Request-Id"),
    "accept": header("Accept"),
    "header-name": lambda text: (SEARCH, {text: "a"}),
    "path": lambda text: (text, {}),
    "path-below": lambda text: (f"{SEARCH}/{text}", {}),
    "path-escaped": lambda text: (f"/{quote(text, safe='', errors='surrogatepass')}", {}),
    "query": lambda text: (f"{SEARCH}?{text}", {}),
}


@pytest.mark.parametrize("position", AROUND)
def test_a_hostile_text_around_the_body(sandbox: da.Sandbox, position: str) -> None:
    token = sandbox.issue_token(["item"])
    refusals = set()
    for name, text in texts_of(list(AROUND).index(position)).items():
        path, headers = AROUND[position](text)
        # Each on a connection of its own: what breaks a head may leave bytes behind it.
        with PlainService(sandbox.base_url, token) as service:
            reply = service.post(path, item_search(), headers)
        assert reply.status < 500, (name, reply)
        # What is no HTTP is refused before there is a request to respond to with an envelope.
        if reply.status == 200:
            assert len(reply.records) == 1, name
        elif reply.body:
            assert is_one_harmless_line(reply.refusal), name
        refusals |= {reply.body} if reply.status == 403 else set()
    # Permission failures are all the same.
    assert len(refusals) <= 1
