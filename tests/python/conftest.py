"""Fixtures of all tests: the sandbox, and clients that are tested alike."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import signal
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from support.environment import no_settings_from_outside, now, sandbox, time_scale

import dataaccess as da
from dataaccess import AsyncBatches, AsyncScan, AsyncTask

__all__ = ["no_settings_from_outside", "now", "sandbox", "time_scale"]

# `make test` draws few examples and always the same; HYPOTHESIS_PROFILE=soak draws many, others each time.
settings.register_profile("default", max_examples=50, derandomize=True, database=None, deadline=None)
settings.register_profile(
    "soak", max_examples=1_000, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option of `make soak`."""
    parser.addoption("--both-clients", action="store_true", help="run each case of `connect` with both clients")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Runs each case of `connect` with one client, chosen by the name of the case: one Rust future serves both.

    Tests marked `both_clients` keep both.
    """
    chosen: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in items:
        (chosen if _is_chosen(item, both=config.getoption("--both-clients")) else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = chosen


def _is_chosen(item: pytest.Item, *, both: bool) -> bool:
    """Whether a case runs, whose client is one of its parameters."""
    callspec = getattr(item, "callspec", None)
    if callspec is None or "connect" not in callspec.params:
        return True
    kind = str(callspec.params["connect"])
    for only in KINDS:
        if item.get_closest_marker(f"{only}_only"):
            return kind == only
    if both or item.get_closest_marker("both_clients"):
        return True
    case = [item.nodeid.partition("[")[0], *(part for part in callspec.id.split("-") if part not in KINDS)]
    return kind == KINDS[zlib.crc32("-".join(case).encode()) % len(KINDS)]


class Awaited:
    """An `AsyncClient`, or what it makes, whose calls are run to their end: a test reads as for `Client`."""

    def __init__(self, awaited: Any, runner: asyncio.Runner) -> None:
        """Wraps a client, a scan, a task or batches."""
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
        return Awaited(made, self._runner) if isinstance(made, (AsyncScan, AsyncTask, AsyncBatches)) else made

    def __iter__(self) -> Iterator[Any]:
        """The batches."""
        return self

    def __next__(self) -> Any:
        """The next batch."""
        try:
            return self._runner.run(self.client.__anext__())
        except StopAsyncIteration:
            raise StopIteration from None

    def __enter__(self) -> Any:
        """What is closed at the end."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Closes it."""
        self._runner.run(self.client.close())


Connect = Callable[..., Any]


KINDS = ("sync", "async")


@pytest.fixture(params=KINDS)
def connect(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Makes clients of either kind: `connect(address_or_sandbox, **options)`."""
    clients: list[Any] = []
    with asyncio.Runner() as runner:

        def connect(where: str | da.Sandbox, **options: Any) -> Any:
            if isinstance(where, da.Sandbox):
                scopes = options.pop("scopes", ("item", "download"))
                options["token"] = where.issue_token(scopes)
                where = where.base_url
            options.setdefault("token", "tok-test")
            client: Any
            if request.param == "sync":
                client = da.Client(where, **options)
            else:
                client = Awaited(da.AsyncClient(where, **options), runner)
            clients.append(client)
            return client

        yield connect
        for client in clients:
            client.close()


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
    """A client of either kind for the demo data, with every scope."""
    return connect(sandbox)
