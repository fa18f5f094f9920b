"""The settings of one client: their checks, and what of them is secret."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, tzinfo
from functools import partial
from reprlib import repr as shortened
from typing import TYPE_CHECKING

from dataaccess._client.settings import SETTINGS
from dataaccess._core.checks import (
    MAX_INTEGER,
    boolean,
    number,
    offset_advice,
    optional_integer,
    seconds,
    string,
)
from dataaccess._core.embedded import embedded_name
from dataaccess._native import is_secret_header
from dataaccess._native import origin as origin_of
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from typing import Any, Self, TypeVar

    from dataaccess._client.settings import Spec

    _T = TypeVar("_T")
    _R = TypeVar("_R")


# In place of a refused address, so that the other settings can be checked.
UNUSED_URL = "https://localhost"


class Headers:
    """The pairs of `headers=`. Tools that show the locals of a traceback walk through dicts and lists, and not this."""

    __slots__ = ("_pairs",)

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        """Names and values."""
        self._pairs = pairs

    def pairs(self) -> list[tuple[str, str]]:
        """Names and values, for what sends or shows them."""
        return self._pairs

    def without_secrets(self, hidden: str) -> dict[str, str]:
        """Names and values, with another text in place of those that may be secret."""
        return {name: hidden if is_secret_header(name) else value for name, value in self._pairs}

    def __repr__(self) -> str:
        return f"Headers({', '.join(name for name, _ in self._pairs)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Headers) and self._pairs == other._pairs

    def __hash__(self) -> int:
        return hash(tuple(self._pairs))


class Settings(dict[str, "Any"]):
    """The settings by name. The repr, which a traceback with locals shows, hides the values that may be secret."""

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Self:
        """The settings among the arguments of a client."""
        try:
            return cls((name, arguments[name]) for name in SETTINGS)
        finally:
            # No frame holds a secret.
            arguments = {}

    def __repr__(self) -> str:
        hidden = {name for name, spec in SETTINGS.items() if spec.is_secret}
        if origin_of(self["base_url"]) is None:
            # A URL that the check will refuse may have a password.
            hidden.add("base_url")
        shown = {name: value for name, value in self.items() if name not in hidden}
        return f"{shown} and {', '.join(sorted(hidden))}"

    def check(self, names: Iterable[str], refused: Refused) -> None:
        """Checks the types of settings. One that is refused becomes its default, so that the core checks the others."""
        for name in names:
            default = UNUSED_URL if name == "base_url" else SETTINGS[name].default
            self[name] = refused.keep(partial(checked, name), self[name], default)

    def secret(self, names: set[str]) -> str | None:
        """Describes the setting among these that must not be pickled, if there is one."""
        if "proxy" in names and "@" in (self["proxy"] or ""):
            return "a password in proxy="
        pairs = () if self["headers"] is None else self["headers"].pairs()
        headers = [name for name, _ in pairs if is_secret_header(name)]
        return f"the header {headers[0]}" if headers and "headers" in names else None


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
        """Adds the refusals of another list."""
        self._errors += other._errors

    def error(self) -> ConfigError:
        """The error of all refused settings; there is one at least."""
        lines = [line for error in self._errors for line in error.problems or [error.args[0]]]
        if len(self._errors) == 1:
            self._errors[0].problems = lines
            return self._errors[0]
        return ConfigError.of(lines)


def origin(address: object) -> str | None:
    """Scheme, host and port of an address, as the core reads them; a sandbox by its name.

    None for no address, and for one that every client refuses.
    """
    return None if address is None else embedded_name(address) or origin_of(address)


def zone_name(setting: str, zone: object) -> str:
    """The IANA name of a time zone."""
    if isinstance(zone, str):
        if (advice := offset_advice(string(setting, zone))) is not None:
            raise ConfigError(f"{setting}: {shortened(zone)} {advice}")
        return zone
    name = "UTC" if zone is UTC else getattr(zone, "key", None)
    if isinstance(zone, tzinfo) and isinstance(name, str):
        return name
    raise ConfigError(f"{setting} must be an IANA name or a ZoneInfo, not {zone!r}")


def header_pairs(headers: object) -> Headers | None:
    """Headers as the core takes them. The error for another type does not show the value, which may be a secret."""
    if headers is None or isinstance(headers, Headers):
        return headers
    if not isinstance(headers, Mapping):
        raise ConfigError(f"headers must be a dict of names and values, not of type {type(headers).__name__}")
    for name, value in headers.items():
        for what, one in (("a name", name), (f"the value of {name!r}", value)):
            if not isinstance(one, str):
                kind = type(one).__name__
                raise ConfigError(f"headers must have strings as names and values: {what} is of type {kind}")
            string("headers", one)
    return Headers(list(headers.items()))


def checked(name: str, value: Any) -> Any:
    """The value of a setting, with its type.

    Raises:
        ConfigError: It is of another type.
    """
    spec = SETTINGS[name]
    return None if value is None and spec.is_optional and spec.kind != "item_types" else _CHECKS[spec.kind](spec, value)


def _item_types(value: object) -> dict[str, Any]:
    if value is None:
        return {}
    # Few clients have some.
    from dataaccess._client.item_types import checked_item_types

    return checked_item_types(value)


def _path(spec: Spec, path: object) -> str:
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str) or not text:
        raise ConfigError(f"{spec.name} must be a path, not {shortened(path)}")
    from dataaccess._core.paths import local_path

    return local_path(text)


def _whole(spec: Spec, value: object) -> int:
    """An integer, whose bounds the core checks."""
    found = optional_integer(value, -MAX_INTEGER, MAX_INTEGER)
    if found is None:
        raise ConfigError(f"{spec.name} must be an integer {_bounds(spec)}, not {shortened(value)}")
    return found


def _choice(spec: Spec, value: object) -> str:
    if not isinstance(value, str) or value not in spec.choices:
        choices = " or ".join(f'"{choice}"' for choice in spec.choices)
        raise ConfigError(f"{spec.name} must be {choices}, not {shortened(value)}")
    return value


def _count(spec: Spec, value: object) -> int:
    """An integer, whose bounds are checked here."""
    found = _whole(spec, value)
    if found < spec.least:
        raise ConfigError(f"{spec.name} must be an integer {_bounds(spec)}, not {found}")
    return found


def _codes(spec: Spec, value: Any) -> tuple[int | str, ...]:
    """One code, or several."""
    is_one = isinstance(value, str) or not isinstance(value, Iterable)
    codes: tuple[Any, ...] = (value,) if is_one else tuple(value)
    if not codes or not all(_is_code(code) for code in codes):
        raise ConfigError(f"{spec.name} must be integers or strings, such as (200, 201), not {shortened(value)}")
    return codes


def _is_code(code: object) -> bool:
    return code != "" and isinstance(code, int | str) and not isinstance(code, bool)


def _bounds(spec: Spec) -> str:
    numbers = f"of at least {spec.least}" if spec.most is None else f"from {spec.least} to {spec.most}"
    return f"{numbers}, or None" if spec.is_optional else numbers


# The check of each kind of setting.
_CHECKS: dict[str, Callable[[Spec, Any], Any]] = {
    "boolean": lambda spec, value: boolean(spec.name, value),
    "bytes": _whole,
    "choice": _choice,
    "codes": _codes,
    "count": _count,
    "duration": lambda spec, value: seconds(spec.name, value),
    "headers": lambda _, value: header_pairs(value),
    "integer": _whole,
    "item_types": lambda _, value: _item_types(value),
    "number": lambda spec, value: number(spec.name, value, f"a number {_bounds(spec)}"),
    "path": _path,
    "url": lambda spec, value: string(spec.name, value),
    "zone": lambda spec, value: zone_name(spec.name, value),
}
