"""The settings of a client, and the token, from an Airflow connection. It needs no Airflow.

Tools that collect errors show the locals of frames, and walk through dicts and lists: connections and settings are
`Secret` here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from dataaccess._client.resolve import named_address, origin, token_variable
from dataaccess._client.settings import SETTINGS
from dataaccess._core.secret import Secret
from dataaccess._public import did_you_mean
from dataaccess.errors import ConfigError

_SETTINGS = {"profile", *SETTINGS} - {"base_url"}


def client_arguments(connection: Secret, given: Mapping[str, Any], look_up: Callable[[], str | None]) -> dict[str, Any]:
    """The arguments of a client: `given` are settings of the code, which replace settings of the connection.

    `look_up` reads the token of the connection again. No token or header is sent to the address of another service.
    """
    named = f"the Airflow connection {connection.value.conn_id!r}"
    if connection.value.conn_type not in (None, "", "dataaccess"):
        raise ConfigError(f"{named} is of the type {connection.value.conn_type!r}: make one of the type dataaccess")
    if connection.value.login:
        raise ConfigError(f"{named}: login is not used, as the token is the password: leave login empty")
    settings = _settings(connection, named)
    host = base_url(connection)
    own, here = host or os.environ.get("DATAACCESS_BASE_URL"), origin(given.get("base_url") or host)
    if given.get("base_url") is not None:
        if own and here is not None and here != origin(own):
            raise ConfigError(f"{named} is for {origin(own)}, and base_url is {here}: make a dataaccess.Client for it")
    elif not connection.value.password and (host or settings.value.get("profile")) is not None:
        # The token of the worker's environment is for the address in it, and the token of a profile for its own.
        profile = settings.value.get("profile")
        there, own = origin(host or named_address(profile)), named_address(None if token_variable() else profile)
        if there is not None and not there.startswith("sandbox:") and there != origin(own):
            raise ConfigError(
                f"{named} names {there} and has no password: a token of the worker's environment or profile is "
                "sent only to the address that these name; set the password, or leave the host empty"
            )
    if os.environ.get("DATAACCESS_HEADERS") and here not in (None, origin(os.environ.get("DATAACCESS_BASE_URL"))):
        # They are not for an address that the connection alone names.
        settings.value.setdefault("headers", None)
    token = ConnectionToken(connection.value.password, look_up) if connection.value.password else None
    return {"base_url": host, **settings.value, **given, "token": token}


def _settings(connection: Secret, named: str) -> Secret:
    """The settings in `extra`. A field of the form that is empty keeps its default."""
    extra = Secret(None)
    # The exception would hold the text.
    with suppress(ValueError):
        extra.value = json.loads(connection.value.extra or "{}")
    if not isinstance(extra.value, dict):
        raise ConfigError(f"{named}: extra is no JSON object")
    settings = Secret({})
    for name in extra.value:
        if name not in _SETTINGS:
            advice = did_you_mean(name, _SETTINGS) or f"; there are {', '.join(sorted(_SETTINGS))}"
            raise ConfigError(f"{named}: extra has {name!r}, which is no setting{advice}")
        if extra.value[name] in (None, ""):
            continue
        settings.value[name], problem = extra.value[name], None
        # A connection that is written as a URI has strings only.
        if isinstance(extra.value[name], str) and name in SETTINGS:
            try:
                settings.value[name] = SETTINGS[name].of_text(extra.value[name])
            except ValueError as error:
                problem = f"{'it' if SETTINGS[name].is_secret else repr(extra.value[name])} {error}"
        if problem is not None:
            # Not from within: the frames that read the text have it.
            raise ConfigError(f"{named}: {name}: {problem}")
    return settings


def base_url(connection: Secret) -> str | None:
    """The address of the service; None for the address of the environment.

    A URI has its scheme apart, so https is assumed.
    """
    host, path, scheme = connection.value.host, connection.value.schema, "https"
    if not host:
        return None
    if path in ("http", "https"):
        # As in the connections of Airflow's HTTP provider.
        scheme, path = path, None
        if "://" in host and not host.startswith(f"{scheme}://"):
            named = f"the Airflow connection {connection.value.conn_id!r}"
            raise ConfigError(f"{named}: schema is {scheme!r} and the host {host}: leave schema empty")
    if "://" not in host and not host.startswith("sandbox:"):
        host = f"{scheme}://{host}"
    port = f":{connection.value.port}" if connection.value.port else ""
    return f"{host.rstrip('/')}{port}{f'/{path}' if path else ''}"


class ConnectionToken:
    """The token of a connection: the one that was read with it, and a newer one once the service refused that.

    So a long scan, or a trigger that waits for hours, follows a secrets backend that rotates its tokens. A forked child
    begins with the token that its parent had: it shares the parent's channel to Airflow, which it must not use at the
    same time.
    """

    is_of_one_service = True

    def __init__(self, token: str, look_up: Callable[[], str | None]) -> None:
        """Takes the token, and a function that reads the connection again."""
        self._token, self._look_up = token, look_up
        self._process: int | None = None

    def __call__(self) -> str:
        """The token."""
        if self._process == os.getpid():
            self._token = self._look_up() or self._token
        self._process = os.getpid()
        return self._token

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            "the client of an Airflow connection does not pickle, as the pickle would hold the token: let forked "
            "processes inherit it as a global, or set DATAACCESS_TOKEN and use dataaccess_conn_id=None"
        )
