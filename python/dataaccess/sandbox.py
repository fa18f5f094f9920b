"""`Sandbox`: the whole service of the document, on this machine, with made-up data.

It listens on the loopback address only, from a thread of its own, and needs no account and no network.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Self

from dataaccess._arguments import seconds
from dataaccess._native import RawSandbox
from dataaccess._process import ProcessLock
from dataaccess._warn import warn_caller
from dataaccess.errors import ConfigError, SandboxWarning

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import timedelta
    from types import TracebackType

    from dataaccess.aio import AsyncClient
    from dataaccess.client import Client

_SCOPES = ("item", "download")

# The one server of each process behind `sandbox:demo`: a forked child starts its own, and leaves its parent's alone.
_shared: dict[int, Sandbox] = {}
_lock = ProcessLock()
_addresses: set[str] = set()


class Sandbox:
    """The embedded service (sections 1 to 9), empty; `Sandbox.demo()` has data.

    Each has its own store, its own tokens and its own port on the loopback address. What the document
    does not show is answered as the README's table says.

    Args:
        port: Port to listen on; 0 takes a free one.

    Raises:
        SandboxError: The port is taken, or the service cannot start.

    Example:
        >>> import dataaccess as da
        >>> with da.Sandbox() as sandbox:
        ...     rows = sandbox.client().search_codes(allocated_time=da.after("2024-01-01"))
        >>> rows
        []
    """

    _raw: RawSandbox

    def __init__(self, *, port: int = 0) -> None:
        """Starts the service."""
        self._start(RawSandbox(demo=False, port=port, export_seconds=None))

    def _start(self, raw: RawSandbox) -> None:
        self._raw = raw
        _addresses.add(raw.base_url)

    @classmethod
    def demo(cls, *, port: int = 0, export_seconds: float | timedelta | None = None) -> Self:
        """Starts the service with demo data, the same each time.

        There are promotion codes allocated from 2024-01-01 to 2024-02-29 (UTC), customers from
        `demo-customer-0001` on, and exports in every stage. All ids begin with `demo-`.

        Args:
            port: Port to listen on; 0 takes a free one.
            export_seconds: After how many seconds (or a timedelta) the export that is under way at the
                start ends; None is three.

        Returns:
            A running service.

        Raises:
            SandboxError: The port is taken, or the service cannot start.

        Example:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     rows = sandbox.client().search_codes(allocated_time=da.on("2024-02-29"), limit=1)
            >>> rows[0]["id"].startswith("demo-")
            True
        """
        sandbox = object.__new__(cls)
        ends = None if export_seconds is None else seconds(export_seconds)
        sandbox._start(RawSandbox(demo=True, port=port, export_seconds=ends))
        return sandbox

    @property
    def base_url(self) -> str:
        """The address of the service, for any client."""
        return self._raw.base_url

    def issue_token(self, scopes: Iterable[str] = _SCOPES, *, expires_in: float | timedelta | None = None) -> str:
        """Issues a token (section 5).

        Args:
            scopes: `item` for searches, `download` for downloads.
            expires_in: Seconds, or a timedelta, until it ends; None never.

        Returns:
            The token.

        Raises:
            ForkedHandleError: The service belongs to the parent of this process.
            TypeError: `scopes` is a text instead of several.

        Example:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     client = da.Client(sandbox.base_url, token=sandbox.issue_token(["download"]))
            ...     message = client.download_segment(5637051)["message"]
            >>> message
            'Success'
        """
        if isinstance(scopes, str):
            raise TypeError(f"scopes must be several: write scopes=[{scopes!r}]")
        ends = None if expires_in is None else seconds(expires_in)
        return self._raw.issue_token(list(scopes), ends)

    def revoke(self, token: str) -> None:
        """Makes a token invalid at once.

        Args:
            token: The token; one that is not known is no error.

        Raises:
            ForkedHandleError: The service belongs to the parent of this process.

        Example:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     sandbox.revoke(sandbox.issue_token())
        """
        self._raw.revoke(token)

    def client(self, *, scopes: Iterable[str] = _SCOPES, **options: Any) -> Client:
        """A client of this service with a token of its own.

        Args:
            scopes: What the token is good for.
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
        from dataaccess.client import Client

        return Client(self.base_url, token=self.issue_token(scopes), **options)

    def async_client(self, *, scopes: Iterable[str] = _SCOPES, **options: Any) -> AsyncClient:
        """An asynchronous client of this service with a token of its own.

        Args:
            scopes: What the token is good for.
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
        from dataaccess.aio import AsyncClient

        return AsyncClient(self.base_url, token=self.issue_token(scopes), **options)

    def stop(self) -> None:
        """Ends the service within two seconds. Stopping twice is stopping once; a forked child cannot.

        Example:
            >>> import dataaccess as da
            >>> sandbox = da.Sandbox.demo()
            >>> sandbox.stop()
        """
        self._raw.stop()

    def __enter__(self) -> Self:
        """The service itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stops the service."""
        self.stop()

    def __repr__(self) -> str:
        """The address."""
        return f"Sandbox({self.base_url!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """A running service cannot travel."""
        raise TypeError("a Sandbox does not pickle: hand over its base_url and a token")


def shared_sandbox(address: str) -> Sandbox:
    """The one server of this process behind `sandbox:demo`; the first use warns that the data is made up."""
    if address != "sandbox:demo":
        raise ConfigError(f"there is no {address!r}; the embedded service is sandbox:demo")
    with _lock:
        shared = _shared.get(os.getpid())
        if shared is None:
            if not _shared:
                warn_caller("sandbox:demo is the embedded service: its data is made up", SandboxWarning)
            shared = _shared[os.getpid()] = Sandbox.demo()
        return shared


def is_sandbox_address(base_url: str) -> bool:
    """Whether an address is that of a service started by this package, here or in a parent process."""
    return base_url in _addresses
