"""Fixtures for tests of jobs that use this package. pytest finds them by itself.

A sandbox starts in a few hundredths of a second, and only for a test that uses a fixture. Each test has its own: no
data, token, fault or logged request of one test reaches another.

pytest imports this module in every run where the package is installed. So it is not a part of `dataaccess`, and only
the fixtures import that: a run that does not use them is not slower, and does not fail if the package cannot be loaded.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataaccess import Client, Sandbox


@pytest.fixture
def dataaccess_sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """The sandbox with the demo data of January and February 2024, for this test alone.

    `DATAACCESS_BASE_URL` and `DATAACCESS_TOKEN` name it while the test runs, so that a job which reads them, or calls
    the functions of the module, uses the sandbox and not your platform. Other settings of the environment, such as
    `DATAACCESS_CA_BUNDLE`, are removed.

    A job that asks for yesterday needs `with dataaccess.Sandbox.demo() as sandbox`, which has it.

    To share one sandbox among the tests of a module or a session, write a fixture of that scope around
    `with dataaccess.Sandbox.demo(until="2024-02-29") as sandbox`.
    """
    from dataaccess import Sandbox

    for name in [name for name in os.environ if name.startswith("DATAACCESS_")]:
        monkeypatch.delenv(name)
    with Sandbox.demo(until="2024-02-29") as sandbox:
        monkeypatch.setenv("DATAACCESS_BASE_URL", sandbox.base_url)
        monkeypatch.setenv("DATAACCESS_TOKEN", sandbox.issue_token())
        yield sandbox


@pytest.fixture
def dataaccess_client(dataaccess_sandbox: Sandbox) -> Iterator[Client]:
    """A client of `dataaccess_sandbox` whose token has every scope; closed after the test.

    For other scopes or settings use `dataaccess_sandbox.client(scopes=["item"], timeout=5)`.
    """
    client = dataaccess_sandbox.client()
    yield client
    client.close()
