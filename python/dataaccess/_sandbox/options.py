"""How a `Sandbox` starts: its arguments, and the same as the core takes them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Any, TypedDict

from dataaccess._core.checks import boolean, integer, string
from dataaccess._core.embedded import LOOPBACK
from dataaccess._core.paths import local_path
from dataaccess._public import did_you_mean
from dataaccess._sandbox.platforms import switches_of
from dataaccess.errors import ConfigError


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


def started_with(
    *,
    port: int = 0,
    host: str = LOOPBACK,
    allow_remote: bool = False,
    token: str | None = None,
    admin_token: str | None = None,
    host_names: Iterable[str] = (),
    platform: str | os.PathLike[str] | None = None,
    switches: Mapping[str, Any] | None = None,
    now: datetime | str | None = None,
    demo: tuple[float | None, str | None] | None = None,
    replay: object = None,
) -> dict[str, Any]:
    """The arguments of `start_sandbox`."""
    tokens = {"token": token, "admin_token": admin_token}
    tokens = {name: None if given is None else string(name, given) for name, given in tokens.items()}
    return {
        "demo": demo,
        "port": integer("port", port, 0, 65535),
        "now": None if now is None else _unix_seconds(now),
        "replay": None if replay is None else path_of("replay", replay),
        "switches": {**switches_of(platform), **plain_switches(switches or {})},
        "access": (
            _address(host),
            boolean("allow_remote", allow_remote),
            *tokens.values(),
            strings("host_names", host_names),
        ),
    }


def plain_switches(switches: Mapping[str, Any]) -> dict[str, Any]:
    """Switches with durations in seconds."""
    if not isinstance(switches, Mapping):
        raise ConfigError(f"switches must be a dict of names and values, not of type {type(switches).__name__}")
    return {name: value.total_seconds() if isinstance(value, timedelta) else value for name, value in switches.items()}


def path_of(name: str, given: object) -> str:
    """The absolute path of a file."""
    path = os.fspath(given) if isinstance(given, os.PathLike) else given
    if isinstance(path, str) and path:
        return local_path(path)
    what = "empty" if path == "" else f"of type {type(given).__name__}"
    raise ConfigError(f"{name} must be the path of a file, not {what}")


def strings(name: str, values: object) -> list[str]:
    """Several strings."""
    if isinstance(values, str):
        raise TypeError(f"{name} takes several strings: write {name}=[{values!r}]")
    if not isinstance(values, Iterable):
        raise TypeError(f"{name} takes several strings, not a value of type {type(values).__name__}")
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
