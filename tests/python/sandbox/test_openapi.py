"""The service keeps to its OpenAPI description, which is the one in `docs`.

It is loose, so that generators of clients take it and clients bear what a platform may add.
"""

from __future__ import annotations

import json
import re
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

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

PUBLISHED = Path(__file__).parents[3] / "docs" / "openapi.json"


@pytest.fixture
def description() -> schemathesis.BaseSchema:
    description = schemathesis.openapi.from_path(PUBLISHED)
    rejection = description.config.checks.negative_data_rejection
    # A body that is refused for its size was refused.
    rejection.expected_statuses = [*rejection.expected_statuses, "413"]
    return description


def test_what_is_served_is_what_is_committed(sandbox: da.Sandbox) -> None:
    with urllib.request.urlopen(f"{sandbox.base_url}/openapi.json") as response:
        assert (response.status, response.headers["Content-Type"]) == (200, "application/json")
        assert response.read() == PUBLISHED.read_bytes()


def test_it_is_open_api(description: schemathesis.BaseSchema) -> None:
    assert DESCRIPTION["openapi"] == "3.0.3"
    description.validate()


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
    sandbox: da.Sandbox,
    path: str,
    phase: str,
    modes: set[GenerationMode],
) -> None:
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
            # Many rules are in the words of the description alone.
            excluded_checks=[missing_required_header, positive_data_acceptance],
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


DESCRIPTION = json.loads(PUBLISHED.read_bytes())


def plain(value: Any) -> Any:
    """An envelope without what differs from call to call: the times of an export, and how long the call took."""
    text = re.sub(r'"\d{4}-\d\d-\d\dT[\d:.]+Z"', '"time"', json.dumps(value))
    return json.loads(re.sub(r'"\d+ms"', '"duration"', text))


@pytest.mark.parametrize("path", [SEARCH, DOWNLOAD])
def test_the_examples_are_what_the_sandbox_takes_and_sends(sandbox: da.Sandbox, path: str) -> None:
    operation = DESCRIPTION["paths"][path]["post"]
    request = operation["requestBody"]["content"]["application/json"]
    response = operation["responses"]["200"]["content"]["application/json"]
    denied = operation["responses"]["403"]["content"]["application/json"]["examples"]["permission"]["value"]
    assert request["examples"].keys() == response["examples"].keys()
    token = sandbox.issue_token()
    with PlainService(sandbox.base_url, token) as service, PlainService(sandbox.base_url, "wrong") as stranger:
        for name, example in request["examples"].items():
            shown = response["examples"][name]["value"]
            assert plain(service.post(path, example["value"]).envelope) == plain(shown), name
            assert stranger.post(path, example["value"]).envelope == denied
