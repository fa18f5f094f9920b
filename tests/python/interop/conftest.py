"""What the tests of real programs share: an authority of their own, and what the service would say directly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trustme
from support.searches import search

import dataaccess as da


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def bundle(authority: trustme.CA, tmp_path: Path) -> Path:
    """Its certificate, as a file."""
    path = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(path)
    return path


@pytest.fixture
def pem(authority: trustme.CA, tmp_path: Path) -> Path:
    """Key and certificate of `localhost`, in one file."""
    path = tmp_path / "localhost.pem"
    authority.issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(path)
    return path


@pytest.fixture
def options(sandbox: da.Sandbox, bundle: Path) -> dict[str, Any]:
    return {"token": sandbox.issue_token(), "ca_bundle": bundle}


@pytest.fixture(scope="session")
def rows(sandbox: da.Sandbox) -> Any:
    """What the service gives when nothing is between."""
    return search(sandbox.client())
