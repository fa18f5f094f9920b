"""What Airflow finds of the provider, and the connection."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from airflow.providers_manager import ProvidersManager
from airflow.sdk import Connection
from scratch import READS_FORMS

import dataaccess as da
from dataaccess._client.settings import SETTINGS
from dataaccess._core.secret import Secret
from dataaccess.airflow import DataAccessHook
from dataaccess.airflow.connection import base_url
from dataaccess.airflow.provider import get_provider_info


def given(host: str | None, port: int | None = None, schema: str | None = None) -> Connection:
    return Connection(conn_id="cdp", conn_type=None, host=host, port=port, schema=schema)


def test_airflow_registers_the_provider() -> None:
    manager = ProvidersManager()
    assert "dataaccess" in manager.providers
    hook = manager.hooks["dataaccess"]
    assert hook is not None
    assert (hook.hook_class_name, hook.connection_id_attribute_name) == (
        "dataaccess.airflow.hook.DataAccessHook",
        "dataaccess_conn_id",
    )


@pytest.mark.skipif(not READS_FORMS, reason="before 3.2, Airflow has no form of a provider: settings go into extra")
def test_airflow_shows_the_form() -> None:
    manager = ProvidersManager()
    sensitive = {name for name, widget in manager.connection_form_widgets.items() if widget.is_sensitive}
    assert {name for name in sensitive if "dataaccess" in name} == {"extra__dataaccess__proxy"}
    assert manager.field_behaviours["dataaccess"]["relabeling"] == {"host": "Base URL", "password": "Token"}


def test_every_field_of_the_form_is_a_setting_with_its_default() -> None:
    form = get_provider_info()["connection-types"][0]["conn-fields"]
    assert form.keys() == {name for name, spec in SETTINGS.items() if spec.is_usual} - {"base_url"}
    for name, field in form.items():
        assert field["schema"].get("default") == SETTINGS[name].default, name


@pytest.mark.parametrize(
    ("connection", "expected"),
    [
        (given("https://cdp.example.com"), "https://cdp.example.com"),
        (given("cdp.example.com", 8443, "api"), "https://cdp.example.com:8443/api"),
        (given("cdp.example.com", 8080, "http"), "http://cdp.example.com:8080"),
        (given("https://cdp.example.com", None, "https"), "https://cdp.example.com"),
        (given("sandbox:demo"), "sandbox:demo"),
        (given(None), None),
    ],
)
def test_the_host_is_the_base_url(connection: Connection, expected: str | None) -> None:
    assert base_url(Secret(connection)) == expected


def test_settings_come_from_the_extra(connect: Callable[..., str]) -> None:
    connect(extra={"timeout": "1.5m", "concurrency": 2, "timezone": "Asia/Ho_Chi_Minh", "allow_http": "true"})
    settings = DataAccessHook().get_conn()._settings
    assert [settings[name] for name in ("timeout", "concurrency", "allow_http")] == [90, 2, True]
    assert settings["timezone"] == "Asia/Ho_Chi_Minh"


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"extra": {"time_out": 5}}, r"'time_out'.*'timeout'"),
        ({"extra": {"timeout": "soon"}}, r"\btimeout: 'soon'"),
        ({"extra": {"headers": "X-Key: hunter2"}}, r"\bheaders: (?!.*hunter2)"),
        ({"login": "me"}, r"\blogin\b"),
        ({"conn_type": "http"}, r"'http'.*\bdataaccess\b"),
        ({"schema": "https"}, r"\bschema\b.*'https'.*http://127\.0\.0\.1"),
    ],
)
def test_a_setting_that_cannot_be_used_is_an_error(
    connect: Callable[..., str], fields: dict[str, Any], named: str
) -> None:
    connect(**fields)
    with pytest.raises(da.ConfigError, match=f"'dataaccess_default'.*{named}"):
        DataAccessHook().get_conn()


def test_the_test_of_a_connection_says_what_works(sandbox: da.Sandbox, connect: Callable[..., str]) -> None:
    token = connect()
    works, found = DataAccessHook().test_connection()
    assert works
    assert "✓ scope item" in found
    sandbox.revoke(token)
    works, found = DataAccessHook().test_connection()
    assert not works
    assert token not in found
    connect(login="me")
    assert DataAccessHook().test_connection()[0] is False


def test_without_a_connection_the_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", "sandbox:demo")
    hook = DataAccessHook(None)
    assert hook.get_conn().is_sandbox
    assert hook.get_conn() is hook.get_conn()


def test_a_refused_token_is_read_again(sandbox: da.Sandbox, connect: Callable[..., str]) -> None:
    first = connect()
    client = DataAccessHook().get_conn()
    assert client.search_codes(["id"], allocated_time=da.on("2024-01-15"), limit=1)
    connect()
    sandbox.revoke(first)
    assert client.search_codes(["id"], allocated_time=da.on("2024-01-15"), limit=1)


@pytest.mark.usefixtures("connect")
def test_the_client_of_a_connection_does_not_pickle(monkeypatch: pytest.MonkeyPatch) -> None:
    client = DataAccessHook().get_conn()
    with pytest.raises(TypeError, match=r"\bdataaccess_conn_id=None\b"):
        pickle.dumps(client)
    monkeypatch.setenv("DATAACCESS_BASE_URL", "sandbox:demo")
    assert pickle.loads(pickle.dumps(DataAccessHook(None).get_conn())).is_sandbox


def test_airflow_2_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "airflow").mkdir()
    (tmp_path / "airflow" / "__init__.py").write_text("__version__ = '2.11.2'")
    path = os.pathsep.join([str(tmp_path), str(Path(da.__file__).parents[1])])
    for code in ("from dataaccess.airflow import DataAccessHook", "import dataaccess.airflow.sensor"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            check=False,
            text=True,
        )
        assert re.search(r"^ImportError: dataaccess\.airflow .*\b3\.1\.8\b.*\b2\.11\.2\b", done.stderr, re.MULTILINE)
