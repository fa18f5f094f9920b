"""The client of the module functions: looked up at each call, and reused while the environment is the same."""

from __future__ import annotations

import hashlib
import os

from dataaccess._client.profiles import config_path
from dataaccess._client.settings import KNOWN, PROFILE, SETTINGS
from dataaccess._client.synchronous.client import Client
from dataaccess._core.process import ProcessLock
from dataaccess._native import ENVIRONMENT

_VARIABLES = KNOWN.union(ENVIRONMENT)
# The last client, by a digest of the settings it was made from: no copy of the token.
_shared: dict[bytes, Client] = {}
_lock = ProcessLock()


def environment_client() -> Client:
    """The client of the current environment."""
    # To look each variable up would take longer.
    found = {name: os.environ[name] for name in sorted(_VARIABLES.intersection(os.environ))}
    if found.get(PROFILE) or not found.get(SETTINGS["base_url"].variable):
        try:
            state = config_path().stat()
        except OSError:
            found["profile"] = str(config_path())
        else:
            found["profile"] = f"{config_path()} {state.st_mtime_ns} {state.st_size} {state.st_ino}"
    digest = hashlib.sha256(repr(found).encode("utf-8", "surrogateescape")).digest()
    with _lock:
        if digest not in _shared:
            client = Client()
            _shared.clear()
            _shared[digest] = client
        return _shared[digest]
