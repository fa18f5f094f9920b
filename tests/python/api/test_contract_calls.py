"""The calls of `tests/json/contract.json`: each way to call the service sends the body, or refuses with the problems.

`tests/rust/contract.rs` and `tests/airflow/test_contract.py` read them too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.commands import RunHere, run_here
from support.contract import ADDRESS, NOW, OPTIONS, arguments, calls, expected, named, problems, settings, texts, words
from support.plain_http import DOWNLOAD, SEARCH, PlainService
from support.raw_server import RawServer, always, serving

import dataaccess as da
from dataaccess.spark._options import checked, scan_of

__all__ = ["run_here"]

# Responses have no rows, or rows without the day of their search.
pytestmark = pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")

Case = dict[str, Any]


@pytest.fixture
def service(case: Case, now: Callable[[str], None]) -> Iterator[RawServer]:
    now(NOW)
    with serving(always(expected(case))) as server:
        yield server


@pytest.mark.both_clients
@pytest.mark.parametrize("case", calls("client"), ids=named)
def test_a_client_sends_the_body_or_reports_the_problems(case: Case, connect: Any, service: RawServer) -> None:
    client = connect(service.base_url, concurrency=1, **case.get("client", {}))

    def call() -> Any:
        found = getattr(client, case["call"])(**arguments(case))
        if case["call"].startswith("scan_"):
            bodies = [request["body"] for request in found.requests()]
            found.to_dicts()
            assert [request.json for request in service.requests] == bodies
        return found

    if "problems" in case:
        with pytest.raises(da.ValidationError) as caught:
            call()
        assert problems(caught.value) == case["problems"]
        assert service.requests == []
        return
    call()
    assert [request.json for request in service.requests] == case["bodies"]
    path = DOWNLOAD if case["call"] == "download_segment" else SEARCH
    assert {request.path for request in service.requests} == {path}
    if case["call"].startswith("search_") and len(case["bodies"]) == 1:
        validate = getattr(client, case["call"].replace("search", "validate"))
        assert [validate(**arguments(case))] == case["bodies"]


@pytest.mark.parametrize("case", calls("command"), ids=named)
def test_a_command_sends_the_body_or_names_the_option(
    case: Case, run_here: RunHere, service: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_service = {"BASE_URL": service.base_url, "TOKEN": "tok", "CONCURRENCY": "1"}
    for name, text in {**settings(case), **{f"DATAACCESS_{name}": text for name, text in of_service.items()}}.items():
        monkeypatch.setenv(name, text)
    code, _, reported = run_here(*words(case))
    assert (code, [request.json for request in service.requests]) == (2 * ("problems" in case), case.get("bodies", []))
    for argument, *_ in case.get("problems", [])[:1]:
        name = argument.partition("[")[0]
        assert OPTIONS.get(name, f"--{name}") in reported or name.upper() in reported


@pytest.mark.parametrize("case", calls("spark"), ids=named)
def test_options_of_spark_make_the_body_or_the_problems(
    case: Case, now: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    now(NOW)
    variables = {**settings(case), "DATAACCESS_BASE_URL": ADDRESS, "DATAACCESS_TOKEN": "tok"}
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    if "problems" in case:
        with pytest.raises(da.ValidationError) as caught:
            scan_of(checked(texts(case)), None, None)
        assert problems(caught.value) == case["problems"]
    else:
        found = scan_of(checked(texts(case)), None, None).requests()
        assert [request["body"] for request in found] == case["bodies"]


@pytest.fixture(scope="module")
def strict() -> Iterator[PlainService]:
    """A sandbox with the business objects of the cases."""
    with da.Sandbox() as sandbox:
        sandbox.declare("store", 7, {"name": "string", "opened": "datetime", "customer_id": "int64"})
        sandbox.declare("voucher", 5, {"a": "string"})
        sandbox.start_export(export_id=5637051)
        with PlainService(sandbox.base_url, sandbox.issue_token(["item", "download"])) as service:
            yield service


@pytest.mark.parametrize("case", [case for case in calls("sandbox") if "bodies" in case], ids=named)
def test_the_sandbox_takes_the_bodies_that_clients_send(case: Case, strict: PlainService) -> None:
    for body in case["bodies"]:
        reply = strict.post(DOWNLOAD if case["call"] == "download_segment" else SEARCH, json.loads(json.dumps(body)))
        assert reply.status == 200, reply.envelope["message"]
