"""Where each setting of a client came from."""

# ruff: noqa: SLF001 - it shows the parts of a client

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from dataaccess._client.settings import is_secret
from dataaccess._client.variables import TIMEZONE
from dataaccess.reports import Setting

if TYPE_CHECKING:
    from dataaccess._client.base import Connection

_HIDDEN = "(hidden)"


def settings_of(client: Connection) -> dict[str, Setting]:
    """The settings by name, in the order of the arguments. Secrets are hidden."""
    return {
        "base_url": Setting(client._embedded or client.base_url, _source(client, "base_url")),
        "token": _token(client),
        "profile": _profile(client),
        **{name: _setting(client, name) for name in client._settings if name != "base_url"},
    }


def _setting(client: Connection, name: str) -> Setting:
    value: Any = client._settings[name]
    source = _source(client, name)
    if name == "headers" and value is not None:
        value = {key: _HIDDEN if is_secret(key) else shown for key, shown in value.pairs()}
    if name in ("proxy", "ca_bundle"):
        # The core alone knows which variable counts, and whether NO_PROXY exempts the service.
        used = [(shown, origin) for setting, shown, origin in client._raw.origins if setting == name]
        value = ", ".join(shown for shown, _ in used) or None
        variables = [origin for _, origin in used if not origin.endswith("=")]
        if variables:
            source = f"environment variable {', '.join(variables)}"
    return Setting(value, source)


def _source(client: Connection, name: str) -> str:
    if name in client._given:
        return "argument"
    if name in client._of_profile:
        return str(client._profile)
    if name == "timezone" and client._timezone_variable is not None:
        return f"environment variable {TIMEZONE}"
    return "environment variable DATAACCESS_BASE_URL" if name == "base_url" else "default"


def _token(client: Connection) -> Setting:
    if client._embedded is not None:
        return Setting(_HIDDEN, "the sandbox")
    if client._is_token_of_profile:
        return Setting(_HIDDEN, str(client._profile))
    variable = client._token_variable
    return Setting(_HIDDEN, "argument" if variable is None else f"environment variable {variable}")


def _profile(client: Connection) -> Setting:
    profile = client._profile
    if profile is None:
        return Setting(None, "default")
    if client._profile_argument is not None:
        return Setting(profile.name, "argument")
    is_named = bool(os.environ.get("DATAACCESS_PROFILE"))
    return Setting(profile.name, "environment variable DATAACCESS_PROFILE" if is_named else "default")
