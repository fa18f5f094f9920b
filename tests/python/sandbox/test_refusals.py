"""A body that breaks one rule is refused with its place: the refusals of `tests/json/contract.json`."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import pytest
from support.contract import CONTRACT, named
from support.plain_http import PlainService

import dataaccess as da


@pytest.fixture(scope="module")
def service() -> Iterator[PlainService]:
    """A sandbox with an object that has an attribute of each type."""
    with da.Sandbox() as sandbox:
        sandbox.declare("store", 7, {"name": "string", "area": "int64", "opened": "datetime"})
        with PlainService(sandbox.base_url, sandbox.issue_token(["item"])) as service:
            yield service


def code(column: str, data_type: str, operator: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"type": 2, "column": column, "data_type": data_type, "operator": operator, "value": value, **more}


def item(column: str, data_type: str, operator: str, value: Any) -> dict[str, Any]:
    types = {"value_type": "normal", "condition_type": "comp_attr"}
    return {"column": column, "data_type": data_type, "operator": operator, "value": value, **types}


# Bodies that break no rule.
GOOD: dict[str, dict[str, Any]] = {
    "codes": {
        "itemTypeId": -100,
        "itemTypeName": "promotion_code",
        "attrs": ["id", "name"],
        "filters": {
            "OR": [
                {
                    "AND": [
                        code("audience_type", "number", "matches", [-1003, -1007], extendValue=[]),
                        code("allocated_audience", "string", "matches", ["c-1"], extendValue=[]),
                        code("code_status", "number", "matches", [4], extendValue=[]),
                        code("allocated_time", "datetime", "after_date", 1_705_276_800_000, time_unit="DAY"),
                    ]
                }
            ]
        },
    },
    "items": {
        "itemTypeId": 7,
        "itemTypeName": "store",
        "attrs": ["name", "area"],
        "filters": {
            "OR": [
                {"AND": [item("name", "string", "matches", ["a"]), item("area", "number", "matches", [1])]},
                {"AND": [{**item("opened", "datetime", "equals", 1_705_276_800_000), "time_unit": "DAY"}]},
            ]
        },
    },
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
