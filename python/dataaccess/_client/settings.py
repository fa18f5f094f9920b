"""The settings of a client, and what of them is secret."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, tzinfo
from typing import Any, TypeVar

from dataaccess._core.checks import MAX_INTEGER, integer, string
from dataaccess.errors import ConfigError

_T = TypeVar("_T")
_R = TypeVar("_R")

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


class Refused:
    """The settings that were refused so far: one error reports all."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._errors: list[ConfigError] = []

    def __bool__(self) -> bool:
        return bool(self._errors)

    def keep(self, check: Callable[[_T], _R], value: _T, instead: _R | None = None) -> _R | None:
        """The checked value; if it is refused, another one, with which the other settings can be checked."""
        try:
            return check(value)
        except ConfigError as error:
            # Its frames may hold a secret.
            self._errors.append(error.with_traceback(None))
            return instead
        finally:
            del value

    def add(self, other: Refused) -> None:
        """Adds those of another list."""
        self._errors += other._errors

    def raise_all(self) -> None:
        """Raises the error of all refused settings, if there are any."""
        if len(self._errors) == 1:
            raise self._errors[0]
        if self._errors:
            lines = [line for error in self._errors for line in error.problems or [str(error)]]
            numbered = " ".join(f"({number}) {line}" for number, line in enumerate(lines, 1))
            raise ConfigError(f"{len(lines)} settings are invalid: {numbered}", problems=lines)


def origin(url: str) -> str:
    """Scheme, host and port of a normalized URL."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"


def zone_name(zone: object) -> str:
    """The IANA name of a time zone."""
    if isinstance(zone, str):
        return string("timezone", zone)
    name = "UTC" if zone is UTC else getattr(zone, "key", None)
    if isinstance(zone, tzinfo) and isinstance(name, str):
        return name
    raise ConfigError(f"timezone= must be an IANA name or a ZoneInfo, not {zone!r}")


# The service fixes these ids.
_FIXED_IDS = {"customer": -1003, "promotion_code": -100}


def checked_item_types(given: object) -> dict[str, int]:
    """Names and ids of business objects."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ConfigError(f"item_types= must be a dict of names and ids, not of type {type(given).__name__}")
    types = {
        string("item_types", name): integer(f"item_types[{name!r}]", number, -MAX_INTEGER - 1)
        for name, number in given.items()
    }
    for name, number in _FIXED_IDS.items():
        if types.get(name, number) != number:
            raise ConfigError(f"item_types[{name!r}]= must be {number}, as the service fixes it, not {types[name]}")
    return types


def header_pairs(headers: object) -> list[tuple[str, str]] | None:
    """Headers as the core takes them. The error for another type does not show the value, which may be a secret."""
    if headers is None:
        return None
    if isinstance(headers, Mapping):
        return list(headers.items())
    kind, headers = type(headers).__name__, None
    raise ConfigError(f"headers= must be a dict of names and values, not of type {kind}")
