"""Clients that ask for too much, for what is not theirs, or all at once; the ids are those of docs/reliability.md."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import demo_tables
from support.oracle import Table, records
from support.plain_http import PlainService

import dataaccess as da

GROUPS = 10_000
Body = dict[str, Any]


@pytest.fixture(scope="module")
def service(sandbox: da.Sandbox) -> Iterator[PlainService]:
    with PlainService(sandbox.base_url, sandbox.issue_token(["item"])) as service:
        yield service


@pytest.fixture(scope="module")
def customers(service: PlainService) -> Table:
    return demo_tables.customers(service)


def condition(*values: Any, **members: Any) -> Body:
    return {
        "column": "customer_id",
        "data_type": "string",
        "operator": "matches",
        "value_type": "normal",
        "value": list(values),
        "condition_type": "comp_attr",
        **members,
    }


def search(*groups: list[Body]) -> Body:
    filters = {"OR": [{"AND": group} for group in groups]}
    return {"itemTypeId": -1003, "itemTypeName": "customer", "attrs": ["customer_id"], "filters": filters}


def customer(number: int) -> str:
    return f"demo-customer-{number:04}"


def the_customers(first: int, last: int) -> list[Body]:
    return [{"customer_id": customer(number)} for number in range(first, last + 1)]


@pytest.mark.slow
@pytest.mark.parametrize(("values", "times"), [(5_000, 10), (12_000, 4)], ids=["5-megabytes", "12-megabytes"])
def test_b2_a_client_that_sends_too_much_gets_a_refusal(sandbox: da.Sandbox, values: int, times: int) -> None:
    """The refusal is sent while the client is still writing, and reaches it each time."""
    one_of = da.col("customer_id").matches([f"{number:01000}" for number in range(values)])
    client = sandbox.client(retry_for=0)
    for _ in range(times):
        with pytest.raises(da.RequestRejectedError, match=r"\b4194304\b"):
            client.search_items("customer", ["customer_id"], one_of)


@pytest.mark.slow
def test_b3_ten_thousand_groups_are_searched(service: PlainService) -> None:
    body = search(*([condition(customer(number))] for number in range(1_000, GROUPS + 1_000)))
    assert service.search(body).records == the_customers(1_000, 2_025)


@pytest.mark.slow
def test_b3_ten_thousand_conditions_of_one_group_are_searched(service: PlainService) -> None:
    body = search([condition(customer(1), customer(number)) for number in range(1, GROUPS + 1)])
    assert service.search(body).records == the_customers(1, 1)


@pytest.mark.parametrize("shape", ["groups", "conditions", "empty-groups"])
def test_b3_more_is_refused_by_its_path(service: PlainService, shape: str) -> None:
    many = [condition()] * (GROUPS + 1)
    groups: dict[str, list[list[Body]]] = {
        "groups": [[each] for each in many],
        "conditions": [many],
        "empty-groups": [[]] * len(many),
    }
    reply = service.search(search(*groups[shape]))
    assert reply.status == 400
    assert re.match(r"filters\.OR: .*\b10000\b", reply.refusal)


def test_b3_a_hundred_thousand_values_are_searched(service: PlainService) -> None:
    body = search([condition(*(customer(number) for number in range(1_000, 101_000)))])
    assert service.search(body).records == the_customers(1_000, 2_025)


@pytest.mark.parametrize("value", ["a", "", 7], ids=["text", "empty", "number"])
def test_b3_a_million_values_are_refused(service: PlainService, value: object) -> None:
    reply = service.search(search([condition(*([value] * 1_000_000))]))
    assert reply.status == 400
    assert "filters.OR" in reply.refusal


@pytest.mark.parametrize("values", [[customer(1)] * 1_001, ["\x00"] * 1_001], ids=["same", "zero-characters"])
def test_b3_a_list_that_repeats_itself_is_no_failure(service: PlainService, values: list[str]) -> None:
    assert service.search(search([condition(*values)])).status in {200, 400}


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=8), inside, max_size=3),
    max_leaves=8,
)


@given(draw=st.data())
def test_b3_anything_in_any_place_of_a_filter_is_answered(service: PlainService, draw: Any) -> None:
    """The grammar of filters with any JSON value in one of its places: a response or a refusal, no failure."""
    member = draw.draw(st.sampled_from([*condition(), "OR", "AND", "filters", "condition", "attrs", "itemTypeName"]))
    value = draw.draw(ANYTHING)
    body = search([condition(customer(1))])
    filters = body["filters"]
    places = {"OR": filters, "AND": filters["OR"][0], "filters": body, "attrs": body, "itemTypeName": body}
    if member == "condition":
        filters["OR"][0]["AND"].append(value)
    else:
        places.get(member, filters["OR"][0]["AND"][0])[member] = value
    reply = service.search(body)
    assert reply.records is not None if reply.status == 200 else reply.refusal


INJECTIONS = [
    "{}; DROP TABLE item_0",
    "{} FROM sqlite_master; --",
    "{}, (SELECT group_concat(sql) FROM sqlite_master)",
    "{}) OR 1=1 --",
    '{}" OR ""="',
    "{}' OR 'a'='a",
    "a0 AS {}",
    "{}\x00",
    "(SELECT {})",
    "item_1.{}",
]


@pytest.mark.parametrize("template", INJECTIONS)
def test_b4_names_with_sql_in_them_are_unknown_names(service: PlainService, customers: Table, template: str) -> None:
    known = search([condition(customer(1))])
    column = search([condition(customer(1), column=template.format("customer_id"))])
    for body in (
        column,
        {**known, "attrs": [template.format("customer_id")]},
        {**known, "attrs": template.format("customer_id")},
        {**known, "itemTypeName": template.format("customer")},
    ):
        assert service.search(body).refusal
    everything = search([])
    assert service.search(everything).records == records(customers, everything)


@pytest.mark.parametrize("template", INJECTIONS)
def test_b4_values_with_sql_in_them_are_values(service: PlainService, template: str) -> None:
    assert service.search(search([condition(template.format(customer(1)))])).records == []


BATCH = 50


def test_b6_concurrent_loads_and_searches_are_complete() -> None:
    """Four threads load, four search: each response has all rows of a load or none, and never fewer than before."""
    everything = {**search([]), "itemTypeId": 7, "itemTypeName": "visit", "attrs": ["visit_id", "load"]}
    with da.Sandbox() as sandbox:
        sandbox.declare("visit", 7, {"visit_id": "string", "load": "string"})
        token = sandbox.issue_token(["item"])

        def load(loader: int) -> None:
            for number in range(10):
                name = f"{loader}-{number}"
                rows = [{"visit_id": f"{name}-{row}", "load": name} for row in range(BATCH)]
                assert sandbox.load("visit", rows) == BATCH
                with pytest.raises(da.SandboxError, match=f"`{name}-0`"):
                    sandbox.load("visit", [{"visit_id": f"{name}-new", "load": name}, *rows])

        def look(_: int) -> None:
            seen = 0
            with PlainService(sandbox.base_url, token) as service:
                while seen < 4 * 10 * BATCH:
                    found = Counter(record["load"] for record in service.search(everything).records)
                    assert set(found.values()) <= {BATCH}
                    assert found.total() >= seen
                    seen = found.total()

        with ThreadPoolExecutor(8) as threads:
            work = [threads.submit(one, number) for number in range(4) for one in (load, look)]
            for each in work:
                each.result()


@pytest.mark.slow
def test_b6_searches_side_by_side_do_not_mix(sandbox: da.Sandbox, customers: Table) -> None:
    """Eight threads, each with a connection of its own, ask for different rows and get those."""
    token = sandbox.issue_token(["item"])

    def ask(seed: int) -> None:
        chance = random.Random(seed)
        with PlainService(sandbox.base_url, token) as service:
            for _ in range(20):
                first = chance.randint(1, 1_900)
                body = search([condition(*(customer(number) for number in range(first, first + 20)))])
                assert service.search(body).records == records(customers, body)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(ask, range(8)))
