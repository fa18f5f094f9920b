"""The settings of a client, and the token, from an Airflow connection."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from dataaccess._client.resolve import named_address, origin, token_variable
from dataaccess._client.settings import SETTINGS
from dataaccess._public import did_you_mean
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_TYPE = "dataaccess"
_SCHEMES = ("http", "https")
_SETTINGS = {"profile", *SETTINGS} - {"base_url"}


class Connection(Protocol):
    """What is read of an Airflow connection."""

    conn_id: str
    conn_type: str | None
    host: str | None
    port: int | None
    schema: str | None
    login: str | None
    password: str | None
    extra: str | None


class Hidden:
    """Settings whose values may be secret. Tools that show the locals of a traceback walk through dicts, not this."""

    __slots__ = ("values",)

    values: dict[str, Any]

    def __init__(self, values: dict[str, Any]) -> None:
        """Settings by name."""
        self.values = values


class HiddenConnection:
    """An Airflow connection. The representation of Airflow's own class shows the password and `extra`."""

    __slots__ = ("_connection",)

    def __init__(self, connection: object) -> None:
        """Keeps the connection."""
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def __repr__(self) -> str:
        return f"HiddenConnection({self.conn_id!r})"


def extra_of(connection: Connection) -> Hidden:
    """The keys of `extra`.

    Raises:
        ConfigError: It is no JSON object.
    """
    found = None
    # The exception would hold the text.
    with suppress(ValueError):
        found = json.loads(connection.extra or "{}")
    found = found if isinstance(found, dict) else None
    if found is None:
        raise ConfigError(f"{_named(connection)}: extra is no JSON object")
    return Hidden(found)


def client_arguments(
    connection: Connection,
    extra: Hidden,
    given: Mapping[str, Any],
    look_up: Callable[[], str | None],
) -> dict[str, Any]:
    """The arguments of a client.

    Args:
        connection: Says the address and the token.
        extra: Its other settings.
        given: Settings of the code, in place of those of the connection.
        look_up: Reads the token of the connection again.

    Raises:
        ConfigError: A setting is invalid, or a token or header would be sent to the address of another service.
    """
    if connection.conn_type not in (None, "", _TYPE):
        raise ConfigError(f"{_named(connection)} is of the type {connection.conn_type!r}: make one of the type {_TYPE}")
    settings = _settings(connection, extra)
    own = settings.values["base_url"] or os.environ.get("DATAACCESS_BASE_URL")
    if given.get("base_url") is not None:
        here = origin(given["base_url"])
        if own and here is not None and here != origin(own):
            raise ConfigError(
                f"{_named(connection)} is for {origin(own)}, and base_url is {here}: make a dataaccess.Client for it"
            )
    elif not connection.password:
        _check_own_address(connection, settings.values["base_url"], settings.values.get("profile"))
    here = origin(given.get("base_url") or settings.values["base_url"])
    if os.environ.get("DATAACCESS_HEADERS") and here not in (None, origin(os.environ.get("DATAACCESS_BASE_URL"))):
        # They are not for an address that the connection alone names.
        settings.values.setdefault("headers", None)
    token = ConnectionToken(connection.password, look_up) if connection.password else None
    return {**settings.values, **given, "token": token}


def _check_own_address(connection: Connection, host: str | None, profile: str | None) -> None:
    """Refuses an address that the connection alone names: it would get the token of the worker's environment."""
    if host is None and profile is None:
        return
    here = origin(host or named_address(profile))
    # The token of a profile belongs to its own address; that of the environment to the one that the environment names.
    own = named_address(None if token_variable() else profile)
    if here is not None and not here.startswith("sandbox:") and here != origin(own):
        raise ConfigError(
            f"{_named(connection)} names {here} and has no password: a token of the worker's environment or profile is "
            "sent only to the address that these name; set the password, or leave the host empty"
        )


def _settings(connection: Connection, extra: Hidden) -> Hidden:
    """The arguments of a client but the token. A field of the form that is empty keeps its default."""
    for name in extra.values:
        if name not in _SETTINGS:
            advice = did_you_mean(name, _SETTINGS) or f"; there are {', '.join(sorted(_SETTINGS))}"
            raise ConfigError(f"{_named(connection)}: extra has {name!r}, which is no setting{advice}")
    settings = Hidden({"base_url": base_url(connection)})
    for name in extra.values:
        if extra.values[name] not in (None, ""):
            settings.values[name] = _typed(connection, name, extra)
    if connection.login:
        raise ConfigError(f"{_named(connection)}: login is not used, as the token is the password: leave login empty")
    return settings


def base_url(connection: Connection) -> str | None:
    """The address of the service; None for that of the environment. A URI has its scheme apart, so https is assumed.

    Raises:
        ConfigError: The schema is another scheme than the one of the host.
    """
    host, path = connection.host, connection.schema
    if not host:
        return None
    scheme = "https"
    if path in _SCHEMES:
        # As in the connections of Airflow's HTTP provider.
        scheme, path = path, None
        if "://" in host and not host.startswith(f"{scheme}://"):
            raise ConfigError(f"{_named(connection)}: schema is {scheme!r} and the host {host}: leave schema empty")
    if "://" not in host and not host.startswith("sandbox:"):
        host = f"{scheme}://{host}"
    port = f":{connection.port}" if connection.port else ""
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
        self._token = token
        self._look_up = look_up
        self._process: int | None = None

    def __call__(self) -> str:
        """The token."""
        if self._process != os.getpid():
            self._process = os.getpid()
        else:
            self._token = self._look_up() or self._token
        return self._token

    def __repr__(self) -> str:
        return "ConnectionToken()"

    def __reduce__(self) -> tuple[Any, ...]:
        """Raises: the pickle would hold the token."""
        raise TypeError(
            "the client of an Airflow connection does not pickle, as the pickle would hold the token: let forked "
            "processes inherit it as a global, or set DATAACCESS_TOKEN and use dataaccess_conn_id=None"
        )


def _typed(connection: Connection, name: str, extra: Hidden) -> object:
    """The value of a setting: a connection that is written as a URI has strings only."""
    if not isinstance(extra.values[name], str) or name not in SETTINGS:
        return extra.values[name]
    try:
        return SETTINGS[name].of_text(extra.values[name])
    except ValueError as error:
        shown = "it" if SETTINGS[name].is_secret else repr(extra.values[name])
        problem = f"{_named(connection)}: {name}: {shown} {error}"
    # Not from within: the frames that read the text have it.
    raise ConfigError(problem)


def _named(connection: Connection) -> str:
    return f"the Airflow connection {connection.conn_id!r}"
