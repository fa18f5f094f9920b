"""The control routes keep to their OpenAPI description, which is the one in `docs`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonschema_rs
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks
from schemathesis.core.result import Ok
from schemathesis.pytest.lazy import get_all_tests

import dataaccess as da

COMMITTED = Path(__file__).parents[3] / "docs" / "sandbox-control.json"
DESCRIPTION = json.loads(COMMITTED.read_bytes())
PATHS = list(DESCRIPTION["paths"])
EXAMPLES = min(50, settings().max_examples)
VALID, INVALID = {GenerationMode.POSITIVE}, {GenerationMode.NEGATIVE}
# What a schema cannot say: names without commas, rows with declared attributes, names of scopes and switches, a
# thousand years in all, and that an integer is written without a fraction.
RULES_IN_WORDS = {
    f"/__sandbox/{path}"
    for path in ("objects", "objects/{name}/rows", "clock", "faults", "exports", "tokens", "switches", "compose")
}


@schemathesis.serializer("application/x-ndjson")
def lines(_context: object, value: object) -> bytes:
    """The text as it is."""
    return str(value).encode("utf-8", "surrogateescape")


@pytest.fixture
def description() -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_path(COMMITTED)


def as_sent(case: schemathesis.Case[Any], sandbox: da.Sandbox) -> dict[str, str]:
    """Makes a case the request that is sent: with the token that is added to it, without parameters that have no text.

    Returns the header. schemathesis leaves it out of a case whose one fault is that it is missing; else the server sees
    a token, and no parameter that is an empty list, so the request may be valid although the case was not.
    """
    token = {"Authorization": f"Bearer {sandbox.admin_token}"}
    if case.as_transport_kwargs(base_url=sandbox.base_url, headers=token)["headers"].get("Authorization"):
        case.headers.update(token)
    for name in [name for name, value in case.query.items() if not query_of({name: value})]:
        del case.query[name]
    return token


def is_a_fault(body: object) -> bool:
    """Whether a body is a fault as described. One of a kind that was changed may be a valid one of another kind."""
    fault = DESCRIPTION["paths"]["/__sandbox/faults"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    try:
        # As it is sent.
        return jsonschema_rs.is_valid({**fault, "components": DESCRIPTION["components"]}, json.loads(json.dumps(body)))
    except (TypeError, ValueError):
        # It is no JSON.
        return False


def query_of(parameters: dict[str, Any]) -> str:
    return urlsplit(requests.Request("GET", "http://localhost", params=parameters).prepare().url or "").query


def test_a_case_is_judged_by_what_is_sent(description: schemathesis.BaseSchema) -> None:
    """A query parameter that is an empty list is not sent, and a missing token is added."""
    with da.Sandbox() as sandbox:
        case = description["/__sandbox/requests"]["GET"].Case(query={"after": 0, "more": [], "": ""})
        token = as_sent(case, sandbox)
    assert (case.query, dict(case.headers)) == ({"after": 0, "": ""}, token)


def test_a_fault_of_another_kind_is_a_fault() -> None:
    assert is_a_fault({"kind": "reset", "probability": 0.5, "seed": None, "times": None})
    assert not is_a_fault({"kind": "nothing"})


def test_it_is_open_api(description: schemathesis.BaseSchema) -> None:
    assert json.loads(COMMITTED.read_bytes())["openapi"].startswith("3.1.")
    description.validate()


# Made here and not by `schemathesis.parametrize`, which takes seconds to do so at each collection.
@pytest.mark.hypothesis
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("phase", "modes"),
    [
        pytest.param("coverage", VALID | INVALID, id="coverage"),
        pytest.param("fuzzing", VALID, id="valid"),
        pytest.param("fuzzing", INVALID, id="invalid"),
    ],
)
def test_every_call_is_answered_as_described(
    description: schemathesis.BaseSchema, path: str, phase: str, modes: set[GenerationMode]
) -> None:
    if path == "/healthz" and phase == "fuzzing":
        modes = VALID
    cases: Counter[GenerationMode] = Counter()
    checks = description.config.checks
    # A name in a path that does not exist, and a body that is refused for its size, were refused.
    rejection = checks.negative_data_rejection
    rejection.expected_statuses = [*rejection.expected_statuses, "413"]
    if path in RULES_IN_WORDS:
        acceptance = checks.positive_data_acceptance
        acceptance.expected_statuses = [*acceptance.expected_statuses, "400"]

    with da.Sandbox() as sandbox:

        def is_answered(case: schemathesis.Case[Any]) -> None:
            assert case.meta
            is_negative = case.meta.generation.mode is GenerationMode.NEGATIVE
            if is_negative and path == "/__sandbox/faults" and case.method == "POST" and is_a_fault(case.body):
                return
            token = as_sent(case, sandbox)
            cases[case.meta.generation.mode] += 1
            case.call_and_validate(base_url=sandbox.base_url, headers=token)

        load_all_checks()
        for name in {"coverage", "fuzzing"} - {phase}:
            getattr(description.config.phases, name).enabled = False
        description.config.generation.update(modes=sorted(modes))
        few = settings(
            max_examples=EXAMPLES,
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        for made in get_all_tests(
            schema=description.include(path=path), test_func=is_answered, settings=few, given_kwargs=None
        ):
            assert isinstance(made, Ok)
            _, test = made.ok()
            test()
    assert cases
