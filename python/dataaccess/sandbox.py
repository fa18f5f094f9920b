"""`Sandbox`: the whole service of the document, on this machine, with made-up data.

It listens on the loopback address only, from a thread of its own, and needs no account and no network.
"""

from __future__ import annotations

import os
import warnings
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, Self

from dataaccess._arguments import seconds
from dataaccess._native import RawSandbox
from dataaccess.errors import ConfigError, SandboxWarning

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType

    from dataaccess.aio import AsyncClient
    from dataaccess.client import Client

_SCOPES = ("item", "download")

# The one server behind `sandbox:demo`, with the process that started it: a forked child starts its own.
_shared: tuple[int, Sandbox] | None = None
_addresses: set[str] = set()


class Sandbox:
    """The embedded service (sections 1 to 9), empty; `Sandbox.demo()` has data.

    Each has its own store, its own tokens and its own port on the loopback address. What the document
    does not show is answered as the README's table says.

    Args:
        db: File that keeps objects and rows for the next start; it is made, for its owner alone, when it is
            not there. Without it they are in memory.
        port: Port to listen on; 0 takes a free one.
        switches: Other answers to what the document does not show, by the names of the README's table.

    Raises:
        SandboxError: The port is taken, the file is no store of a sandbox, there is no such switch, or a
            switch does not take its value.

    Example:
        >>> import dataaccess as da
        >>> with da.Sandbox(switches={"day_zone": "Asia/Ho_Chi_Minh", "empty_shape": "null"}) as sandbox:
        ...     rows = sandbox.client().search_codes(allocated_time=da.after("2024-01-01"))
        >>> rows
        []
    """

    _raw: RawSandbox

    def __init__(
        self,
        *,
        db: str | os.PathLike[str] | None = None,
        port: int = 0,
        switches: Mapping[str, Any] | None = None,
    ) -> None:
        """Starts the service."""
        path = None if db is None else os.fspath(db)
        self._start(RawSandbox(demo=False, port=port, export_seconds=None, db=path, switches=_settings(switches)))

    def _start(self, raw: RawSandbox) -> None:
        self._raw = raw
        _addresses.add(raw.base_url)

    @classmethod
    def demo(
        cls,
        *,
        port: int = 0,
        export_seconds: float | timedelta | None = None,
        switches: Mapping[str, Any] | None = None,
    ) -> Self:
        """Starts the service with demo data, the same each time.

        There are promotion codes allocated from 2024-01-01 to 2024-02-29 (UTC), customers from
        `demo-customer-0001` on, and exports in every stage. All ids begin with `demo-`.

        Args:
            port: Port to listen on; 0 takes a free one.
            export_seconds: After how many seconds (or a timedelta) the export that is under way at the
                start ends; None is three.
            switches: As for `Sandbox`.

        Returns:
            A running service.

        Raises:
            SandboxError: The port is taken, there is no such switch, or it does not take its value.

        Example:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     rows = sandbox.client().search_codes(allocated_time=da.on("2024-02-29"), limit=1)
            >>> rows[0]["id"].startswith("demo-")
            True
        """
        sandbox = object.__new__(cls)
        ends = None if export_seconds is None else seconds(export_seconds)
        settings = _settings(switches)
        sandbox._start(RawSandbox(demo=True, port=port, export_seconds=ends, db=None, switches=settings))
        return sandbox

    @property
    def base_url(self) -> str:
        """The address of the service, for any client."""
        return self._raw.base_url

    def declare(
        self,
        name: str,
        item_type_id: int,
        attributes: Mapping[str, Literal["string", "number", "datetime"]],
    ) -> None:
        """Adds a business object that can be loaded and searched.

        Declaring the same again changes nothing. An object without rows, such as `customer` at the start, may
        be declared anew with other attributes; promotion codes have those of the document.

        Args:
            name: Its `itemTypeName`.
            item_type_id: Its `itemTypeId`.
            attributes: What its attributes are, by their names. The first one identifies a record.

        Raises:
            SandboxError: The name or id is taken, or an attribute cannot be.
            ForkedHandleError: The service belongs to the parent of this process.

        Example:
            >>> import dataaccess as da
            >>> with da.Sandbox() as sandbox:
            ...     sandbox.declare("store", 7, {"store_id": "string", "area": "number", "opened": "datetime"})
            ...     count = sandbox.load("store", [{"store_id": "s-1", "area": 250}, {"store_id": "s-2"}])
            ...     rows = sandbox.client().search_items(
            ...         "store", ["store_id", "area"], da.col("area").equals(250), item_type_id=7
            ...     )
            >>> rows
            [{'store_id': 's-1', 'area': 250}]
        """
        self._raw.declare(name, item_type_id, list(attributes.items()))

    def load(self, name: str, rows: Iterable[Mapping[str, Any]] | Any) -> int:
        """Adds rows to an object, all or none.

        Args:
            name: Name of the object, as `promotion_code`, `customer` or a declared one.
            rows: Any iterable of dicts, or a table that has `__arrow_c_stream__`, as those of polars, pyarrow
                and pandas. What is missing or None is null; an attribute that is not declared is refused.
                Times are datetimes in whole seconds (in UTC unless they have a zone), dates, or texts
                `YYYY-MM-DD HH:MM:SS`.

        Returns:
            How many rows were added.

        Raises:
            SandboxError: A value does not fit, told by row and attribute, or an identifier is taken.
            ForkedHandleError: The service belongs to the parent of this process.

        Example:
            >>> import dataaccess as da
            >>> import pandas as pd
            >>> with da.Sandbox() as sandbox:
            ...     count = sandbox.load("customer", pd.DataFrame({"customer_id": ["17", "42"]}))
            >>> count
            2
        """
        return self._raw.load(name, rows)

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


def _settings(switches: Mapping[str, Any] | None) -> dict[str, Any]:
    """Switches as the core takes them."""
    given = (switches or {}).items()
    return {name: seconds(value) if isinstance(value, timedelta) else value for name, value in given}


def shared_sandbox(address: str) -> Sandbox:
    """The one server of this process behind `sandbox:demo`; the first use warns that the data is made up."""
    global _shared  # noqa: PLW0603 - one server a process is the point
    if address != "sandbox:demo":
        raise ConfigError(f"there is no {address!r}; the embedded service is sandbox:demo")
    if _shared is None or _shared[0] != os.getpid():
        if _shared is None:
            warnings.warn(
                "sandbox:demo is the embedded service: its data is made up",
                SandboxWarning,
                stacklevel=4,
            )
        _shared = (os.getpid(), Sandbox.demo())
    return _shared[1]


def is_sandbox_address(base_url: str) -> bool:
    """Whether an address is that of a service started by this package, here or in a parent process."""
    return base_url in _addresses
