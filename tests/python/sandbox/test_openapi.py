"""The service keeps to its OpenAPI description, which is the one in `docs`, and to the strict one of the tests.

The published description is loose, so that generators of clients take it and clients bear what a platform may add. The
strict description says all that the sandbox checks and sends.
"""

from __future__ import annotations

import http.client
import json
from collections import Counter
from contextlib import closing
from email.message import Message
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks
from schemathesis.core.result import Ok
from schemathesis.pytest.lazy import get_all_tests
from schemathesis.specs.openapi.checks import missing_required_header, positive_data_acceptance
from support.plain_http import DOWNLOAD, SEARCH, PlainService

import dataaccess as da
from dataaccess import PROMOTION_CODE_ATTRIBUTES

PUBLISHED = Path(__file__).parents[3] / "docs" / "openapi.json"
STRICT = Path(__file__).with_name("strict_openapi.json")


@pytest.fixture(params=[PUBLISHED, STRICT], ids=["published", "strict"])
def path_of_description(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


@pytest.fixture
def description(path_of_description: Path) -> schemathesis.BaseSchema:
    description = schemathesis.openapi.from_path(path_of_description)
    rejection = description.config.checks.negative_data_rejection
    # A body that is refused for its size was refused.
    rejection.expected_statuses = [*rejection.expected_statuses, "413"]
    return description


def ask(sandbox: da.Sandbox, method: str, **headers: str) -> tuple[int, Message, str]:
    connection = http.client.HTTPConnection(sandbox.base_url.removeprefix("http://"), timeout=10)
    with closing(connection):
        connection.request(method, "/openapi.json", headers=headers)
        response = connection.getresponse()
        return response.status, response.headers, response.read().decode()


def test_what_is_served_is_what_is_committed(sandbox: da.Sandbox) -> None:
    status, headers, served = ask(sandbox, "GET")
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert served == PUBLISHED.read_text(encoding="utf-8")


def test_both_are_open_api(description: schemathesis.BaseSchema, path_of_description: Path) -> None:
    version = {PUBLISHED: "3.0.3", STRICT: "3.1.0"}[path_of_description]
    assert json.loads(path_of_description.read_bytes())["openapi"] == version
    description.validate()


def test_it_is_guarded_as_the_service_is(sandbox: da.Sandbox) -> None:
    assert ask(sandbox, "GET", Host="cdp.example.com")[0] == 403
    assert ask(sandbox, "GET", Origin="https://example.com")[0] == 403
    status, headers, _ = ask(sandbox, "POST")
    assert (status, headers["Allow"]) == (405, "GET,HEAD")


def no_response_without_a_token(_context: object, response: schemathesis.Response, _case: object) -> None:
    """Replaces the check that insists on 401, where section 7 of the service's document has 403."""
    if "Authorization" not in response.request.headers:
        assert response.status_code == 403


EXAMPLES = min(300, settings().max_examples)
VALID, INVALID = {GenerationMode.POSITIVE}, {GenerationMode.NEGATIVE}
# Most of the requests that cover the schema have a value of a wrong type somewhere: two of a place will do.
ALIKE = 2 if EXAMPLES < 300 else 1_000


# Made here and not by `schemathesis.parametrize`, which takes seconds to do so at each collection.
@pytest.mark.hypothesis
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("path", [SEARCH, DOWNLOAD])
@pytest.mark.parametrize(
    ("phase", "modes"),
    [
        pytest.param("coverage", VALID | INVALID, id="coverage"),
        pytest.param("fuzzing", VALID, id="valid"),
        pytest.param("fuzzing", INVALID, id="invalid"),
    ],
)
def test_every_request_is_answered_as_described(
    description: schemathesis.BaseSchema,
    path_of_description: Path,
    sandbox: da.Sandbox,
    path: str,
    phase: str,
    modes: set[GenerationMode],
) -> None:
    # Many rules are in the words of the published description alone.
    loose = [positive_data_acceptance] if path_of_description == PUBLISHED else []
    # How many valid and invalid requests were made, and how many that break a rule in the same way.
    cases: Counter[GenerationMode] = Counter()
    alike: Counter[tuple[str, str]] = Counter()

    def is_answered(case: schemathesis.Case[Any]) -> None:
        assert case.meta
        broken: Any = case.meta.phase.data
        if phase == "coverage" and broken.location:
            alike[broken.scenario, broken.location] += 1
            if alike[broken.scenario, broken.location] > ALIKE:
                return
        cases[case.meta.generation.mode] += 1
        case.call_and_validate(
            base_url=sandbox.base_url,
            headers={"Authorization": f"Bearer {sandbox.issue_token(expires_in=60)}"},
            additional_checks=[no_response_without_a_token],
            excluded_checks=[missing_required_header, *loose],
        )

    load_all_checks()
    for name in {"coverage", "fuzzing"} - {phase}:
        getattr(description.config.phases, name).enabled = False
    description.config.generation.update(modes=sorted(modes))
    few = settings(
        max_examples=EXAMPLES, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    of_path = description.include(path=path)
    (made,) = get_all_tests(schema=of_path, test_func=is_answered, settings=few, given_kwargs=None)
    assert isinstance(made, Ok)
    _, test = made.ok()
    test()
    # A request that was to be invalid may turn out to be valid.
    assert min(cases[mode] for mode in modes) >= (5 if phase == "coverage" else EXAMPLES // 2)


def shape(name: str) -> Any:
    components = json.loads(STRICT.read_bytes())["components"]
    return jsonschema_rs.validator_for({"$ref": f"#/components/schemas/{name}", "components": components})


def test_records_have_their_shape(sandbox: da.Sandbox) -> None:
    client = sandbox.client()
    code = shape("PromotionCode")
    codes = client.search_codes(list(PROMOTION_CODE_ATTRIBUTES), allocated_time=da.after("2024-01-01"))
    assert len(codes) > 1000
    assert all(code.is_valid(each) for each in codes)
    assert not code.is_valid({"allocated_time": "2024-01-15"})
    assert not code.is_valid({"pool": 1})


def test_promotion_codes_are_described_as_the_sandbox_takes_them(sandbox: da.Sandbox) -> None:
    search = shape("PromotionCodeSearch")
    good = da.validate_codes(["id", "name"], allocated_time=da.on("2024-01-15"), code_status="used")
    status, time = good["filters"]["OR"][0]["AND"]
    assert status["extendValue"] == []
    assert "extendValue" not in time

    def with_conditions(*conditions: dict[str, Any]) -> dict[str, Any]:
        return good | {"filters": {"OR": [{"AND": list(conditions)}]}}

    without = {name: value for name, value in status.items() if name != "extendValue"}
    cases = {
        "as the client sends it": (good, True),
        "without extendValue": (with_conditions(without, time), True),
        "attrs as a string": (good | {"attrs": "id,name"}, False),
        "extendValue on a datetime": (with_conditions(status, time | {"extendValue": []}), False),
        "extendValue with a value": (with_conditions(status | {"extendValue": [1]}, time), False),
    }
    with PlainService(sandbox.base_url, sandbox.issue_token(["item"])) as service:
        for name, (body, is_taken) in cases.items():
            assert (search.is_valid(body), service.search(body).status == 200) == (is_taken, is_taken), name


def test_refusals_have_their_shape(sandbox: da.Sandbox) -> None:
    problem = shape("Problem")
    with PlainService(sandbox.base_url, sandbox.issue_token(["item"])) as service:
        refused = [service.search({}), service.post("/nowhere", {}), service.search({"itemTypeId": 1})]
    for reply in refused:
        envelope = reply.envelope
        assert problem.is_valid(envelope)
        assert envelope["data"] == envelope["message"] == reply.refusal
        assert not problem.is_valid(envelope | {"data": None}), "section 2.1: an object, an array or a string"
