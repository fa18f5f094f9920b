"""Fixtures of all tests: the sandbox, and clients that are tested alike."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from support.environment import buffered_bytes, no_settings_from_outside, now, sandbox, short_pauses, time_scale

import dataaccess as da
from dataaccess import AsyncBatches, AsyncScan, AsyncTask

__all__ = ["buffered_bytes", "no_settings_from_outside", "now", "sandbox", "short_pauses", "time_scale"]

# Tests that need the group `tools`, which `make lint` and `make setup` install. Continuous integration runs them all.
OF_TOOLS = ["docs/test_notebooks.py", "sandbox/test_openapi.py"]
collect_ignore = [] if find_spec("schemathesis") or "CI" in os.environ else OF_TOOLS


def pytest_report_header() -> str:
    return "without the group tools: tests that need one of them are left out" if collect_ignore else ""


# `make test` draws few examples and always the same; HYPOTHESIS_PROFILE=soak draws many, others each time.
settings.register_profile("default", max_examples=50, derandomize=True, database=None, deadline=None)
settings.register_profile(
    "soak", max_examples=1_000, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs each case of `connect` with `Client`, as one Rust future serves both; `test_contract.py` compares the two.

    What differs by client is marked: `both_clients`, `async_only`.
    """
    if "connect" in metafunc.fixturenames:
        markers = {marker.name for marker in metafunc.definition.iter_markers()}
        kinds = ["async"] if "async_only" in markers else [*KINDS] if "both_clients" in markers else ["sync"]
        metafunc.parametrize("connect", kinds, indirect=True)


class Awaited:
    """An `AsyncClient`, or what it makes, whose calls are run to their end: a test reads as for `Client`."""

    def __init__(self, awaited: Any, runner: asyncio.Runner) -> None:
        self.client = awaited
        self._runner = runner

    def __getattr__(self, name: str) -> Any:
        """The attribute; a call of it is awaited, and what it makes is wrapped."""
        attribute = getattr(self.client, name)
        if not inspect.ismethod(attribute):
            return attribute

        def call(*arguments: Any, **keywords: Any) -> Any:
            made = attribute(*arguments, **keywords)
            if inspect.iscoroutine(made):
                return self._runner.run(made)
            return self._wrapped(made)

        return call

    def _wrapped(self, made: Any) -> Any:
        if isinstance(made, list):
            return [self._wrapped(one) for one in made]
        is_awaited = isinstance(made, (da.AsyncClient, AsyncScan, AsyncTask, AsyncBatches)) or inspect.isasyncgen(made)
        return Awaited(made, self._runner) if is_awaited else made

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return self._runner.run(self.client.__anext__())
        except StopAsyncIteration:
            raise StopIteration from None

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_error: object) -> None:
        self._runner.run(self.client.close())


Connect = Callable[..., Any]


KINDS = ("sync", "async")


@pytest.fixture
def both() -> Iterator[list[Connect]]:
    """What makes clients of each kind, as `connect` does."""
    with asyncio.Runner() as runner:
        clients: list[Any] = []
        yield [partial(_connected, clients, runner, kind) for kind in KINDS]
        for client in clients:
            client.close()


@pytest.fixture
def connect(request: pytest.FixtureRequest, both: list[Connect]) -> Connect:
    """Makes clients of one kind: `connect(address_or_sandbox, **options)`."""
    return both[KINDS.index(request.param)]


def _connected(clients: list[Any], runner: asyncio.Runner, kind: str, where: str | da.Sandbox, **options: Any) -> Any:
    if isinstance(where, da.Sandbox):
        options["token"] = where.issue_token(options.pop("scopes", ("item", "download")))
        where = where.base_url
    options.setdefault("token", "tok-test")
    if kind == "sync":
        clients.append(da.Client(where, **options))
    else:
        clients.append(Awaited(da.AsyncClient(where, **options), runner))
    return clients[-1]


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt in the test.

    A shell that starts the tests in the background ignores the signal; and Hypothesis gives the collector a callback,
    in which Python would drop the exception.
    """
    before, callbacks = signal.signal(signal.SIGINT, signal.default_int_handler), gc.callbacks.copy()
    gc.callbacks.clear()
    yield
    gc.callbacks.extend(callbacks)
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def client(connect: Connect, sandbox: da.Sandbox) -> Any:
    """A client for the demo data, with every scope."""
    return connect(sandbox)
