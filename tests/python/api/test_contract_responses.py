"""The responses of `tests/json/contract.json`: each way to call the service has the rows or the same error.

`tests/airflow/test_contract.py` reads them too.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.commands import RunHere, run_here
from support.contract import named, responding, responses, verdict
from support.raw_server import serving

import dataaccess as da
from dataaccess.spark._columns import Columns, SparkColumn
from dataaccess.spark._tasks import Response

__all__ = ["run_here"]

pytestmark = pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")

Case = dict[str, Any]
DAY = da.on("2024-01-15")


@pytest.mark.both_clients
@pytest.mark.parametrize("case", responses("client"), ids=named)
def test_a_client_has_the_rows_or_the_error(case: Case, connect: Any) -> None:
    def search(client: Any) -> Any:
        return client.search_codes(["id"], allocated_time=DAY)

    def scan(client: Any) -> Any:
        return client.scan_codes(["id"], allocated_time=DAY).to_dicts()

    for use in (search, scan):
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
        response = Response(task, Columns((SparkColumn("id", "string"),)))
        if "rows" in case["verdict"]:
            assert [row for batch in response.batches() for row in batch.to_pylist()] == case["verdict"]["rows"]
            return
        with pytest.raises(da.DataAccessError) as caught:
            list(response.batches())
        assert verdict(caught.value) == case["verdict"]
