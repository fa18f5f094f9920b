"""`dataaccess_guard`: a test makes no client of anything but a sandbox."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import dataaccess as da
from pytest_dataaccess import Guard

OTHER = "https://cdp.example.com"

CLIENTS: dict[str, Callable[[da.Client], Any]] = {
    "client": lambda _: da.Client(OTHER, token="t"),
    "async client": lambda _: da.AsyncClient(OTHER, token="t"),
    "a tunnel on this machine": lambda _: da.Client("http://127.0.0.1:9", token="t"),
    "a copy": lambda client: da.Client(client.base_url, token=lambda: "t").with_options(base_url=OTHER),
}


@pytest.mark.parametrize("make", CLIENTS.values(), ids=CLIENTS)
def test_a_client_of_another_service_fails_the_test(
    make: Callable[[da.Client], Any], sandbox: da.Sandbox, dataaccess_guard: Guard
) -> None:
    assert isinstance(dataaccess_guard, Guard)
    client = sandbox.client()
    addresses = "|".join(map(re.escape, [OTHER, "http://127.0.0.1:9"]))
    with pytest.raises(pytest.fail.Exception, match=rf"({addresses}),.* dataaccess_guard\.allow\('\1'\)"):
        make(client)
    # What a job catches is an `Exception`, and would hide it.
    assert not issubclass(pytest.fail.Exception, Exception)


def test_the_functions_of_the_module_too_also_if_their_client_was_made_before(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("DATAACCESS_TOKEN", "t")
    with pytest.raises(da.ConnectError):
        da.search_codes(allocated_time=da.on("2024-01-15"), timeout=1)
    request.getfixturevalue("dataaccess_guard")
    with pytest.raises(pytest.fail.Exception, match=r"http://127\.0\.0\.1:9,.* dataaccess_guard\.allow\("):
        da.search_codes(allocated_time=da.on("2024-01-15"))


@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")
def test_sandboxes_are_reached(dataaccess_guard: Guard, dataaccess_client: da.Client) -> None:
    assert isinstance(dataaccess_guard, Guard)
    assert dataaccess_client.search_codes(["id"], allocated_time=da.after("2024-01-01"), limit=1)
    for client in (da.Client(), da.Client("sandbox:demo"), dataaccess_client.with_options(timeout=5)):
        assert client.search_codes(["id"], allocated_time=da.after("2024-01-01"), limit=1)


def test_an_address_can_be_allowed(dataaccess_guard: Guard) -> None:
    dataaccess_guard.allow("http://127.0.0.1:9")
    assert not da.Client("http://127.0.0.1:9/", token="t").is_sandbox
    with pytest.raises(pytest.fail.Exception):
        da.Client("http://127.0.0.1:10", token="t")
