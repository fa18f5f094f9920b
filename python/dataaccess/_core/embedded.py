"""What a process has once: locks, its sandboxes, those behind `sandbox:demo`, and services that proved to be one."""

from __future__ import annotations

import os
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakSet, WeakValueDictionary

from dataaccess._core.warn import warn_caller
from dataaccess._native import RawSandbox, origin, sandboxes_met
from dataaccess.errors import ConfigError, SandboxWarning, TimezoneWarning

if TYPE_CHECKING:
    from typing import Any

_PREFIX = "sandbox:"
_DEMO = "sandbox:demo"
_UNTIL = f"{_DEMO}?until="
LOOPBACK = "127.0.0.1"


class ProcessLock:
    """A lock for each process: in a forked child, no thread would release the lock of the parent."""

    def __init__(self) -> None:
        """The lock is free."""
        self._locks: dict[int, Lock] = {}

    def __enter__(self) -> None:
        self._locks.setdefault(os.getpid(), Lock()).acquire()

    def __exit__(self, *_error: object) -> None:
        self._locks[os.getpid()].release()


# Sandbox and token, by process and name: a forked child starts its own server.
_demo: dict[tuple[int, str], tuple[RawSandbox, str]] = {}
_lock = ProcessLock()
# By address. A port is used again: the address of a stopped sandbox may be another service's.
_running: WeakValueDictionary[str | None, Any] = WeakValueDictionary()
# Addresses of sandboxes that need no warning: they ran here, or were warned of.
_known: set[str | None] = set()
# Clients that request days without a `timezone`; None once there was a warning.
_without_zone: WeakSet[Any] | None = WeakSet()


def start_sandbox(**options: Any) -> RawSandbox:
    """Starts a sandbox."""
    sandbox = RawSandbox(**{"demo": None, "port": 0, "now": None, "replay": None, "switches": {}, **options})
    count_as_sandbox(sandbox.base_url, sandbox)
    return sandbox


def count_as_sandbox(base_url: str, sandbox: object) -> None:
    """Lets `is_sandbox` know the address while the object lives."""
    _running[origin(base_url)] = sandbox
    _known.add(origin(base_url))


def stop_sandbox(sandbox: RawSandbox) -> None:
    """Stops a sandbox of this process."""
    address = origin(sandbox.base_url)
    if sandbox.stop() and _running.get(address) is sandbox:
        del _running[address]


def is_sandbox(base_url: object) -> bool:
    """Whether it is `sandbox:…`, or a sandbox of this process or of a parent has the address."""
    return embedded_name(base_url) is not None or origin(base_url) in _running


def may_warn_of_zone() -> bool:
    """Whether no `TimezoneWarning` was emitted in this process yet."""
    return _without_zone is not None


def note_days_without_zone(client: object) -> None:
    """Lets `warn_of_service` warn when a platform has responded to this client."""
    with _lock:
        if _without_zone is not None:
            _without_zone.add(client)


def warn_of_service() -> None:
    """Warns once of each sandbox of another process, and once of days without a zone."""
    global _without_zone
    for base_url in sandboxes_met():
        address = origin(base_url)
        if address not in _known:
            _known.add(address)
            warn_caller(f"{address} is a sandbox: its data is synthetic", SandboxWarning)
    if not _without_zone:
        return
    with _lock:
        is_due = any(client.stats.requests and not client.is_sandbox for client in _without_zone or ())
        if is_due:
            _without_zone = None
    if is_due:
        warn_caller(
            "timezone is not set, so days begin at midnight UTC. If the service cuts days in another zone, rows of "
            "whole days are missing: check(day) of the client finds the zone. If UTC is right, set "
            'timezone="UTC"',
            TimezoneWarning,
        )


def embedded_name(base_url: object) -> str | None:
    """The address if it is `sandbox:…`, or None."""
    return base_url if isinstance(base_url, str) and base_url.startswith(_PREFIX) else None


def embedded(name: str) -> tuple[str, str]:
    """Address and token of the sandbox behind `sandbox:demo` or `sandbox:demo?until=2024-02-29`."""
    if name != _DEMO and not name.startswith(_UNTIL):
        raise ConfigError(f"there is no {name!r}; the sandbox is {_DEMO}, or {_UNTIL}2024-02-29 with fixed data")
    until = name.removeprefix(_UNTIL) if name != _DEMO else None
    key = os.getpid(), name
    with _lock:
        if key not in _demo:
            from ipaddress import IPv4Address

            token = f"sbx_{os.urandom(32).hex()}"
            sandbox = start_sandbox(demo=(None, until), access=(IPv4Address(LOOPBACK), False, token, None, []))
            if not _demo:
                warn_caller(f"{_DEMO} is the sandbox: its data is synthetic", SandboxWarning)
            _demo[key] = sandbox, token
        sandbox, token = _demo[key]
        return sandbox.base_url, token
