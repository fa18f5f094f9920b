"""The settings of a client, and what of them is secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dataaccess.errors import ConfigError

# Parts of header names that indicate a secret.
_SECRET_NAMES = ("auth", "cookie", "key", "passw", "secret", "session", "token")


class Settings(dict[str, Any]):
    """Settings by name. Its repr, which a traceback with locals shows, hides the values that may be secret."""

    def __repr__(self) -> str:
        hidden = {"headers", "proxy"}
        if "@" in str(self["base_url"]):
            # A URL with a password, which the check will refuse.
            hidden.add("base_url")
        shown = {name: value for name, value in self.items() if name not in hidden}
        return f"{shown} and {', '.join(sorted(hidden))}"

    def secret(self) -> str | None:
        """Describes the setting that must not be pickled, if there is one."""
        if "@" in (self["proxy"] or ""):
            return "a password in proxy="
        names = [name for name, _ in self["headers"] or () if any(part in name.lower() for part in _SECRET_NAMES)]
        return f"the header {names[0]}" if names else None


def header_pairs(headers: object) -> list[tuple[str, str]] | None:
    """Headers as the core takes them. The error for another type does not show the value, which may be a secret."""
    if headers is None:
        return None
    if isinstance(headers, Mapping):
        return list(headers.items())
    kind, headers = type(headers).__name__, None
    raise ConfigError(f"headers= must be a dict of names and values, not of type {kind}")
