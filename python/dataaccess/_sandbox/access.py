"""Tokens of a `Sandbox`, and clients and environments with a token."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar, Unpack

from dataaccess._client.asynchronous import AsyncClient
from dataaccess._client.client import Client
from dataaccess._core.checks import duration, string
from dataaccess._sandbox.options import strings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import timedelta

    from dataaccess._sandbox.control import Control
    from dataaccess._types import ClientOptions

_PREFIX = "DATAACCESS_"
_C = TypeVar("_C", "Client", "AsyncClient")


class Access:
    """Tokens, clients, and the variables that name the sandbox."""

    _control: Control

    @property
    def scopes(self) -> list[str]:
        """All scopes: of the API specification, and of switches that name one."""
        return list(self._control.call("GET", "/state")["scopes"])

    def issue_token(
        self,
        scopes: Iterable[str] | None = None,
        *,
        expires_in: float | timedelta | None = None,
    ) -> str:
        """Issues a token.

        Args:
            scopes: `item` for searches, `download` for downloads, and those that the switches `generic_scope` and
                `download_scope` name; None is all of them.
            expires_in: Seconds, or a timedelta, until the token expires; None never.

        Returns:
            The token.

        Raises:
            ConfigError: There is no such scope, or `expires_in` is not a duration.
            TypeError: `scopes` is one string instead of several.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     client = da.Client(sandbox.base_url, token=sandbox.issue_token(["download"]))
            ...     message = client.download_segment(5637051)["message"]
            >>> message
            'Success'
        """
        ends = None if expires_in is None else duration("expires_in", expires_in)
        given = None if scopes is None else strings("scopes", scopes)
        issued = self._control.call("POST", "/tokens", {"scopes": given, "expires_in": ends})
        return str(issued["token"])

    def revoke(self, token: str) -> None:
        """Revokes a token at once.

        Args:
            token: The token; an unknown one is not an error.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     sandbox.revoke(sandbox.issue_token())
        """
        self._control.call("POST", "/tokens/revoke", {"token": string("token", token)})

    def client(
        self,
        *,
        scopes: Iterable[str] | None = None,
        profile: str | None = None,
        **options: Unpack[ClientOptions],
    ) -> Client:
        """Makes a client of this sandbox with a token of its own.

        Args:
            scopes: Scopes of the token; None is all of them.
            profile: Name of a profile; None: neither a profile nor the environment counts.
            **options: Other arguments of `Client`, but `base_url` and `token`.

        Returns:
            A client.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     client = sandbox.client(scopes=["item"], timeout=10)
        """
        return self._made(Client, scopes, profile, options)

    def async_client(
        self,
        *,
        scopes: Iterable[str] | None = None,
        profile: str | None = None,
        **options: Unpack[ClientOptions],
    ) -> AsyncClient:
        """Makes an asynchronous client of this sandbox with a token of its own.

        Args:
            scopes: As in `client`.
            profile: As in `client`.
            **options: As in `client`.

        Returns:
            A client.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     client = sandbox.async_client(scopes=["item"])
        """
        return self._made(AsyncClient, scopes, profile, options)

    @contextmanager
    def environment(self, *, scopes: Iterable[str] | None = None) -> Iterator[None]:
        """Makes the sandbox the service of the environment in a `with` block, for child processes too.

        Sets `DATAACCESS_BASE_URL` and `DATAACCESS_TOKEN`, removes all other variables that begin with `DATAACCESS_`,
        and restores all of them at the end. The environment is of the process: other threads see the variables too.

        Args:
            scopes: Scopes of the token; None is all of them.

        Yields:
            Nothing.

        Examples:
            >>> import dataaccess as da
            >>> import subprocess, sys
            >>> job = "import dataaccess as da; print(da.Client().check().is_ok)"
            >>> with da.Sandbox.demo() as sandbox, sandbox.environment():
            ...     output = subprocess.run([sys.executable, "-c", job], capture_output=True, text=True).stdout
            >>> print(output.strip())
            True
        """
        token = self.issue_token(scopes)
        before = _replaced({f"{_PREFIX}BASE_URL": self._control.base_url, f"{_PREFIX}TOKEN": token})
        try:
            yield
        finally:
            _replaced(before)
            self.revoke(token)

    def _made(self, kind: type[_C], scopes: Iterable[str] | None, profile: str | None, options: ClientOptions) -> _C:
        # A sandbox on another machine has synthetic data, and no TLS of its own.
        plain: ClientOptions = {"allow_http": True, **options}
        client = kind(self._control.base_url, token=self.issue_token(scopes), profile=profile, **plain)
        # A sandbox that only its client refers to lives as long as the client.
        client._service = self
        return client


def _replaced(variables: dict[str, str]) -> dict[str, str]:
    """Replaces all variables of this package, and returns those before."""
    before = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(_PREFIX)}
    os.environ.update(variables)
    return before
