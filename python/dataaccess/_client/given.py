"""What the user gave: which arguments, and which profile for the others."""

from __future__ import annotations

import os
from functools import wraps
from typing import TYPE_CHECKING

from dataaccess._core.checks import string
from dataaccess._core.embedded import embedded_name, is_sandbox
from dataaccess._core.tracebacks import at_the_caller

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from dataaccess._client.profiles import Profile

    _F = TypeVar("_F", bound=Callable[..., Any])


def noting_arguments(init: _F) -> _F:
    """Notes which arguments are given: a profile says the others. An argument may equal the default."""

    @wraps(init)
    def call(self: Any, *arguments: Any, **keywords: Any) -> None:
        with at_the_caller:
            try:
                self._given = {*keywords, *(["base_url"] if arguments else [])}
                init(self, *arguments, **keywords)
            finally:
                # As in `at_line`: no frame holds a secret.
                arguments, keywords = (), {}

    return call  # type: ignore[return-value] # it has the signature of the function


def find_profile(name: str | None, base_url: object) -> Profile | None:
    """The profile of the argument or the environment; the default profile if nothing else says an address.

    A client of a sandbox has one only if the argument names it.
    """
    if name is not None:
        string("profile", name)
    elif embedded_name(base_url) is not None or is_sandbox(base_url):
        return None
    name = name if name is not None else os.environ.get("DATAACCESS_PROFILE") or None
    if name is None and (base_url is not None or os.environ.get("DATAACCESS_BASE_URL")):
        return None
    from dataaccess._client.profiles import find

    return find(name)


def named_address(profile: str | None = None) -> str | None:
    """The address that the environment names, or a profile, for a client without `base_url=`."""
    if address := os.environ.get("DATAACCESS_BASE_URL"):
        return address
    found = find_profile(profile, None)
    return None if found is None else found.settings.get("base_url")
