"""The arguments of a client of an Airflow connection, without Airflow."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import dataaccess as da
from dataaccess._core.secret import Secret
from dataaccess.airflow.connection import client_arguments


def client_of(host: str) -> da.Client:
    connection: Any = SimpleNamespace(
        conn_id="c", conn_type="dataaccess", host=host, port=None, schema=None, login=None, password="tok", extra=None
    )
    return da.Client(**client_arguments(Secret(connection), {}, lambda: None))


def test_headers_of_the_environment_are_not_for_the_address_of_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_HEADERS", '{"X-Api-Key": "hunter2"}')
    assert client_of("cdp.example.com").settings["headers"].value is None
    monkeypatch.setenv("DATAACCESS_BASE_URL", "https://cdp.example.com")
    assert client_of("cdp.example.com").settings["headers"].value == {"X-Api-Key": "(hidden)"}
    assert client_of("other.example.com").settings["headers"].value is None
