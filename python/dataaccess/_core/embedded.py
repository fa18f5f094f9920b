"""The sandboxes of a process behind `sandbox:demo`, one for each `until`, and all sandboxes that run in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from dataaccess._core.process import ProcessLock
from dataaccess._core.warn import warn_caller
from dataaccess._native import RawSandbox, origin, sandboxes_met
from dataaccess.errors import ConfigError, SandboxWarning, TimezoneWarning

if TYPE_CHECKING:
    from typing import Any
    from weakref import ref

_PREFIX = "sandbox:"
_DEMO = "sandbox:demo"
_UNTIL = f"{_DEMO}?until="
LOOPBACK = "127.0.0.1"

# By process and name: a forked child starts its own server. All clients share one token, as a sandbox issues only so
# many.
_demo: dict[tuple[int, str], tuple[RawSandbox, str]] = {}
_lock = ProcessLock()
# A port is given out again: the address of a stopped sandbox may be another service's.
_running: dict[str | None, ref[Any]] = {}
# Sandboxes that need no warning any more: those that ran here, and those that one has named.
_known: set[str | None] = set()
# Clients that request days, though nobody set their `timezone`; None once this process was warned of them.
_without_zone: list[ref[Any]] | None = []


def start_sandbox(**options: Any) -> RawSandbox:
    """Starts a sandbox, whose address is known as one of synthetic data while it runs."""
    usual: dict[str, Any] = {"demo": None, "port": 0, "now": None, "files": (None, None), "switches": {}}
    sandbox = RawSandbox(**{**usual, **options})
    count_as_sandbox(sandbox.base_url, sandbox)
    return sandbox


def count_as_sandbox(base_url: str, sandbox: object) -> None:
    """Knows the address as one of synthetic data while the object lives."""
    from weakref import ref

    _running[origin(base_url)] = ref(sandbox)
    _known.add(origin(base_url))


def stop_sandbox(sandbox: RawSandbox) -> None:
    """Stops it. A forked child of its process has no effect."""
    address = origin(sandbox.base_url)
    if sandbox.stop() and _sandbox_at(address) is sandbox:
        del _running[address]


def address_of(base_url: object) -> object:
    """The address of a client: the argument, or the variable of the environment."""
    return os.environ.get("DATAACCESS_BASE_URL") or None if base_url is None else base_url


def is_sandbox(base_url: object) -> bool:
    """Whether the address, as given or from the environment, is of a sandbox that runs here or in a parent process."""
    return _sandbox_at(origin(address_of(base_url))) is not None


def may_warn_of_zone() -> bool:
    """Whether no `TimezoneWarning` was emitted in this process yet."""
    return _without_zone is not None


def note_days_without_zone(client: object) -> None:
    """Lets `warn_of_service` warn once a platform has responded to the client, which requests days."""
    from weakref import ref

    clients = _without_zone
    if clients is not None and all(noted() is not client for noted in clients.copy()):
        clients.append(ref(client, clients.remove))


def warn_of_service() -> None:
    """Warns once of each service that proved to be a sandbox of another process, and of days without a zone."""
    global _without_zone
    for base_url in sandboxes_met():
        address = origin(base_url)
        if address not in _known:
            _known.add(address)
            warn_caller(f"{address} is a sandbox: its data is synthetic", SandboxWarning)
    if not _without_zone:
        return
    clients: list[Any] = [noted() for noted in (_without_zone or []).copy()]
    if any(client and client.stats.requests and not client.is_sandbox for client in clients):
        with _lock:
            has_warned, _without_zone = _without_zone is None, None
        if has_warned:
            return
        warn_caller(
            "timezone is not set, so days begin at midnight UTC. If the service cuts days in another zone, rows of "
            "whole days are missing: check(day) of the client finds the zone. If UTC is right, set "
            'timezone="UTC"',
            TimezoneWarning,
        )


def _sandbox_at(address: str | None) -> object:
    found = _running.get(address)
    return None if found is None else found()


def embedded_name(base_url: object) -> str | None:
    """`sandbox:…`, as given or from the environment; None for any other address."""
    address = address_of(base_url)
    return address if isinstance(address, str) and address.startswith(_PREFIX) else None


def embedded(name: str) -> tuple[str, str]:
    """Address and token of the sandbox behind `sandbox:demo` or `sandbox:demo?until=2024-02-29`.

    The first use warns that the data is synthetic.
    """
    if name != _DEMO and not name.startswith(_UNTIL):
        raise ConfigError(f"there is no {name!r}; the sandbox is {_DEMO}, or {_UNTIL}2024-02-29 with fixed data")
    until = name.removeprefix(_UNTIL) if name != _DEMO else None
    with _lock:
        running = _demo.get((os.getpid(), name))
        if running is None:
            if not _demo:
                warn_caller(f"{_DEMO} is the sandbox: its data is synthetic", SandboxWarning)
            from ipaddress import IPv4Address

            own = IPv4Address(LOOPBACK)
            sandbox = start_sandbox(demo=(None, until), access=(own, False, None, None, []))
            running = _demo[os.getpid(), name] = (sandbox, _token_of(sandbox))
        sandbox, token = running
        return sandbox.base_url, token


def _token_of(sandbox: RawSandbox) -> str:
    """A new token with all scopes."""
    import json

    _, answer = sandbox.control("POST", "/tokens", b"")
    return str(json.loads(answer)["token"])
