"""What holds for all tests: no setting from outside, clocks and sizes that are set, and the sandbox with demo data."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da
from dataaccess import _native


def hook(name: str) -> Callable[[Any], None]:
    """A function of the extension that only tests have; without it a test is skipped."""
    if not hasattr(_native, name):
        pytest.skip("the extension was built without the feature `testing`")
    found: Callable[[Any], None] = getattr(_native, name)
    return found


@pytest.fixture
def time_scale() -> Iterator[Callable[[int], None]]:
    """Sets how many times faster than usual the time-outs and back-off of new clients run."""
    yield (set_time_scale := hook("set_time_scale"))
    set_time_scale(1)


@pytest.fixture
def short_pauses() -> Iterator[None]:
    """Makes both ten times faster where it can, for tests that wait and are not about how long."""
    set_time_scale = getattr(_native, "set_time_scale", lambda _times: None)
    set_time_scale(10)
    yield
    set_time_scale(1)


@pytest.fixture
def buffered_bytes() -> Iterator[Callable[[int], None]]:
    """Sets how many bytes the scans of new clients buffer."""
    yield (set_buffered_bytes := hook("set_buffered_bytes"))
    set_buffered_bytes(0)


@pytest.fixture
def now() -> Iterator[Callable[[str], None]]:
    """Sets the time, as ISO 8601, from which new searches and scans take today."""
    set_now = hook("set_now")
    yield lambda time: set_now(round(datetime.fromisoformat(time).timestamp() * 1_000))
    set_now(None)


def in_parts(count: int, make: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Makes a scan that sends at most `count` values of a list in one request: so few values need several."""
    set_values_per_request = hook("set_values_per_request")
    set_values_per_request(count)
    try:
        return make(*arguments, **keywords)
    finally:
        set_values_per_request(None)


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
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        yield sandbox
