"""Fixtures for tests of jobs that use this package; pytest finds them by itself.

Nothing is started unless a test asks for it. Each test has a service of its own, which starts in a few
hundredths of a second: no data, token, fault or logged request of one test can reach another.

pytest imports this module in every run where the package is installed. So it is not a part of `dataaccess`, and the
fixtures import that: a run that does not use them is not slowed down, nor broken by a package that cannot be loaded.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataaccess._client.synchronous import Client
    from dataaccess.sandbox import Sandbox


@pytest.fixture
def dataaccess_sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """The embedded service with its demo data, for this test alone.

    `DATAACCESS_BASE_URL` and `DATAACCESS_TOKEN` lead to it while the test runs, so that a job which reads
    them, or calls the functions of the module, finds it and not your platform. Other settings of the
    environment, as `DATAACCESS_CA_BUNDLE`, are out of force.

    To share one service among the tests of a module or a session, write a fixture of that scope around
    `with dataaccess.Sandbox.demo() as sandbox`.
    """
    from dataaccess.sandbox import Sandbox

    for name in [name for name in os.environ if name.startswith("DATAACCESS_")]:
        monkeypatch.delenv(name)
    with Sandbox.demo() as sandbox:
        monkeypatch.setenv("DATAACCESS_BASE_URL", sandbox.base_url)
        monkeypatch.setenv("DATAACCESS_TOKEN", sandbox.issue_token())
        yield sandbox


@pytest.fixture
def dataaccess_client(dataaccess_sandbox: Sandbox) -> Iterator[Client]:
    """A client of `dataaccess_sandbox` whose token has every scope; closed after the test.

    For other scopes or settings write `dataaccess_sandbox.client(scopes=["item"], timeout=5)`.
    """
    client = dataaccess_sandbox.client()
    yield client
    client.close()
