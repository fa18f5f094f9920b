"""`Sandbox`: the whole service of the document, on this machine, with made-up data.

It listens on the loopback address unless told otherwise, from a thread of its own, and needs no account and no
network.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Self

from dataaccess._core.arguments import span, text, texts, truth, whole
from dataaccess._core.process import ProcessLock
from dataaccess._core.warn import warn_caller
from dataaccess._native import RawSandbox
from dataaccess._sandbox.access import Access
from dataaccess._sandbox.data import Data
from dataaccess._sandbox.exports import Exports
from dataaccess._sandbox.faults import Faults
from dataaccess.errors import ConfigError, SandboxWarning

if TYPE_CHECKING:
    from collections.abc import Iterable
    from ipaddress import IPv4Address, IPv6Address
    from types import TracebackType

# The one server of each process behind `sandbox:demo`, and one token for all its clients: a sandbox issues only
# so many. A forked child starts its own server, and leaves its parent's alone.
_shared: dict[int, tuple[Sandbox, str]] = {}
_lock = ProcessLock()
_addresses: set[str] = set()


class Sandbox(Data, Access, Exports, Faults):
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
        token: A token of your own with every scope, those that switches name among them; it has 16 visible
            ASCII characters or more.
        host_names: Names by which it may be addressed, beside localhost and its own address; a request for
            any other name is refused.

    Raises:
        ConfigError: An argument is not what it should be, or `host` can be reached by others without being
            allowed.
        SandboxError: The port is taken, the file is no store of a sandbox, there is no such switch, or a
            switch does not take its value.

    Example:
        >>> import dataaccess as da
        >>> with da.Sandbox(switches={"day_zone": "Asia/Ho_Chi_Minh", "empty_shape": "null"}) as sandbox:
        ...     rows = sandbox.client().search_codes(allocated_time=da.after("2024-01-01"))
        >>> rows
        []
    """

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
        access = (_address(host), truth("allow_remote", allow_remote), _token(token), texts("host_names", host_names))
        self._start(demo=False, port=port, export_seconds=None, db=_path(db), switches=switches, access=access)

    def _start(self, *, port: int, switches: Mapping[str, Any] | None, **settings: Any) -> None:
        self._raw = RawSandbox(port=whole("port", port, 0, 65535), switches=_switches(switches), **settings)
        _addresses.add(self._raw.base_url)

    @classmethod
    def demo(
        cls,
        *,
        port: int = 0,
        export_seconds: float | timedelta | None = None,
        switches: Mapping[str, Any] | None = None,
        token: str | None = None,
        host_names: Iterable[str] = (),
    ) -> Self:
        """Starts the service with demo data, the same each time.

        There are promotion codes allocated from 2024-01-01 to 2024-02-29 (UTC), customers from
        `demo-customer-0001` on, and exports in every stage. All ids begin with `demo-`.

        Args:
            port: Port to listen on; 0 takes a free one.
            export_seconds: After how many seconds (or a timedelta) the export that is under way at the
                start ends; None is three.
            switches: As for `Sandbox`.
            token: As for `Sandbox`.
            host_names: As for `Sandbox`.

        Returns:
            A running service.

        Raises:
            ConfigError: An argument is not what it should be.
            SandboxError: The port is taken, there is no such switch, or it does not take its value.

        Example:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     rows = sandbox.client().search_codes(allocated_time=da.on("2024-02-29"), limit=1)
            >>> rows[0]["id"].startswith("demo-")
            True
        """
        sandbox = object.__new__(cls)
        ends = None if export_seconds is None else span("export_seconds", export_seconds)
        access = (_address("localhost"), False, _token(token), texts("host_names", host_names))
        sandbox._start(demo=True, port=port, export_seconds=ends, db=None, switches=switches, access=access)
        return sandbox

    @property
    def base_url(self) -> str:
        """The address of the service, for any client."""
        return self._raw.base_url

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


def _switches(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Switches as the core takes them."""
    if not isinstance(given, Mapping | None):
        raise ConfigError(f"switches= must be a dict of names and values, not of type {type(given).__name__}")
    return {text("switches", name): _setting(name, value) for name, value in (given or {}).items()}


def _setting(name: str, value: object) -> object:
    if isinstance(value, timedelta):
        return value.total_seconds()
    return text(f"switches[{name!r}]", value) if isinstance(value, str) else value


def _token(given: str | None) -> str | None:
    return None if given is None else text("token", given)


def _path(given: object) -> str | None:
    path = os.fspath(given) if isinstance(given, os.PathLike) else given
    if path is None or isinstance(path, str):
        return path
    raise ConfigError(f"db= must be the path of a file, not of type {type(given).__name__}")


def _address(host: object) -> IPv4Address | IPv6Address:
    try:
        return ip_address("127.0.0.1" if host == "localhost" else str(host))
    except ValueError:
        raise ConfigError(f"host= must be an address as 127.0.0.1 or ::1, not {host!r}") from None


def shared_sandbox(address: str) -> tuple[Sandbox, str]:
    """The one server of this process behind `sandbox:demo`, and its token; the first use warns of made-up data."""
    if address != "sandbox:demo":
        raise ConfigError(f"there is no {address!r}; the embedded service is sandbox:demo")
    with _lock:
        shared = _shared.get(os.getpid())
        if shared is None:
            if not _shared:
                warn_caller("sandbox:demo is the embedded service: its data is made up", SandboxWarning)
            sandbox = Sandbox.demo()
            shared = _shared[os.getpid()] = (sandbox, sandbox.issue_token())
        return shared


def is_sandbox_address(base_url: str) -> bool:
    """Whether an address is that of a service started by this package, here or in a parent process."""
    return base_url in _addresses
