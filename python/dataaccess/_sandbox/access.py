"""Tokens of a `Sandbox`, and clients that have one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from dataaccess._core.arguments import span, text, texts

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import timedelta

    from dataaccess._client.asynchronous import AsyncClient
    from dataaccess._client.synchronous import Client
    from dataaccess._native import RawSandbox

_C = TypeVar("_C", "Client", "AsyncClient")


class Access:
    """Who may ask."""

    _raw: RawSandbox

    @property
    def scopes(self) -> list[str]:
        """All scopes that mean something here: those of the document, and those that switches name."""
        return self._raw.scopes

    def issue_token(
        self,
        scopes: Iterable[str] | None = None,
        *,
        expires_in: float | timedelta | None = None,
    ) -> str:
        """Issues a token (section 5).

        Args:
            scopes: `item` for searches, `download` for downloads, and those that the switches `generic_scope`
                and `download_scope` name; None is all of them.
            expires_in: Seconds, or a timedelta, until it ends; None never.

        Returns:
            The token.

        Raises:
            ConfigError: There is no such scope, or `expires_in` is no stretch of time.
            ForkedHandleError: The service belongs to the parent of this process.
            SandboxError: 10,000 tokens are in force already, or the service was stopped.
            TypeError: `scopes` is a text instead of several.

        Example:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     client = da.Client(sandbox.base_url, token=sandbox.issue_token(["download"]))
            ...     message = client.download_segment(5637051)["message"]
            >>> message
            'Success'
        """
        ends = None if expires_in is None else span("expires_in", expires_in)
        return self._raw.issue_token(None if scopes is None else texts("scopes", scopes), ends)

    def revoke(self, token: str) -> None:
        """Makes a token invalid at once.

        Args:
            token: The token; one that is not known is no error.

        Raises:
            ConfigError: The token is no text.
            ForkedHandleError: The service belongs to the parent of this process.

        Example:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     sandbox.revoke(sandbox.issue_token())
        """
        self._raw.revoke(text("token", token))

    def client(self, *, scopes: Iterable[str] | None = None, **options: Any) -> Client:
        """A client of this service with a token of its own.

        Args:
            scopes: What the token is good for; None is everything.
            **options: Arguments of `Client`, but `base_url` and `token`.

        Returns:
            A client.

        Raises:
            ForkedHandleError: The service belongs to the parent of this process.
            ConfigError: For an option that cannot be used.

        Example:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     client = sandbox.client(scopes=["item"], timeout=10)
        """
        from dataaccess._client.synchronous import Client

        return self._kept_by(Client(self._raw.base_url, token=self.issue_token(scopes), **options))

    def async_client(self, *, scopes: Iterable[str] | None = None, **options: Any) -> AsyncClient:
        """An asynchronous client of this service with a token of its own.

        Args:
            scopes: What the token is good for; None is everything.
            **options: Arguments of `AsyncClient`, but `base_url` and `token`.

        Returns:
            A client.

        Raises:
            ForkedHandleError: The service belongs to the parent of this process.
            ConfigError: For an option that cannot be used.

        Example:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     client = sandbox.async_client(scopes=["item"])
        """
        from dataaccess._client.asynchronous import AsyncClient

        return self._kept_by(AsyncClient(self._raw.base_url, token=self.issue_token(scopes), **options))

    def _kept_by(self, client: _C) -> _C:
        # A service that nobody else holds lives as long as its client.
        client._keep(self)  # noqa: SLF001 - the two belong together
        return client
