"""The client of the module functions: looked up at each call, and reused while the environment is the same."""

from __future__ import annotations

import hashlib
import os

from dataaccess._client.synchronous.client import Client
from dataaccess._core.process import ProcessLock
from dataaccess._native import ENVIRONMENT

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
    from dataaccess._client.config_path import config_path

    path = config_path()
    try:
        state = path.stat()
    except OSError:
        return [name, str(path)]
    return [name, str(path), str(state.st_mtime_ns), str(state.st_size), str(state.st_ino)]
