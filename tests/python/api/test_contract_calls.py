"""The calls of `tests/json/contract.json`: each way to call the service sends the body, or refuses with the problems.

`tests/rust/contract.rs` and `tests/airflow/test_contract.py` read them too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.commands import RunHere, run_here
from support.contract import (
    ADDRESS,
    NOW,
    OPTIONS,
    arguments,
    calls,
    expected,
    named,
    problems,
    responding,
    responses,
    settings,
    texts,
    verdict,
    words,
)
from support.plain_http import DOWNLOAD, SEARCH, PlainService
from support.raw_server import RawServer, always, serving
from support.searches import search

import dataaccess as da
from dataaccess.spark._columns import Columns, SparkColumn
from dataaccess.spark._options import checked, scan_of
from dataaccess.spark._tasks import batches

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
    assert {(request.path, request.query) for request in service.requests} == {(path, "")}
    if case["call"].startswith("search_") and len(case["bodies"]) == 1:
        validate = getattr(client, case["call"].replace("search", "validate"))
        assert [validate(**arguments(case))] == case["bodies"]


@pytest.mark.parametrize("case", calls("command"), ids=named)
def test_a_command_sends_the_body_or_names_the_option(
    case: Case, run_here: RunHere, service: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"DATAACCESS_BASE_URL": service.base_url, "DATAACCESS_TOKEN": "tok", "DATAACCESS_CONCURRENCY": "1"}
    for name, text in (settings(case) | given).items():
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


# The responses of the contract: each way to call the service has the rows or the same error.


DAY = da.on("2024-01-15")


@pytest.mark.both_clients
@pytest.mark.parametrize("case", responses("client"), ids=named)
def test_a_client_has_the_rows_or_the_error(case: Case, connect: Any) -> None:
    for use in (search, lambda client: client.scan_codes(["id"], allocated_time=DAY).to_dicts()):
        with serving(responding(case)) as service:
            client = connect(service.base_url, retry_for=0)
            if "rows" in case["verdict"]:
                assert use(client) == case["verdict"]["rows"]
                continue
            with pytest.raises(da.DataAccessError) as caught:
                use(client)
            assert verdict(caught.value) == case["verdict"]
            assert (caught.value.attempts, len(service.requests)) == (1, 1)


@pytest.mark.parametrize("case", responses("command"), ids=named)
def test_a_command_prints_the_rows_or_has_the_exit_code(
    case: Case, run_here: RunHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(responding(case)) as service:
        monkeypatch.setenv("DATAACCESS_BASE_URL", service.base_url)
        monkeypatch.setenv("DATAACCESS_TOKEN", "tok")
        monkeypatch.setenv("DATAACCESS_RETRY_FOR", "0")
        code, printed, _ = run_here("codes", "--on", "2024-01-15", "--attrs", "id", "--format", "jsonl")
    expected = case["verdict"]
    if "rows" in expected:
        assert (code, [json.loads(line) for line in printed.splitlines()]) == (0, expected["rows"])
    else:
        assert code == getattr(da, expected["error"])(**expected["fields"], retryable=expected["retryable"]).exit_code


@pytest.mark.parametrize("case", responses("spark"), ids=named)
def test_a_task_of_spark_has_the_rows_or_the_error(case: Case) -> None:
    with serving(responding(case)) as service, da.Client(service.base_url, token="t", retry_for=0) as client:
        (task,) = client.scan_codes(["id"], allocated_time=DAY, schema={"id": "string"}).tasks()
        response = batches(task, Columns((SparkColumn("id", "string"),)))
        if "rows" in case["verdict"]:
            assert [row for batch in response for row in batch.to_pylist()] == case["verdict"]["rows"]
            return
        with pytest.raises(da.DataAccessError) as caught:
            list(response)
        assert verdict(caught.value) == case["verdict"]
