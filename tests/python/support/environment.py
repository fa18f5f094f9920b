"""Fixtures of all tests: no setting from outside, a clock that is set, and the sandbox with demo data."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

import dataaccess as da
from dataaccess import _native


@pytest.fixture
def time_scale() -> Iterator[Callable[[int], None]]:
    """Sets how many times faster than usual the time-outs and back-off of new clients run."""
    if not hasattr(_native, "set_time_scale"):
        pytest.skip("the extension was built without the feature `testing`")
    yield _native.set_time_scale
    _native.set_time_scale(1)


@pytest.fixture
def buffered_bytes() -> Iterator[Callable[[int], None]]:
    """Sets how many bytes the scans of new clients buffer."""
    if not hasattr(_native, "set_buffered_bytes"):
        pytest.skip("the extension was built without the feature `testing`")
    yield _native.set_buffered_bytes
    _native.set_buffered_bytes(0)


@pytest.fixture
def now() -> Iterator[Callable[[str], None]]:
    """Sets the time, as ISO 8601, from which new searches and scans take today."""
    if not hasattr(_native, "set_now"):
        pytest.skip("the extension was built without the feature `testing`")
    yield lambda time: _native.set_now(round(datetime.fromisoformat(time).timestamp() * 1_000))
    _native.set_now(None)


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    # A folder without a file of profiles.
    monkeypatch.setenv("XDG_CONFIG_HOME", str(Path(__file__).parent))
    monkeypatch.setenv("APPDATA", str(Path(__file__).parent))
    for name in {*_native.ENVIRONMENT, *(name for name in os.environ if name.startswith("DATAACCESS_"))}:
        monkeypatch.delenv(name, raising=False)
    # Once a process: which test would get the warning depends on their order. Its own tests start processes.
    monkeypatch.setattr("dataaccess._core.embedded._without_zone", None)
    # Commands and programs of tests send days to sandboxes of tests, and their output is compared.
    monkeypatch.setenv("PYTHONWARNINGS", "ignore:timezone is not set:UserWarning,ignore:http:UserWarning")


@pytest.fixture(scope="session")
def sandbox() -> Iterator[da.Sandbox]:
    """The service with demo data."""
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        yield sandbox
