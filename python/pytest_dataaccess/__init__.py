"""Fixtures and a marker for tests of jobs that use this package. pytest finds them by itself.

Only the fixtures import the package: a run that does not use them is not slower, nor fails if it cannot be loaded.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataaccess import AsyncClient, Client, Sandbox


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker."""
    marker = "dataaccess(seed=, scenario=, platform=, switches=, until=, faults=): what the sandbox of the test has"
    config.addinivalue_line("markers", marker)


@pytest.fixture(scope="session")
def dataaccess_options() -> dict[str, Any]:
    """Options of all sandboxes, as arguments of the marker `dataaccess`, which wins. Override it in `conftest.py`."""
    return {}


@pytest.fixture
def dataaccess_sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A sandbox with the demo data of January and February 2024, for this test alone.

    The marker `dataaccess` says what else it has; with `until=None` the demo data ends yesterday. While the test runs,
    `DATAACCESS_BASE_URL` and `DATAACCESS_TOKEN` name the sandbox, and no other `DATAACCESS_…` variable is set.
    """
    yield from _of_environment(request, is_demo=True)


@pytest.fixture
def dataaccess_empty_sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A sandbox without demo data, for this test alone; with marker and environment as `dataaccess_sandbox`."""
    yield from _of_environment(request, is_demo=False)


@pytest.fixture(scope="session")
def dataaccess_session_sandbox(request: pytest.FixtureRequest, dataaccess_options: dict[str, Any]) -> Iterator[Sandbox]:
    """One sandbox with demo data and `dataaccess_options` for all tests of the run, or of a worker of pytest-xdist.

    They share its rows, faults and log. The environment does not name it: use its `client()` or its `environment()`.
    """
    with _started(_with_paths(dataaccess_options, request.config.rootpath), is_demo=True) as sandbox:
        yield sandbox


@pytest.fixture
def dataaccess_client(dataaccess_sandbox: Sandbox) -> Iterator[Client]:
    """A client of `dataaccess_sandbox` whose token has every scope; closed after the test."""
    with dataaccess_sandbox.client() as client:
        yield client


@pytest.fixture
def dataaccess_async_client(dataaccess_sandbox: Sandbox) -> Iterator[AsyncClient]:
    """An `AsyncClient` of `dataaccess_sandbox`, for tests of pytest-asyncio, anyio or `asyncio.run`."""
    client = dataaccess_sandbox.async_client()
    yield client
    # `close` is a coroutine, and the loop of the test may have ended.
    client._raw.close()


class Guard(set[str]):
    """The addresses that a test may reach besides sandboxes."""

    def allow(self, base_url: str) -> None:
        """Allows clients of an address, such as `http://127.0.0.1:8080`."""
        self.add(base_url.rstrip("/").lower())


@pytest.fixture
def dataaccess_guard(monkeypatch: pytest.MonkeyPatch) -> Guard:
    """Fails a test that makes a client of anything but a sandbox; `allow(base_url)` allows an address.

    For all tests write `usefixtures = dataaccess_guard` into the configuration of pytest.
    """
    from dataaccess._client import functions
    from dataaccess._client.base import BaseClient

    guard, start = Guard(), BaseClient._start

    def start_checked(client: BaseClient, *arguments: Any) -> None:
        # This connects to nothing.
        start(client, *arguments)
        if not client.is_sandbox and client.base_url.rstrip("/").lower() not in guard:
            pytest.fail(
                f"the test made a client of {client.base_url}, which is no sandbox of this test; "
                f"dataaccess_guard refuses it, and dataaccess_guard.allow({client.base_url!r}) allows it"
            )

    monkeypatch.setattr(BaseClient, "_start", start_checked)
    # The client of the module functions may have been made before.
    monkeypatch.setattr(functions, "_shared", {})
    return guard


def _of_environment(request: pytest.FixtureRequest, *, is_demo: bool) -> Iterator[Sandbox]:
    """A sandbox of the options and markers of a test, which the variables name; the closest marker wins."""
    monkeypatch = request.getfixturevalue("monkeypatch")
    options = _with_paths(request.getfixturevalue("dataaccess_options"), request.config.rootpath)
    for marker in reversed(list(request.node.iter_markers("dataaccess"))):
        if "scenario" in marker.kwargs:
            # The file decides about these, whatever other tests have.
            options = {name: options[name] for name in options if name not in ("platform", "switches", "until")}
        options |= _with_paths(marker.kwargs, request.path.parent)
    with _started(options, is_demo=is_demo) as sandbox:
        # `monkeypatch` undoes changes of the test in the right order.
        for name in [name for name in os.environ if name.startswith("DATAACCESS_")]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("DATAACCESS_BASE_URL", sandbox.base_url)
        monkeypatch.setenv("DATAACCESS_TOKEN", sandbox.issue_token())
        yield sandbox


def _with_paths(options: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The options, with relative paths below a folder. The name of a platform has no suffix."""
    platform = options.get("platform")
    files = {"scenario", "platform"} if platform and Path(platform).suffix else {"scenario"}
    return {name: str(folder / value) if name in files else value for name, value in options.items()}


def _started(options: dict[str, Any], *, is_demo: bool) -> Sandbox:
    """A sandbox with these options, as a scenario."""
    from dataaccess import Sandbox
    from dataaccess._sandbox.scenario import read_document, started

    place = options.pop("scenario", None)
    if place is not None:
        content = read_document(place)
    else:
        # A test does the same every day.
        until = options.pop("until", "2024-02-29")
        content = {"demo": is_demo and (True if until is None else {"until": until})}
    for argument, key in (("seed", "seeds"), ("faults", "faults")):
        several = options.pop(argument, [])
        several = [several] if isinstance(several, str | dict) else several
        content[key] = content.get(key, []) + [{"preset": one} if isinstance(one, str) else one for one in several]
    # The table of keys refuses other names.
    return started(Sandbox, place or "the marker dataaccess", content | options)
