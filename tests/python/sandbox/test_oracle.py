"""Searches compared with an oracle that evaluates the specification's filters in Python.

Bodies are drawn by hypothesis in both wire shapes and sent plainly, so that no check of the client is in
the way; then through both clients. `HYPOTHESIS_PROFILE=soak` draws many more.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.oracle import Row, Table, records
from support.oracle_tables import code_bodies, item_bodies, visits
from support.plain_http import PlainService

import dataaccess as da

Draw = st.DataObject
# Client and tables serve all examples of a test: they keep nothing that one could leave to the next.
shared_by_examples = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def service(sandbox: da.Sandbox) -> Iterator[PlainService]:
    with PlainService(sandbox.base_url, sandbox.issue_token(["item"])) as service:
        yield service


def agree(service: PlainService, table: Table, body: Row, zone: tzinfo = UTC) -> None:
    """The service and the oracle find the same records, in the same order, with their keys in the same order."""
    found = service.search(body).records
    expected = records(table, body, zone)
    assert [list(record.items()) for record in found] == [list(record.items()) for record in expected], body


@pytest.mark.slow
@given(draw=st.data())
def test_promotion_codes_are_those_the_oracle_finds(service: PlainService, codes: Table, draw: Draw) -> None:
    agree(service, codes, draw.draw(code_bodies(codes)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::dataaccess.EmptyResultWarning")  # of available codes of days that have none
@shared_by_examples
@given(draw=st.data())
def test_a_client_finds_the_codes_of_the_oracle(client: Any, codes: Table, draw: Draw) -> None:
    body = draw.draw(code_bodies(codes, sendable=True))
    arguments = {
        condition["column"]: da.op(condition["operator"], condition["value"])
        for condition in body["filters"]["OR"][0]["AND"]
    }
    assert client.search_codes(names(body), **arguments) == records(codes, body)
    assert client.search_items("promotion_code", names(body), body["filters"]) == records(codes, body)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::dataaccess.MissingIdsWarning")
@given(draw=st.data())
def test_an_expression_finds_what_its_groups_find(sandbox: da.Sandbox, customers: Table, draw: Draw) -> None:
    """`&` and `|` of expressions, given to the client as they were nested, mean the OR of ANDs."""
    body = draw.draw(item_bodies(customers, sendable=True))
    groups = [group["AND"] for group in body["filters"]["OR"]]
    expressions = [
        [da.col(condition["column"]).matches(condition["value"]) for condition in conditions] for conditions in groups
    ]
    where: Any = None
    for conditions in expressions:
        joined: Any = conditions[0]
        for condition in conditions[1:]:
            joined &= condition
        where = joined if where is None else where | joined
    assert sandbox.client().search_items(customers.name, names(body), where) == records(customers, body)


# Zones whose midnights lie far from UTC's, off the hour, or are skipped by a change of clocks.
ZONES = [
    "UTC",
    "Asia/Ho_Chi_Minh",
    "America/New_York",
    "Asia/Kathmandu",
    "Asia/Beirut",
    "Pacific/Kiritimati",
    "Pacific/Apia",
    "America/Sao_Paulo",
]
# Few examples that draw one each would leave out a zone.
two_zones = st.lists(st.sampled_from(ZONES), min_size=2, max_size=2, unique=True)


VISITS = visits()


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[dict[str, da.Sandbox]]:
    """Services that cut their days in other zones, with the visits loaded."""
    with ExitStack() as stack:
        sandboxes = {zone: stack.enter_context(da.Sandbox(switches={"day_zone": zone})) for zone in ZONES}
        for sandbox in sandboxes.values():
            sandbox.declare(VISITS.name, VISITS.item_type_id, VISITS.data_types)
            assert sandbox.load(VISITS.name, VISITS.rows) == len(VISITS.rows)
        yield sandboxes


@pytest.mark.slow
@given(zones=two_zones, body=item_bodies(VISITS))
def test_loaded_rows_are_those_the_oracle_finds_in_any_zone(
    elsewhere: dict[str, da.Sandbox], zones: list[str], body: Row
) -> None:
    for zone in zones:
        sandbox = elsewhere[zone]
        with PlainService(sandbox.base_url, sandbox.issue_token(["item"])) as service:
            agree(service, VISITS, body, ZoneInfo(zone))


@pytest.mark.slow
@given(zones=two_zones, body=item_bodies(VISITS, sendable=True), form=st.sampled_from(["array", "string"]))
def test_a_client_finds_the_loaded_rows_of_the_oracle(
    elsewhere: dict[str, da.Sandbox], zones: list[str], body: Row, form: Any
) -> None:
    for zone in zones:
        with elsewhere[zone].client(timezone=zone, attrs_format=form) as client:
            try:
                found = client.search_items("visit", names(body), body["filters"], item_type_id=7)
            except da.ValidationError as error:
                # A client refuses a group whose times are no range. So such a group has no rows.
                if [problem.path for problem in error.problems] != ["filters.OR"]:
                    raise
                groups = [{**body, "filters": {"OR": [group]}} for group in body["filters"]["OR"]]
                assert [] in [records(VISITS, group, ZoneInfo(zone)) for group in groups]
                continue
        assert found == records(VISITS, body, ZoneInfo(zone))


def names(body: Row) -> list[str]:
    attrs = body["attrs"]
    return [name.strip() for name in attrs.split(",")] if isinstance(attrs, str) else list(attrs)
