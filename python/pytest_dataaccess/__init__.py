"""Fixtures and a marker for tests of jobs that use this package. pytest finds them by itself.

Each test has a sandbox of its own, which starts in a few hundredths of a second: no data, token, fault or logged
request of one test reaches another. `dataaccess_session_sandbox` is shared.

pytest imports this module in every run where the package is installed. So only the fixtures import the package: a run
that does not use them is not slower, and does not fail if the package cannot be loaded.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from pytest_dataaccess._options import options_of, started, with_paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataaccess import AsyncClient, Client, Sandbox
    from pytest_dataaccess._guard import Guard

_MARKER = (
    "dataaccess(seed=, scenario=, platform=, switches=, until=, faults=): what the sandbox of the test has: objects "
    "and rows, a scenario file, the behaviour of a platform, the last day of the demo data, faults"
)


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker."""
    config.addinivalue_line("markers", _MARKER)


@pytest.fixture(scope="session")
def dataaccess_options() -> dict[str, Any]:
    """What the sandboxes of all tests have, by the arguments of the marker `dataaccess`. Override it in `conftest.py`.

    The marker of a test takes precedence.
    """
    return {}


@pytest.fixture
def dataaccess_sandbox(
    request: pytest.FixtureRequest, dataaccess_options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Sandbox]:
    """The sandbox with the demo data of January and February 2024, for this test alone.

    The marker `dataaccess` says what else it has; with `until=None` the demo data ends yesterday.

    `DATAACCESS_BASE_URL` and `DATAACCESS_TOKEN` name it while the test runs, so that a job which reads them, or calls
    the functions of the module, uses the sandbox and not your platform. Other settings of the environment, such as
    `DATAACCESS_CA_BUNDLE`, are removed.
    """
    with started(options_of(request, dataaccess_options), is_demo=True) as sandbox:
        _set_environment(monkeypatch, sandbox)
        yield sandbox


@pytest.fixture
def dataaccess_empty_sandbox(
    request: pytest.FixtureRequest, dataaccess_options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Sandbox]:
    """A sandbox without demo data, for this test alone; with marker and environment as `dataaccess_sandbox`."""
    with started(options_of(request, dataaccess_options), is_demo=False) as sandbox:
        _set_environment(monkeypatch, sandbox)
        yield sandbox


@pytest.fixture(scope="session")
def dataaccess_session_sandbox(request: pytest.FixtureRequest, dataaccess_options: dict[str, Any]) -> Iterator[Sandbox]:
    """One sandbox with demo data for all tests of the run, or of a worker of pytest-xdist.

    Tests share its rows, faults and log. The environment does not name it: use its `client()`, or its `environment()`
    as a context manager. It takes no marker, only `dataaccess_options`.
    """
    with started(with_paths(dataaccess_options, request.config.rootpath), is_demo=True) as sandbox:
        yield sandbox


@pytest.fixture
def dataaccess_client(dataaccess_sandbox: Sandbox) -> Iterator[Client]:
    """A client of `dataaccess_sandbox` whose token has every scope; closed after the test.

    For other scopes or settings use `dataaccess_sandbox.client(scopes=["item"], timeout=5)`.
    """
    client = dataaccess_sandbox.client()
    yield client
    client.close()


@pytest.fixture
def dataaccess_async_client(dataaccess_sandbox: Sandbox) -> Iterator[AsyncClient]:
    """An `AsyncClient` of `dataaccess_sandbox`, for tests of pytest-asyncio, anyio or `asyncio.run`."""
    client = dataaccess_sandbox.async_client()
    yield client
    # `close` is a coroutine, and the loop of the test may have ended.
    client._raw.close()


@pytest.fixture
def dataaccess_guard(monkeypatch: pytest.MonkeyPatch) -> Guard:
    """Fails a test that makes a client of anything but a sandbox.

    `dataaccess_guard.allow("http://127.0.0.1:8080")` allows an address. For all tests set
    `usefixtures = dataaccess_guard` in the configuration of pytest.
    """
    from pytest_dataaccess._guard import guarding

    return guarding(monkeypatch)


def _set_environment(monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox) -> None:
    """By `monkeypatch`, so that changes of the test are undone in the right order."""
    for name in [name for name in os.environ if name.startswith("DATAACCESS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("DATAACCESS_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("DATAACCESS_TOKEN", sandbox.issue_token())
