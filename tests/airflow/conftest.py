"""Airflow in a folder of its own, with the provider as installed, and the service with demo data."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "airflow"
HOME = Path(tempfile.mkdtemp(prefix="airflow-"))
atexit.register(shutil.rmtree, HOME, ignore_errors=True)

# Airflow reads these at its import.
os.environ.update(
    {
        "AIRFLOW_HOME": str(HOME),
        "AIRFLOW__CORE__DAGS_FOLDER": str(EXAMPLES),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__UNIT_TEST_MODE": "False",
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "INFO",
    }
)


def install_provider(folder: Path) -> None:
    """Writes what `pip` makes of the entry points in pyproject.toml, as these tests import from the source tree."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = folder / f"{project['name']}-0.0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0.0.1\n")
    group = "apache_airflow_provider"
    points = "".join(f"{name} = {target}\n" for name, target in project["entry-points"][group].items())
    (info / "entry_points.txt").write_text(f"[{group}]\n{points}")


install_provider(HOME / "site")
sys.path.append(str(HOME / "site"))

import dataaccess as da  # noqa: E402 - after the settings


@pytest.fixture(scope="session", autouse=True)
def _database() -> None:
    """An empty database of Airflow."""
    from airflow.utils.db import initdb

    initdb()


@pytest.fixture
def sandbox() -> Iterator[da.Sandbox]:
    """The service with demo data, its request log empty."""
    with da.Sandbox.demo() as sandbox:
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
