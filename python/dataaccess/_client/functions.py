"""The calls of `Client` as functions. Each uses a client of the environment, which later calls use again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from dataaccess._client.client import Client
from dataaccess._client.profiles import config_path
from dataaccess._client.resolve import Settings
from dataaccess._client.settings import KNOWN, PROFILE, SETTINGS
from dataaccess._core.embedded import ProcessLock
from dataaccess._core.secret import Secret
from dataaccess._native import ENVIRONMENT, RawToken
from dataaccess._public import public

P = ParamSpec("P")
R = TypeVar("R")

_VARIABLES = KNOWN.union(ENVIRONMENT)
# The last client, by a digest of the settings it was made from: no copy of the token.
_shared: dict[bytes, Client] = {}
_lock = ProcessLock()


def environment_client() -> Client:
    """The client of the current environment."""
    # To look each variable up would take longer.
    found = {name: os.environ[name] for name in sorted(_VARIABLES.intersection(os.environ))}
    if found.get(PROFILE) or not found.get(SETTINGS["base_url"].variable):
        path, state = config_path(), None
        with suppress(OSError):
            state = path.stat()
        found["profile"] = f"{path} {state and (state.st_mtime_ns, state.st_size, state.st_ino)}"
    digest = hashlib.sha256(repr(found).encode("utf-8", "surrogateescape")).digest()
    del found  # it has the token, which a traceback with locals would show
    with _lock:
        if digest not in _shared:
            client = Client()
            _shared.clear()
            _shared[digest] = client
        return _shared[digest]


@cache
def unconnected_client(timezone: str = "UTC", day_comparison: str = "exclusive") -> Client:
    """A client that only checks requests: it has no service and reads no environment."""
    settings = Settings(None, None)
    settings.token = RawToken(str)
    # Without TLS: the CA certificates of the system are not loaded.
    given = {"base_url": "http://localhost", "timezone": timezone, "day_comparison": day_comparison}
    client = object.__new__(Client)
    client._start(settings.changed(Secret(given)))
    return client


def of_environment(
    method: Callable[Concatenate[Client, P], R], client: Callable[[], Client] = environment_client
) -> Callable[P, R]:
    """The function that calls a method of the client of the environment, or of another one."""

    @wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return method(client(), *args, **kwargs)

    function: Any = public(call)
    # Pickles find a function by this name; `help` and `inspect` show the signature of what it wraps.
    function.__qualname__ = function.__name__
    function.__wrapped__ = partial(method, None)  # type: ignore[arg-type] # without `self`
    return call


search_codes = of_environment(Client.search_codes)
"""As `Client.search_codes`, with a client of the environment."""
search_items = of_environment(Client.search_items)
"""As `Client.search_items`, with a client of the environment."""
scan_codes = of_environment(Client.scan_codes)
"""As `Client.scan_codes`, with a client of the environment."""
scan_items = of_environment(Client.scan_items)
"""As `Client.scan_items`, with a client of the environment."""
download_segment = of_environment(Client.download_segment)
"""As `Client.download_segment`, with a client of the environment."""
wait_for_segment = of_environment(Client.wait_for_segment)
"""As `Client.wait_for_segment`, with a client of the environment."""
validate_codes = of_environment(Client.validate_codes, unconnected_client)
"""As `Client.validate_codes`, with times in UTC. Needs neither an address nor a token."""
validate_items = of_environment(Client.validate_items, unconnected_client)
"""As `Client.validate_items`, with times in UTC. Needs neither an address nor a token."""
