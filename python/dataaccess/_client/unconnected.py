"""A client that only checks requests: it reads neither the environment nor a profile, and sends nothing."""

from __future__ import annotations

from dataaccess._client.settings import CHECKS, Refused, Settings
from dataaccess._client.synchronous.client import Client
from dataaccess._native import RawToken

# Without TLS: the CA certificates of the system are not loaded.
_ADDRESS = "http://localhost"


def unconnected_client(timezone: str) -> Client:
    """The client.

    Args:
        timezone: IANA name of the zone of days.

    Raises:
        ConfigError: There is no such zone.
    """
    defaults = {name: default for name, (_, default) in CHECKS.items()}
    settings = Settings({**defaults, "base_url": _ADDRESS, "timezone": timezone, "reads_environment": False})
    refused = Refused()
    settings.check(CHECKS, refused)
    client = object.__new__(Client)
    client._start(settings, RawToken(str), None, None, refused)
    return client
