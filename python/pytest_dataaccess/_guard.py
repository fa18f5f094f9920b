"""A guard against clients of anything but a sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from dataaccess._client.base import BaseClient


class Guard:
    """What a test may reach: sandboxes, and the addresses that it allows."""

    def __init__(self) -> None:
        """Allows sandboxes only."""
        self._allowed: set[str] = set()

    def allow(self, base_url: str) -> None:
        """Allows clients of an address, such as `http://127.0.0.1:8080`."""
        self._allowed.add(base_url.rstrip("/").lower())

    def _check(self, client: BaseClient) -> None:
        if not client.is_sandbox and client.base_url.rstrip("/").lower() not in self._allowed:
            pytest.fail(
                f"the test made a client of {client.base_url}, which is no sandbox of this test; "
                f"dataaccess_guard refuses it, and dataaccess_guard.allow({client.base_url!r}) allows it"
            )


def guarding(monkeypatch: pytest.MonkeyPatch) -> Guard:
    """A guard that is active until the monkeypatch is undone."""
    from dataaccess._client import functions
    from dataaccess._client.base import BaseClient

    guard = Guard()
    start = BaseClient._start

    def start_checked(client: BaseClient, *arguments: Any) -> None:
        # This connects to nothing.
        start(client, *arguments)
        guard._check(client)

    monkeypatch.setattr(BaseClient, "_start", start_checked)
    # The client of the module functions may have been made before.
    monkeypatch.setattr(functions, "_shared", {})
    return guard
