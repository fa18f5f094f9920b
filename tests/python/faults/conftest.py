"""The operations through which a fault is seen, some days of codes, and an authority of TLS."""

from __future__ import annotations

from pathlib import Path

import pytest
import trustme
from support.operations import DOWNLOAD, SEARCH, Operation
from support.runs import service, store

__all__ = ["ask", "service", "store"]


@pytest.fixture(params=[SEARCH, DOWNLOAD], ids=str)
def ask(request: pytest.FixtureRequest) -> Operation:
    operation: Operation = request.param
    return operation


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="session")
def bundle(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its certificate, as a file."""
    path = tmp_path_factory.mktemp("trust") / "ca.pem"
    authority.cert_pem.write_to_path(path)
    return path
