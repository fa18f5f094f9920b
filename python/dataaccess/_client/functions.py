"""The calls of `Client` as functions. Each uses a client of the environment, which later calls use again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache, partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from dataaccess._client.client import Client
from dataaccess._client.config_path import config_path
from dataaccess._client.unconnected import unconnected_client
from dataaccess._core.process import ProcessLock
from dataaccess._native import ENVIRONMENT
from dataaccess._public import public

P = ParamSpec("P")
R = TypeVar("R")

# The last client, by a digest of the settings it was made from: no copy of the token.
_shared: dict[bytes, Client] = {}
_lock = ProcessLock()


def environment_client() -> Client:
    """The client of the current environment."""
    settings = "\0".join([*(os.environ.get(name, "") for name in ENVIRONMENT), *_profile()])
    digest = hashlib.sha256(settings.encode("utf-8", "surrogateescape")).digest()
    with _lock:
        if digest not in _shared:
            client = Client()
            _shared.clear()
            _shared[digest] = client
        return _shared[digest]


def _profile() -> list[str]:
    """What a change of the profile changes, if one is used: the name and the state of the file."""
    name = os.environ.get("DATAACCESS_PROFILE", "")
    if not name and os.environ.get("DATAACCESS_BASE_URL"):
        return []
    path = config_path()
    try:
        state = path.stat()
    except OSError:
        return [name, str(path)]
    return [name, str(path), str(state.st_mtime_ns), str(state.st_size), str(state.st_ino)]


@cache
def checking_client() -> Client:
    """A client that reads no environment. It has no service: it only checks requests, with times in UTC."""
    return unconnected_client("UTC", "exclusive")


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

validate_codes = of_environment(Client.validate_codes, checking_client)
"""As `Client.validate_codes`, with times in UTC. Needs neither an address nor a token."""

validate_items = of_environment(Client.validate_items, checking_client)
"""As `Client.validate_items`, with times in UTC. Needs neither an address nor a token."""
