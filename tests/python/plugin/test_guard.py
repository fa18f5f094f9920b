"""`dataaccess_guard`: a test reaches no service but a sandbox, and no other machine."""

from __future__ import annotations

import asyncio
import re
import socket
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

import dataaccess as da
from pytest_dataaccess._guard import Guard

pytest_plugins = ["pytester"]

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
    with pytest.raises(ValueError, match=r"'127\.0\.0\.1' .*http://"):
        dataaccess_guard.allow("127.0.0.1")


def _connect_ex() -> None:
    with socket.socket() as own:
        own.connect_ex(("192.0.2.1", 80))


CONNECTIONS: dict[str, Callable[[], Any]] = {
    "an address": lambda: socket.create_connection(("192.0.2.1", 80), timeout=0.1),
    "connect_ex": _connect_ex,
    "of IPv6": lambda: socket.create_connection(("2001:db8::1", 80), timeout=0.1),
    "a name": lambda: socket.getaddrinfo("cdp.example.com", 443),
    "urllib": lambda: urllib.request.urlopen("http://cdp.example.com", timeout=0.1),
    "asyncio": lambda: asyncio.run(asyncio.wait_for(asyncio.open_connection("192.0.2.1", 80), 0.1)),
}


@pytest.mark.parametrize("reach", CONNECTIONS.values(), ids=CONNECTIONS)
def test_a_python_socket_to_another_machine_fails_the_test(reach: Callable[[], Any], dataaccess_guard: Guard) -> None:
    assert isinstance(dataaccess_guard, Guard)
    with pytest.raises(
        pytest.fail.Exception, match=r" (192\.0\.2\.1|2001:db8::1|cdp\.example\.com), .*dataaccess_guard"
    ):
        reach()


def test_this_machine_is_reached(dataaccess_guard: Guard, sandbox: da.Sandbox) -> None:
    assert isinstance(dataaccess_guard, Guard)
    with urllib.request.urlopen(sandbox.base_url.replace("127.0.0.1", "localhost") + "/openapi.json") as response:
        assert response.status == 200
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen("http://127.0.0.1:9", timeout=1)


def test_it_ends_with_its_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import socket

        before = socket.socket.connect

        def test_guarded(dataaccess_guard):
            assert socket.socket.connect is not before

        def test_after():
            assert socket.socket.connect is before
        """
    )
    done = pytester.runpytest_subprocess("-p", "no:schemathesis", "-p", "no:xdist", "-p", "no:anyio", timeout=50)
    done.assert_outcomes(passed=2)


def test_a_datagram_to_another_machine_fails_the_test(dataaccess_guard: Guard) -> None:
    assert isinstance(dataaccess_guard, Guard)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        assert sender.sendto(b"", ("127.0.0.1", 9)) == 0
        with pytest.raises(pytest.fail.Exception, match=r" 192\.0\.2\.1, .*dataaccess_guard"):
            sender.sendto(b"", 0, ("192.0.2.1", 9))
