"""Fixtures and a marker for tests of jobs that use this package. pytest finds them by itself.

Each test has a sandbox of its own, which starts in a few hundredths of a second: no data, token, fault or logged
request of one test reaches another. `dataaccess_session_sandbox` is shared.

pytest imports this module in every run where the package is installed. Only the fixtures import the package, so a run
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


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker."""
    marker = "dataaccess(seed=, scenario=, platform=, switches=, until=, faults=): what the sandbox of the test has"
    config.addinivalue_line("markers", marker)


@pytest.fixture(scope="session")
def dataaccess_options() -> dict[str, Any]:
    """Options of all sandboxes, as arguments of the marker `dataaccess`, which wins. Override it in `conftest.py`."""
    return {}


@pytest.fixture
def dataaccess_sandbox(
    request: pytest.FixtureRequest, dataaccess_options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Sandbox]:
    """A sandbox with the demo data of January and February 2024, for this test alone.

    The marker `dataaccess` says what else it has; with `until=None` the demo data ends yesterday. While the test runs,
    `DATAACCESS_BASE_URL` and `DATAACCESS_TOKEN` name the sandbox, and no other `DATAACCESS_…` variable is set.
    """
    yield from _of_environment(options_of(request, dataaccess_options), monkeypatch, is_demo=True)


@pytest.fixture
def dataaccess_empty_sandbox(
    request: pytest.FixtureRequest, dataaccess_options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Sandbox]:
    """A sandbox without demo data, for this test alone; with marker and environment as `dataaccess_sandbox`."""
    yield from _of_environment(options_of(request, dataaccess_options), monkeypatch, is_demo=False)


@pytest.fixture(scope="session")
def dataaccess_session_sandbox(request: pytest.FixtureRequest, dataaccess_options: dict[str, Any]) -> Iterator[Sandbox]:
    """One sandbox with demo data for all tests of the run, or of a worker of pytest-xdist.

    Tests share its rows, faults and log. The environment does not name it: use its `client()` or its `environment()`.
    It has `dataaccess_options`, and the marker does not change it.
    """
    with started(with_paths(dataaccess_options, request.config.rootpath), is_demo=True) as sandbox:
        yield sandbox


@pytest.fixture
def dataaccess_client(dataaccess_sandbox: Sandbox) -> Iterator[Client]:
    """A client of `dataaccess_sandbox` whose token has every scope; closed after the test."""
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
    """Fails a test that makes a client of anything but a sandbox; `allow(base_url)` allows an address.

    For all tests write `usefixtures = dataaccess_guard` into the configuration of pytest.
    """
    from pytest_dataaccess._guard import guarding

    return guarding(monkeypatch)


def _of_environment(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch, *, is_demo: bool) -> Iterator[Sandbox]:
    """A sandbox that the variables name. `monkeypatch` undoes changes of the test in the right order."""
    with started(options, is_demo=is_demo) as sandbox:
        for name in [name for name in os.environ if name.startswith("DATAACCESS_")]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("DATAACCESS_BASE_URL", sandbox.base_url)
        monkeypatch.setenv("DATAACCESS_TOKEN", sandbox.issue_token())
        yield sandbox
