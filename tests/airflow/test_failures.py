"""Which failures of operators Airflow retries."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from airflow.sdk import DAG
from dags import run, tries

import dataaccess as da
from dataaccess.airflow import (
    DataAccessScanOperator,
    DataAccessSearchOperator,
)
from dataaccess.airflow.failures import is_permanent

DAY = da.on("2024-01-15")


@pytest.fixture(autouse=True)
def token(connect: Callable[..., str]) -> str:
    return connect()


@pytest.fixture
def dag(request: pytest.FixtureRequest) -> DAG:
    return DAG(re.sub(r"\W+", "-", request.node.name), schedule=None)


def scan(**options: Any) -> None:
    DataAccessScanOperator(allocated_time=DAY, **options)


def search_codes(folder: str, **options: Any) -> None:
    DataAccessSearchOperator(allocated_time=DAY, path=f"{folder}/codes.parquet", **options)


def search_items(folder: str, **options: Any) -> None:
    path = f"{folder}/customers.parquet"
    DataAccessSearchOperator(item_type_name="customer", attrs=["customer_id"], path=path, **options)


EACH = pytest.mark.parametrize("operator", [scan, search_codes, search_items])


@EACH
def test_a_refused_token_is_not_retried_by_default(
    dag: DAG, sandbox: da.Sandbox, token: str, tmp_path: Any, operator: Any
) -> None:
    with dag:
        operator(task_id="task", folder=str(tmp_path), retries=1)
    sandbox.revoke(token)
    done = run(dag)
    assert (done.states, tries(done, "task")) == ({"task": "failed"}, 1)


@EACH
def test_a_rejected_request_is_not_retried(dag: DAG, sandbox: da.Sandbox, tmp_path: Any, operator: Any) -> None:
    with dag:
        operator(task_id="task", folder=str(tmp_path), retries=1)
    with sandbox.fault("status", status=400):
        done = run(dag)
    assert (done.states, tries(done, "task")) == ({"task": "failed"}, 1)
    assert [request.status for request in sandbox.requests] == [400]


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [(400, None, True), (404, 404, True), (200, 404, True), (403, None, False), (409, None, False), (200, 300, False)],
)
def test_a_wrong_request_is_permanent(status: int, code: int | None, *, expected: bool) -> None:
    error = da.errors.ApiError("no", status=status, code=code)
    assert is_permanent(error) is expected
    assert is_permanent(da.ScanIncompleteError("no", failed={"2024-01-15": error})) is expected
