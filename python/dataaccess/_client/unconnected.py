"""A client that only checks requests: it reads neither the environment nor a profile, and sends nothing."""

from __future__ import annotations

from dataaccess._client.checked import Refused, Settings
from dataaccess._client.client import Client
from dataaccess._client.settings import SETTINGS
from dataaccess._client.sources import Sources
from dataaccess._native import ENVIRONMENT, RawToken

# Without TLS: the CA certificates of the system are not loaded.
_ADDRESS = "http://localhost"


def unconnected_client(timezone: str, day_comparison: str) -> Client:
    """The client.

    Args:
        timezone: IANA name of the zone of days.
        day_comparison: What the service compares.

    Raises:
        ConfigError: There is no such zone.
    """
    defaults = {name: spec.default for name, spec in SETTINGS.items()}
    given = {"base_url": _ADDRESS, "timezone": timezone, "day_comparison": day_comparison}
    settings = Settings({**defaults, **given, "ignored_variables": ENVIRONMENT})
    refused = Refused()
    settings.check(SETTINGS, refused)
    client = object.__new__(Client)
    client._sources = Sources((), None, None)
    client._start(settings, RawToken(str), None, None, refused)
    return client
