"""Fixtures of the Airflow tests: the database, the service with demo data, and connections to it."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import scratch  # noqa: F401 - first, as Airflow reads its settings at import
from support.objects import Store, forwarded, moto_server

import dataaccess as da

with warnings.catch_warnings():
    # The modules of tests import Airflow before a marker applies, and Airflow 3.0 and 3.1 warn of their own imports.
    warnings.simplefilter("ignore")
    from airflow.sdk import DAG


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Lets Airflow and what it imports emit warnings."""
    for item in items:
        item.add_marker(pytest.mark.filterwarnings("default"))


@pytest.fixture(scope="session", autouse=True)
def _database() -> None:
    from airflow.utils.db import initdb

    initdb()


@pytest.fixture(scope="session", autouse=True)
def _api() -> Iterator[None]:
    """One API for all tasks. `dag.test()` builds one for each task, which takes a second in Airflow 3.0 and 3.1."""
    from airflow.sdk.execution_time import supervisor

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(supervisor, "in_process_api_server", cache(supervisor.in_process_api_server))
        yield


@pytest.fixture(scope="session")
def _moto() -> Iterator[int]:
    with moto_server() as port:
        yield port


@pytest.fixture
def store(_moto: int) -> Iterator[Store]:
    """A new bucket of an S3 server, which is an STS server too."""
    with forwarded(_moto) as store:
        yield store


@pytest.fixture
def sandbox() -> Iterator[da.Sandbox]:
    """The service with demo data, its request log empty."""
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        yield sandbox


@pytest.fixture
def connect(sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets the Airflow connection; by default to the sandbox, with a token of its own."""

    def connect(conn_id: str = "dataaccess_default", **fields: Any) -> str:
        token = fields.setdefault("password", sandbox.issue_token())
        given = {"conn_type": "dataaccess", "host": sandbox.base_url, **fields}
        monkeypatch.setenv(f"AIRFLOW_CONN_{conn_id.upper()}", json.dumps(given))
        return token  # type: ignore[no-any-return] # a string

    connect()
    return connect


@pytest.fixture
def token(connect: Any) -> str:
    made: str = connect()
    return made


@pytest.fixture
def dag(request: pytest.FixtureRequest) -> DAG:
    params = {"day": "2024-01-15", "name": "codes", "export_id": 0}
    return DAG(re.sub(r"\W+", "-", request.node.name), schedule=None, params=params)
