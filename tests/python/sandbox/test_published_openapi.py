"""What the published description promises to generators of clients, and what it leaves open."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from support.plain_http import DOWNLOAD, SEARCH, PlainService

import dataaccess as da

PUBLISHED = json.loads((Path(__file__).parents[3] / "docs" / "openapi.json").read_bytes())
SCHEMAS = PUBLISHED["components"]["schemas"]
RESPONSES = PUBLISHED["components"]["responses"]


def as_json_schema(value: Any) -> Any:
    """The same in the words of JSON Schema, which has no `nullable`."""
    if isinstance(value, list):
        return [as_json_schema(each) for each in value]
    if not isinstance(value, dict):
        return value
    plain = {name: as_json_schema(member) for name, member in value.items() if name != "nullable"}
    return {"anyOf": [plain, {"type": "null"}]} if value.get("nullable") is True else plain


def shape(schema: dict[str, Any]) -> Any:
    components = {"schemas": as_json_schema(SCHEMAS)}
    return jsonschema_rs.validator_for(schema | {"components": components}, validate_formats=True)


def named(name: str) -> Any:
    return shape({"$ref": f"#/components/schemas/{name}"})


def objects(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """All objects of a value with their paths, but not the values of examples."""
    if isinstance(value, dict):
        yield path, value
        for name, member in value.items():
            if name != "examples":
                yield from objects(member, f"{path}/{name}")
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from objects(element, f"{path}/{index}")


def test_it_has_nothing_that_generators_do_not_take() -> None:
    refused = {"const", "prefixItems", "if", "then", "not", "pattern", "anyOf", "allOf"}
    for path, found in objects(PUBLISHED):
        assert not refused & found.keys(), path
        assert found.get("additionalProperties") is not False, path
        assert not isinstance(found.get("type"), list), path
        if "$ref" in found:
            assert found.keys() == {"$ref"}, f"{path}: OpenAPI 3.0 ignores the members beside a reference"


def test_what_is_not_shown_is_marked() -> None:
    marked = {path.removeprefix("/components/") for path, found in objects(PUBLISHED) if found.get("x-not-shown")}
    entry, code = "schemas/ExportEntry/properties/", "schemas/PromotionCode/properties/"
    assert marked == {
        *(f"responses/{name}" for name in RESPONSES),
        "schemas/SearchData/properties/data",
        *(entry + name for name in ["exportedRows", "endTime", "durations", "responseCode", "responseMessage"]),
        *(code + name for name in ["last_used_source", "last_used_time", "channel_id"]),
        "/paths//access/api/item/search/post/responses/403",
    }
    assert [path for path, found in objects(SCHEMAS) if found.get("format") == "date-time"] == [
        "/ExportEntry/properties/startTime"
    ], "the only time whose format the specification shows"


def test_every_failure_has_the_envelope() -> None:
    statuses = {"400", "403", "404", "405", "408", "413", "415", "431", "500", "503", "4XX", "5XX"}
    for item in PUBLISHED["paths"].values():
        answers = item["post"]["responses"]
        assert answers.keys() == {"200"} | statuses
        for status in statuses:
            answer = answers[status]
            answer = RESPONSES[answer["$ref"].rpartition("/")[2]] if "$ref" in answer else answer
            assert answer["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Envelope"}
    assert RESPONSES["Unavailable"]["headers"]["Retry-After"]["schema"] == {"type": "integer"}


def plain(value: Any) -> Any:
    """An envelope without what differs from call to call: the times of an export, and how long the call took."""
    text = re.sub(r'"\d{4}-\d\d-\d\dT[\d:.]+Z"', '"time"', json.dumps(value))
    return json.loads(re.sub(r'"\d+ms"', '"duration"', text))


@pytest.mark.parametrize("path", [SEARCH, DOWNLOAD])
def test_the_examples_are_what_the_sandbox_takes_and_sends(sandbox: da.Sandbox, path: str) -> None:
    operation = PUBLISHED["paths"][path]["post"]
    request = operation["requestBody"]["content"]["application/json"]
    response = operation["responses"]["200"]["content"]["application/json"]
    denied = operation["responses"]["403"]["content"]["application/json"]["examples"]["permission"]["value"]
    assert request["examples"].keys() == response["examples"].keys()
    assert named("Envelope").is_valid(denied)
    token = sandbox.issue_token()
    with PlainService(sandbox.base_url, token) as service, PlainService(sandbox.base_url, "wrong") as stranger:
        for name, example in request["examples"].items():
            shown = response["examples"][name]["value"]
            shape(request["schema"]).validate(example["value"])
            shape(response["schema"]).validate(shown)
            assert plain(service.post(path, example["value"]).envelope) == plain(shown), name
            assert stranger.post(path, example["value"]).envelope == denied


def test_the_examples_of_refusals_are_what_the_sandbox_sends(sandbox: da.Sandbox) -> None:
    provoked = {
        "Malformed": ("missingMember", SEARCH, {}),
        "NotFound": ("unknownExport", DOWNLOAD, {"scope": "download", "exportId": 1}),
    }
    given = {
        name: response["content"]["application/json"]["examples"]
        for name, response in RESPONSES.items()
        if "examples" in response["content"]["application/json"]
    }
    assert given.keys() == provoked.keys()
    with PlainService(sandbox.base_url, sandbox.issue_token()) as service:
        for name, (example, path, body) in provoked.items():
            shown = given[name][example]["value"]
            named("Envelope").validate(shown)
            assert service.post(path, body).envelope == shown


def test_it_takes_any_object_attribute_and_operator() -> None:
    search = named("Search")
    condition = {
        "column": "city",
        "data_type": "string",
        "operator": "contains",
        "value_type": "normal",
        "value": ["Graz", 2.5, True],
        "condition_type": "comp_attr",
    }
    code_condition = {
        "type": 2,
        "column": "code_status",
        "data_type": "number",
        "operator": "not_matches",
        "value": [4],
        "extendValue": [],
    }

    def of(item_type_id: object, name: str, *conditions: dict[str, Any]) -> dict[str, Any]:
        filters = {"OR": [{"AND": list(conditions)}]}
        return {"itemTypeId": item_type_id, "itemTypeName": name, "attrs": ["city", "name"], "filters": filters}

    for number, name in [(-1003, "customer"), (-100, "promotion_code"), (17, "voucher")]:
        search.validate(of(number, name, condition))
    search.validate(of(-100, "promotion_code", code_condition))
    assert not search.is_valid(of("-1003", "customer", condition))
    assert not search.is_valid(of(-1003, "customer", {"column": "city"}))


def test_responses_may_have_more_than_is_described() -> None:
    items = [{"id": 1, "is_open": True, "tags": ["a", "b"], "sizes": [1, 2], "note": None}]
    found = {"code": 200, "message": "Found", "data": {"status": True, "data": items, "next": "n"}, "trace": "t"}
    search = named("SearchEnvelope")
    search.validate(found)
    search.validate(found | {"data": {"status": True, "data": None}})
    assert not search.is_valid(found | {"data": {"status": "yes"}})
    entry = {"exportStatus": 7, "startTime": "2024-03-01T06:00:00.000Z", "endTime": None, "responseCode": "OK"}
    export = {"code": 200, "message": "Success", "data": {"entries": [entry], "meta": {"total": 1}}, "duration": "1ms"}
    named("ExportEnvelope").validate(export)
    assert not named("ExportEntry").is_valid(entry | {"startTime": "yesterday"})
