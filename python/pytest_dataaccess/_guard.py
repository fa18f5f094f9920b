"""A guard against connections of a test to anything but a sandbox.

Clients of this package connect in Rust, which no patch of Python's `socket` can see. So their address is checked when
they are made. Sockets of other libraries are checked when they connect.
"""

from __future__ import annotations

import socket
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

_LOCAL_NAMES = ("", "localhost")


class Guard:
    """What a test may reach: the sandboxes of its process, and what it allows."""

    def __init__(self) -> None:
        """Allows sandboxes alone."""
        self._allowed: set[str] = set()
        self._hosts: set[str] = set()

    def allow(self, base_url: str) -> None:
        """Allows an address, for clients of this package and for sockets.

        Args:
            base_url: The address, such as `http://127.0.0.1:8080`.
        """
        host = urlsplit(base_url).hostname
        if not host:
            raise ValueError(f"{base_url!r} has no host: write it as http://127.0.0.1:8080")
        self._allowed.add(_origin(base_url))
        self._hosts.add(host)

    def check_client(self, base_url: str, *, is_sandbox: bool) -> None:
        """Fails the test for a client of another service."""
        if not is_sandbox and _origin(base_url) not in self._allowed:
            pytest.fail(
                f"the test made a client of {base_url}, which is no sandbox of this test; "
                f"dataaccess_guard refuses it, and dataaccess_guard.allow({base_url!r}) allows it"
            )

    def check_host(self, host: object) -> None:
        """Fails the test for a connection to another machine."""
        name = host.decode("utf-8", "replace") if isinstance(host, bytes | bytearray) else host
        if name is None or name in self._hosts or (isinstance(name, str) and _is_local(name)):
            return
        pytest.fail(f"the test connects to {name}, and dataaccess_guard allows connections to this machine alone")


def guarding(monkeypatch: pytest.MonkeyPatch) -> Guard:
    """A guard that is active until the monkeypatch is undone."""
    from dataaccess._client import functions
    from dataaccess._client.base import BaseClient

    guard = Guard()
    start = BaseClient._start

    def start_checked(client: BaseClient, *arguments: Any) -> None:
        # This connects to nothing.
        start(client, *arguments)
        guard.check_client(client.base_url, is_sandbox=client.is_sandbox)

    monkeypatch.setattr(BaseClient, "_start", start_checked)
    # The client of the module functions may have been made before.
    monkeypatch.setattr(functions, "_shared", {})
    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, _checked_connect(getattr(socket.socket, name), guard))
    monkeypatch.setattr(socket.socket, "sendto", _checked_sendto(socket.socket.sendto, guard))
    monkeypatch.setattr(socket, "getaddrinfo", _checked_lookup(socket.getaddrinfo, guard))
    return guard


def _checked_connect(connect: Callable[..., Any], guard: Guard) -> Callable[..., Any]:
    def checked(self: socket.socket, address: Any) -> Any:
        # An address of another family, as of a Unix socket, is on this machine.
        if self.family in (socket.AF_INET, socket.AF_INET6):
            guard.check_host(address[0])
        return connect(self, address)

    return checked


def _checked_sendto(send: Callable[..., Any], guard: Guard) -> Callable[..., Any]:
    def checked(self: socket.socket, *arguments: Any) -> Any:
        # The address is the last argument.
        if self.family in (socket.AF_INET, socket.AF_INET6):
            guard.check_host(arguments[-1][0])
        return send(self, *arguments)

    return checked


def _checked_lookup(look_up: Callable[..., Any], guard: Guard) -> Callable[..., Any]:
    def checked(host: Any, *arguments: Any, **keywords: Any) -> Any:
        guard.check_host(host)
        return look_up(host, *arguments, **keywords)

    return checked


def _origin(base_url: str) -> str:
    parts = urlsplit(base_url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def _is_local(host: str) -> bool:
    if host in _LOCAL_NAMES or host.endswith(".localhost") or host == socket.gethostname():
        return True
    try:
        return ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False
