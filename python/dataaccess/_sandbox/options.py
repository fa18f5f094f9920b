"""How a `Sandbox` starts: its arguments, and the same as the core takes them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any, TypedDict

from dataaccess._core.checks import boolean, integer, string
from dataaccess._core.embedded import LOOPBACK
from dataaccess._core.paths import local_path
from dataaccess._public import did_you_mean
from dataaccess._sandbox.control import plain
from dataaccess._sandbox.scenario import SUFFIXES, read_document
from dataaccess.errors import ConfigError

PLATFORMS: dict[str, dict[str, str]] = {
    "all-utc": {},
    "local-times": {"day_zone": "Asia/Ho_Chi_Minh", "source_timezone": "Asia/Ho_Chi_Minh"},
    "other-zone-inclusive": {"day_zone": "Asia/Kolkata", "day_comparison": "inclusive"},
}
"""The switches of each platform that has a name. `all-utc` has the defaults."""


class SandboxAccess(TypedDict, total=False):
    """Where a sandbox listens and who may connect: what `Sandbox.scenario` takes."""

    port: int
    host: str
    allow_remote: bool
    token: str | None
    admin_token: str | None
    host_names: Iterable[str]


class SandboxOptions(SandboxAccess, total=False):
    """Arguments of a sandbox: what `Sandbox` and `Sandbox.demo` take."""

    platform: str | os.PathLike[str] | None
    switches: Mapping[str, Any] | None
    now: datetime | str | None


def known(options: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """The options, none of which is unknown."""
    names = kind.__annotations__
    for name in options:
        if name not in names:
            raise TypeError(f"a Sandbox takes no argument {name!r} here{did_you_mean(name, names)}")
    return dict(options)


def started_with(options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `start_sandbox`."""
    get = known(options, SandboxOptions).get
    tokens = [None if get(name) is None else string(name, get(name)) for name in ("token", "admin_token")]
    switches = get("switches") or {}
    if not isinstance(switches, Mapping):
        raise ConfigError(f"switches must be a dict of names and values, not of type {type(switches).__name__}")
    return {
        "port": integer("port", get("port", 0), 0, 65535),
        "now": None if get("now") is None else _unix_seconds(get("now")),
        "switches": plain("switches", {**switches_of(get("platform")), **switches}),
        "access": (
            _address(get("host", LOOPBACK)),
            boolean("allow_remote", get("allow_remote", False)),
            *tokens,
            strings("host_names", get("host_names", ())),
        ),
    }


def switches_of(platform: str | os.PathLike[str] | None) -> Mapping[str, Any]:
    """The switches of a platform, by its name or from a file."""
    if platform is None:
        return {}
    name = string("platform", os.fspath(platform) if isinstance(platform, os.PathLike) else platform)
    if name in PLATFORMS:
        return PLATFORMS[name]
    known = f"one of {', '.join(PLATFORMS)}, or a file with a table `switches`"
    if not name.endswith(SUFFIXES):
        raise ConfigError(f"platform must be {known}, not {name!r}")
    try:
        switches = read_document(local_path(name)).get("switches")
    except ConfigError as error:
        raise ConfigError(f"platform: {error}") from None
    if not isinstance(switches, dict):
        raise ConfigError(f"platform must be {known}; {name} has no switches")
    return switches


def path_of(name: str, given: object) -> str:
    """The absolute path of a file."""
    if isinstance(given, str | os.PathLike) and os.fspath(given):
        return local_path(given)
    raise ConfigError(f"{name} must be the path of a file, not {given!r}")


def strings(name: str, values: object) -> list[str]:
    """Several strings."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{name} takes several strings, not {values!r}: write a list of them")
    return [string(f"{name}[{index}]", value) for index, value in enumerate(values)]


def _address(host: object) -> Any:
    try:
        return ip_address(LOOPBACK if host == "localhost" else str(host))
    except ValueError:
        raise ConfigError(f"host must be an address such as 127.0.0.1 or ::1, not {host!r}") from None


def _unix_seconds(now: object) -> float:
    """The time at which the clock starts."""
    try:
        time = datetime.fromisoformat(str(now))
        seconds = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        seconds = -1
    if seconds < 0:
        raise ConfigError(f"now must be a datetime from 1970 on, or one in ISO format, not {now!r}")
    return seconds
