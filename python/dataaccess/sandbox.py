"""`Sandbox`: the whole service of the document, on this machine, with made-up data.

It listens on the loopback address unless told otherwise, from a thread of its own, and needs no account and no
network.
"""

from __future__ import annotations

import os
from datetime import timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from dataaccess._arguments import seconds, span, whole
from dataaccess._fault import Fault
from dataaccess._native import RawSandbox
from dataaccess._process import ProcessLock
from dataaccess._received import ReceivedRequest, received
from dataaccess._warn import warn_caller
from dataaccess.errors import ConfigError, SandboxWarning

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from ipaddress import IPv4Address, IPv6Address
    from types import TracebackType

    from dataaccess._fault import FaultKind
    from dataaccess.aio import AsyncClient
    from dataaccess.client import Client

_C = TypeVar("_C", "Client", "AsyncClient")

_SCOPES = ("item", "download")

# The one server of each process behind `sandbox:demo`: a forked child starts its own, and leaves its parent's alone.
_shared: dict[int, Sandbox] = {}
_lock = ProcessLock()
_addresses: set[str] = set()


class Sandbox:
    """The embedded service (sections 1 to 9), empty; `Sandbox.demo()` has data.

    Each has its own store, its own tokens and its own port on the loopback address. What the document
    does not show is answered as the README's table says. Exports, tokens and the log of requests live in
    memory and end with it.

    Args:
        db: File that keeps objects and rows for the next start; it is made, for its owner alone, when it is
            not there. Without it they are in memory.
        port: Port to listen on; 0 takes a free one.
        switches: Other answers to what the document does not show, by the names of the README's table.
        host: Address to listen on. One that other machines can reach needs `allow_remote` and `token`.
        allow_remote: Allows such an address.
        token: A token of your own with every scope, of 16 visible ASCII characters or more.
        host_names: Names by which it may be addressed, beside localhost and its own address; a request for
            any other name is refused.

    Raises:
        ConfigError: `host` is no address, or can be reached by others without being allowed.
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
        host: str = "127.0.0.1",
        allow_remote: bool = False,
        token: str | None = None,
        host_names: Iterable[str] = (),
    ) -> None:
        """Starts the service."""
        if isinstance(host_names, str):
            raise TypeError(f"host_names must be several: write host_names=[{host_names!r}]")
        path = None if db is None else os.fspath(db)
        access = (_address(host), allow_remote, token, list(host_names))
        settings = _settings(switches)
        self._start(RawSandbox(demo=False, port=port, export_seconds=None, db=path, switches=settings, access=access))

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
        sandbox._start(RawSandbox(demo=True, port=port, export_seconds=ends, db=None, switches=settings, access=None))
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

    def load(self, name: str, rows: Iterable[Mapping[str, Any]] | Any, *, replace: bool = False) -> int:
        """Adds rows to an object, all or none.

        They are found once all have come; until then the service goes on as if there were none of them, and
        whatever gives them may use it too.

        Args:
            name: Name of the object, as `promotion_code`, `customer` or a declared one.
            rows: Any iterable of dicts, or a table that has `__arrow_c_stream__`, as those of polars, pyarrow
                and pandas. What is missing or None is null; an attribute that is not declared is refused.
                Times are datetimes in whole seconds (in UTC unless they have a zone), dates, or texts
                `YYYY-MM-DD HH:MM:SS`.
            replace: Whether a row takes the place of an earlier one with the same identifier, which else is
                an error.

        Returns:
            How many rows were given.

        Raises:
            SandboxError: A value does not fit or an identifier is taken, told by the row, which are counted
                from 0; or the service was stopped meanwhile.
            ForkedHandleError: The service belongs to the parent of this process.

        Example:
            >>> import dataaccess as da
            >>> import pandas as pd
            >>> with da.Sandbox() as sandbox:
            ...     count = sandbox.load("customer", pd.DataFrame({"customer_id": ["17", "42"]}))
            ...     count += sandbox.load("customer", [{"customer_id": "17", "name": "Ada"}], replace=True)
            >>> count
            3
        """
        return self._raw.load(name, rows, replace)

    def clear(self, name: str) -> int:
        """Takes all rows of an object away; it stays declared.

        Args:
            name: Name of the object.

        Returns:
            How many rows there were.

        Raises:
            SandboxError: There is no such object, or the service was stopped.
            ForkedHandleError: The service belongs to the parent of this process.

        Example:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     count = sandbox.clear("promotion_code")
            ...     rows = sandbox.client().search_codes(allocated_time=da.after("2024-01-01"))
            >>> rows
            []
        """
        return self._raw.clear(name)

    def issue_token(self, scopes: Iterable[str] = _SCOPES, *, expires_in: float | timedelta | None = None) -> str:
        """Issues a token (section 5).

        Args:
            scopes: `item` for searches, `download` for downloads.
            expires_in: Seconds, or a timedelta, until it ends; None never.

        Returns:
            The token.

        Raises:
            ConfigError: `expires_in` is no stretch of time.
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
        if isinstance(scopes, str):
            raise TypeError(f"scopes must be several: write scopes=[{scopes!r}]")
        ends = None if expires_in is None else span("expires_in", expires_in)
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

        return self._kept_by(Client(self.base_url, token=self.issue_token(scopes), **options))

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

        return self._kept_by(AsyncClient(self.base_url, token=self.issue_token(scopes), **options))

    def _kept_by(self, client: _C) -> _C:
        # A service that nobody else holds lives as long as its client.
        client._keep(self)  # noqa: SLF001 - the two belong together
        return client

    def start_export(
        self,
        *,
        rows: int = 1000,
        seconds: float | timedelta = 1.0,
        entries: int = 1,
        export_id: int | None = None,
        succeeds: bool = True,
        delay: float | timedelta = 0.0,
    ) -> int:
        """Starts a segment export, which then can be downloaded and waited for (section 4.3).

        Its entries start together, with nulls as section 2.5 has them, and end one after another. An export
        is kept in memory and does not outlive the sandbox.

        Args:
            rows: `exportedRows` of each entry at its end.
            seconds: Seconds, or a timedelta, until the last entry has ended.
            entries: How many entries there are, up to 1,000.
            export_id: Its identifier, in place of an export that has it already; None takes a free one.
            succeeds: Whether the entries end well; if not, their `exportStatus`, `responseCode` and
                `responseMessage` tell.
            delay: Seconds, or a timedelta, until there are entries at all.

        Returns:
            The identifier, for `download_segment` and `wait_for_segment`.

        Raises:
            ConfigError: A number that cannot be.
            ForkedHandleError: The service belongs to the parent of this process.
            SandboxError: The service was stopped.

        Example:
            >>> import dataaccess as da
            >>> with da.Sandbox() as sandbox:
            ...     export = sandbox.start_export(rows=500, seconds=0.2, entries=2)
            ...     answer = sandbox.client().wait_for_segment(export, timeout=10, poll=0.05)
            >>> [entry["exportedRows"] for entry in answer["entries"]]
            [500, 500]
        """
        return self._raw.start_export(
            None if export_id is None else whole("export_id", export_id, -(2**63)),
            whole("rows", rows),
            whole("entries", entries, 0, 1000),
            succeeds,
            (span("delay", delay), span("seconds", seconds)),
        )

    def fault(
        self,
        kind: FaultKind,
        *,
        path: str | None = None,
        times: int | None = None,
        after: int = 0,
        after_bytes: int | None = None,
        status: int | None = None,
        retry_after: float | timedelta | None = None,
        body: str | None = None,
        seconds: float | timedelta | None = None,
        chunk_bytes: int | None = None,
        code: int | None = None,
    ) -> Fault:
        """Makes answers fail for the time of a `with` block, on the real connection.

        Kinds, with their options:

        - `reset`, `cut`, `stall`: the connection is reset, closed properly, or silent until the block ends.
          With `after_bytes`, the head and so many bytes of the body are sent before, and an answer that is
          no longer passes whole; without, nothing of the answer is.
        - `status`: an answer with `status` and, if given, `retry_after` and `body`. Without a body it is an
          envelope; for 403 that is the permission failure of section 7.
        - `delay`: the answer begins after `seconds`.
        - `drip`: the body comes in pieces of `chunk_bytes`, with `seconds` between them.
        - `late_code`: `code` stands after the rows, with the value given.

        The first fault in force that meets a request has it; requests of other machines or names, which are
        refused, and bodies that are too large meet none.

        Args:
            kind: What goes wrong.
            path: "search", "download" or a path; None is all.
            times: How many requests it meets before it lets all pass; None is without end.
            after: How many requests pass before it begins.
            after_bytes: Bytes of the body that are sent.
            status: HTTP status, from 200 to 599.
            retry_after: Whole seconds for `Retry-After`.
            body: The body as text.
            seconds: Seconds, or a timedelta.
            chunk_bytes: Most bytes of a piece.
            code: `code` of the envelope.

        Returns:
            A context manager; its `hits` counts the requests it has met.

        Raises:
            ConfigError: An option that the kind does not take, needs, or cannot use.

        Example:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     client = sandbox.client()
            ...     with sandbox.fault("status", status=503, retry_after=0, times=2) as fault:
            ...         rows = client.search_codes(allocated_time=da.on("2024-02-29"))
            >>> fault.hits, len(sandbox.requests)
            (2, 3)
        """
        options = {
            "after_bytes": after_bytes,
            "status": status,
            "retry_after": retry_after,
            "body": body,
            "seconds": seconds,
            "chunk_bytes": chunk_bytes,
            "code": code,
        }
        return Fault(self._raw, kind, options, path=path, times=times, after=after)

    @property
    def requests(self) -> list[ReceivedRequest]:
        """The latest requests received, oldest first, 10,000 and 64 MiB of bodies at most.

        Also those that were refused, for their token or before it was looked at. A snapshot, which stays
        what it is; a stopped sandbox still tells.
        """
        return [received(*request) for request in self._raw.requests()]

    def clear_requests(self) -> None:
        """Forgets the requests received so far.

        Raises:
            ForkedHandleError: The service belongs to the parent of this process.

        Example:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     rows = sandbox.client().search_codes(allocated_time=da.on("2024-02-29"))
            ...     [request.status for request in sandbox.requests]
            ...     sandbox.clear_requests()
            ...     sandbox.requests
            [200]
            []
        """
        self._raw.clear_requests()

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


def _address(host: object) -> IPv4Address | IPv6Address:
    try:
        return ip_address("127.0.0.1" if host == "localhost" else str(host))
    except ValueError:
        raise ConfigError(f"host= must be an address as 127.0.0.1 or ::1, not {host!r}") from None


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
