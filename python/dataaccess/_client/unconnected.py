"""A client that only checks requests: it reads neither the environment nor a profile, and sends nothing."""

from __future__ import annotations

from dataaccess._client.resolve import unconnected
from dataaccess._client.synchronous.client import Client


def unconnected_client(timezone: str, day_comparison: str) -> Client:
    """The client.

    Raises:
        ConfigError: There is no such zone.
    """
    client = object.__new__(Client)
    client._start(unconnected(timezone, day_comparison))
    return client
