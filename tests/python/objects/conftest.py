"""A store that is S3 for the client, and no setting of another one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.objects import Store, forwarded, moto_server
from support.runs import some_days

import dataaccess as da


@pytest.fixture(scope="session")
def moto() -> Iterator[int]:
    with moto_server() as port:
        yield port


@pytest.fixture(autouse=True)
def _no_other_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.startswith(("AWS_", "GOOGLE_", "AZURE_")):
            monkeypatch.delenv(name)
    # Where a client without credentials looks for those of its machine.
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("TMPDIR", str(tmp_path))


@pytest.fixture
def store(moto: int) -> Iterator[Store]:
    with forwarded(moto) as store:
        yield store


@pytest.fixture
def service() -> Iterator[da.Sandbox]:
    with some_days() as service:
        yield service


@pytest.fixture
def client(service: da.Sandbox) -> Iterator[da.Client]:
    with service.client() as client:
        yield client
