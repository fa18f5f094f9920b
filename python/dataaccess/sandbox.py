"""`Sandbox`: the whole service in this process, with synthetic data. It needs no account and no network.

It listens on the loopback address by default, and runs on threads of its own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dataaccess._core.checks import boolean, duration, integer, string
from dataaccess._core.embedded import LOOPBACK, count_as_sandbox, start_sandbox
from dataaccess._core.paths import local_path
from dataaccess._public import public
from dataaccess._sandbox.access import Access, strings
from dataaccess._sandbox.control import Control, OwnControl
from dataaccess._sandbox.exports import Exports
from dataaccess._sandbox.faults import Fault, FaultKind, Faults, ReceivedRequest
from dataaccess._sandbox.platforms import switches_of
from dataaccess._sandbox.scenario import read_scenario
from dataaccess._sandbox.seed import Seeds
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from ipaddress import IPv4Address, IPv6Address
    from types import TracebackType

__all__ = ["Fault", "FaultKind", "ReceivedRequest", "Sandbox"]

# The first year of Unix time.
_EARLIEST = 1971


@public
class Sandbox(Seeds, Access, Exports, Faults):
    """The whole service in this process, without data. `Sandbox.demo()` has data.

    Each sandbox has its own rows, tokens and port, all in memory. Where the API specification is silent, `switches`
    choose the behaviour.

    Args:
        port: Port to listen on; 0 takes a free one.
        platform: Switches of a kind of platform: `all-utc` (the default), `local-times` (days and times of Vietnam),
            `other-zone-inclusive` (days of India, which `after_date` and `before_date` include), or the file that
            `dataaccess probe` wrote of yours. A `SandboxWarning` names what no switch can imitate.
        switches: Behaviour where the API specification is silent, by the names in `docs/open-points.md`. They win over
            the platform.
        host: Address to listen on. One that other machines can reach needs `allow_remote`.
        allow_remote: Allows a `host` that other machines can reach. Needs `token` and `admin_token`, of at least 32
            characters each.
        token: A token of your own with every scope, also of switches. It has at least 16 visible ASCII
            characters.
        admin_token: The token of the control routes, of at least 32 visible ASCII characters. None is a random one.
        host_names: Host names that requests may use besides localhost and the sandbox's own address; requests with
            any other are refused.
        now: The time at which its clock starts: a datetime, or text in ISO format; without a zone it is UTC. None is
            the time of this machine. The clock goes on, and `advance` moves it.

    Raises:
        ConfigError: An argument is invalid, the file of a platform cannot be read, or other machines can reach `host`
            without `allow_remote`.
        SandboxError: The port is in use, or a switch is unknown or has an invalid value.

    Examples:
        >>> import dataaccess as da
        >>> with da.Sandbox(switches={"day_zone": "Asia/Ho_Chi_Minh", "empty_shape": "null"}) as sandbox:
        ...     rows = sandbox.client().search_codes(allocated_time=da.after("2024-01-01"))
        >>> rows
        []
    """

    _control: Control

    def __init__(
        self,
        *,
        port: int = 0,
        platform: str | os.PathLike[str] | None = None,
        switches: Mapping[str, Any] | None = None,
        host: str = "127.0.0.1",
        allow_remote: bool = False,
        token: str | None = None,
        admin_token: str | None = None,
        host_names: Iterable[str] = (),
        now: datetime | str | None = None,
    ) -> None:
        """Starts the service."""
        access = _access(host, token, admin_token, host_names, allow_remote=allow_remote)
        chosen = _switches(platform, switches)
        self._start(port=port, switches=chosen, access=access, now=_now(now))

    def _start(self, *, port: int, **settings: Any) -> None:
        self._control = OwnControl(start_sandbox(port=integer("port", port, 0, 65535), **settings))

    @classmethod
    def demo(
        cls,
        *,
        until: date | str | None = None,
        port: int = 0,
        export_seconds: float | timedelta | None = None,
        platform: str | os.PathLike[str] | None = None,
        switches: Mapping[str, Any] | None = None,
        host: str = LOOPBACK,
        allow_remote: bool = False,
        token: str | None = None,
        admin_token: str | None = None,
        host_names: Iterable[str] = (),
        now: datetime | str | None = None,
    ) -> Self:
        """Starts the service with demo data, in which a day has the same promotion codes always.

        There are promotion codes allocated in the 60 days up to yesterday, customers from
        `demo-customer-0001` on, and exports in every state. All ids begin with `demo-`. When the clock passes
        midnight, the day that ended is added. A code that will be used is sent until its `last_used_time`.

        Args:
            until: The last day of promotion codes, from 2024-01-01 on: a date or text; then no day is added. None is
                yesterday, by the clock of the sandbox.
            port: Port to listen on; 0 takes a free one.
            export_seconds: Seconds, or a timedelta, until the export that is running at the start ends; default:
                three.
            platform: As in `Sandbox`; the times of the demo data follow it.
            switches: As in `Sandbox`.
            host: As in `Sandbox`.
            allow_remote: As in `Sandbox`.
            token: As in `Sandbox`.
            admin_token: As in `Sandbox`.
            host_names: As in `Sandbox`.
            now: As in `Sandbox`.

        Returns:
            A running service.

        Raises:
            ConfigError: An argument is invalid, the file of a platform cannot be read, or other machines can reach
                `host` without `allow_remote`.
            SandboxError: The port is in use, or a switch is unknown or has an invalid value.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     rows = sandbox.client().search_codes(allocated_time=da.yesterday())
            >>> rows[0]["id"].startswith("demo-")
            True
            >>> with da.Sandbox.demo(until="2024-02-29") as sandbox:
            ...     rows = sandbox.client().search_codes(allocated_time=da.on("2024-02-29"))
            >>> len(rows)
            70
        """
        sandbox = object.__new__(cls)
        ends = None if export_seconds is None else duration("export_seconds", export_seconds)
        access = _access(host, token, admin_token, host_names, allow_remote=allow_remote)
        demo = (ends, _until(until))
        chosen = _switches(platform, switches)
        sandbox._start(demo=demo, port=port, now=_now(now), switches=chosen, access=access)
        return sandbox

    @classmethod
    def replay(cls, path: str | os.PathLike[str], *, port: int = 0) -> Self:
        """Starts a service that repeats the responses of a recording, which `Client(record=path)` made.

        A request gets the response that was recorded for the same path and body: first the first one, and the last
        one again once all were sent. A response that was cut off in the recording is cut off again. Any token is
        accepted. A request that was not recorded is refused with 404.

        Args:
            path: The recording.
            port: Port to listen on; 0 takes a free one.

        Returns:
            A running service. It has faults and a request log; what is loaded into it has no effect.

        Raises:
            SandboxError: The file is not a recording or cannot be read, or the port is in use.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo(until="2024-02-29") as sandbox:
            ...     recorded = sandbox.client(record="exchanges.jsonl").search_codes(allocated_time=da.on("2024-01-15"))
            >>> with da.Sandbox.replay("exchanges.jsonl") as sandbox:
            ...     sandbox.client().search_codes(allocated_time=da.on("2024-01-15")) == recorded
            True
        """
        sandbox = object.__new__(cls)
        access: tuple[Any, ...] = (_address(LOOPBACK), False, None, None, [])
        sandbox._start(port=port, access=access, replay=_path("replay", path))
        return sandbox

    @classmethod
    def scenario(
        cls,
        path: str | os.PathLike[str],
        *,
        port: int = 0,
        host: str = LOOPBACK,
        allow_remote: bool = False,
        token: str | None = None,
        admin_token: str | None = None,
        host_names: Iterable[str] = (),
    ) -> Self:
        r"""Starts the service with what a file says: rows, switches, exports, faults and the clock.

        The members of the file, in TOML or JSON, are `demo`, `now`, `platform`, `switches`, `seeds`, `exports` and
        `faults`; the page on the sandbox describes them. `reset` comes back to the scenario.

        Args:
            path: The file, whose suffix is .toml or .json. Paths in it are relative to its folder.
            port: Port to listen on; 0 takes a free one.
            host: As in `Sandbox`.
            allow_remote: As in `Sandbox`.
            token: As in `Sandbox`.
            admin_token: As in `Sandbox`.
            host_names: As in `Sandbox`.

        Returns:
            A running service.

        Raises:
            ConfigError: An argument is invalid; or the file cannot be read, or has an unknown member or a value of
                another type. The message names the file and the place.
            SandboxError: The port is in use, or a row or switch of the file does not fit.

        Examples:
            >>> import dataaccess as da
            >>> from pathlib import Path
            >>> text = 'seeds = [{object = "customer", rows = [{customer_id = "17"}]}]\nswitches = {maximum_rows = 5}'
            >>> size = Path("night.toml").write_text(text)
            >>> with da.Sandbox.scenario("night.toml") as sandbox:
            ...     found = da.col("customer_id").equals("17")
            ...     customers = sandbox.client().search_items("customer", ["customer_id"], found)
            >>> customers
            [{'customer_id': '17'}]
        """
        found = read_scenario(Path(local_path(path)))
        access: dict[str, Any] = {"port": port, "host": host, "allow_remote": allow_remote, "host_names": host_names}
        access |= {"token": token, "admin_token": admin_token}
        with found.errors_of_start():
            sandbox = cls.demo(**found.start, **access) if found.is_demo else cls(**found.start, **access)
        try:
            with sandbox._starting():
                found.fill(sandbox)
        except BaseException:
            sandbox.stop()
            raise
        return sandbox

    @contextmanager
    def _starting(self) -> Iterator[None]:
        """What is changed in the block belongs to the start, so that a reset comes back to it."""
        self._control.is_starting = True
        try:
            yield
        finally:
            self._control.is_starting = False

    @classmethod
    def connect(cls, url: str, admin_token: str) -> Self:
        """Controls a sandbox of another process or machine over HTTP.

        It has all methods of a sandbox of this process. `stop` and the end of a `with` block leave the service running.
        Clients of its address count as clients of a sandbox.

        Args:
            url: Address of the sandbox.
            admin_token: Its admin token, which `dataaccess sandbox` prints at the start.

        Returns:
            The sandbox.

        Raises:
            ConfigError: An argument is invalid, or the token is not the admin token of the sandbox.
            SandboxError: There is no sandbox at the address.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo(until="2024-02-29") as started:  # in another process, as by `dataaccess sandbox`
            ...     with da.Sandbox.connect(started.base_url, started.admin_token) as sandbox:
            ...         with sandbox.fault("status", status=503, retry_after=0, times=1) as fault:
            ...             rows = sandbox.client().search_codes(allocated_time=da.on("2024-02-29"))
            >>> fault.hits
            1
        """
        sandbox = object.__new__(cls)
        control = Control(url, admin_token)
        control.call("GET", "/state")
        count_as_sandbox(control.base_url, control)
        sandbox._control = control
        return sandbox

    def reset(self) -> None:
        """Puts data, exports, faults, switches, clock and request log back to the start. Tokens stay valid.

        Raises:
            SandboxError: The sandbox is stopped.
            ClientClosedError: The sandbox belongs to the parent process.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo(until="2024-02-29") as sandbox:
            ...     client = sandbox.client()
            ...     count = sandbox.clear("promotion_code")
            ...     sandbox.reset()
            ...     rows = client.search_codes(allocated_time=da.on("2024-02-29"))
            >>> len(rows) > 0
            True
        """
        self._control.call("POST", "/reset")

    @property
    def base_url(self) -> str:
        """Address of the service, for any client."""
        return self._control.base_url

    @property
    def admin_token(self) -> str:
        """The token of the control routes. It begins with `sbx_admin_` unless it was given."""
        return self._control.admin_token

    def advance(self, seconds: float | timedelta = 0, *, hours: float = 0, days: float = 0) -> None:
        """Moves the clock of the service forward, so that a test needs not wait.

        Entries of exports start and end by this clock, issued tokens expire by it, responses have its `Date`, codes
        of demo data are used by it, and days of demo data are added when it passes midnight (UTC). Clients have their
        own clock.

        Args:
            seconds: Seconds, or a timedelta.
            hours: Hours, which are added.
            days: Days, which are added.

        Raises:
            ConfigError: One is negative, or the clock would be beyond the year 9999.
            ClientClosedError: The sandbox belongs to the parent process.
            SandboxError: The sandbox is stopped.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox() as sandbox:
            ...     export = sandbox.start_export(rows=500, seconds=3600)
            ...     before = sandbox.client().download_segment(export)
            ...     sandbox.advance(hours=1)
            ...     after = sandbox.client().download_segment(export)
            >>> [status["entries"][0]["exportedRows"] for status in (before, after)]
            [None, 500]
        """
        hours = duration("hours", hours, "hours") + 24 * duration("days", days, "days")
        self._control.call("POST", "/clock", {"advance": duration("seconds", seconds) + 3600 * hours})

    def switch(self, **changes: Any) -> None:
        """Changes switches while the service runs, all or none; each request has the switches of its beginning.

        Args:
            **changes: Values by the names of the switches, as in `switches=`. Rows stay as they are.

        Raises:
            SandboxError: A switch is unknown or has an invalid value, or the sandbox is stopped.
            ClientClosedError: The sandbox belongs to the parent process.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox() as sandbox:
            ...     export = sandbox.start_export(seconds=0)
            ...     sandbox.switch(finished_status=7)
            ...     status = sandbox.client().download_segment(export)["entries"][0]["exportStatus"]
            >>> status
            7
        """
        self._control.call("PATCH", "/switches", {name: _switch(name, value) for name, value in changes.items()})

    def stop(self) -> None:
        """Stops the service within two seconds. Stopping twice has no effect; a forked child cannot stop it.

        A sandbox of `connect` goes on: who started it stops it.

        Examples:
            >>> import dataaccess as da
            >>> sandbox = da.Sandbox.demo()
            >>> sandbox.stop()
        """
        self._control.stop()

    def __enter__(self) -> Self:
        """The sandbox itself."""
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
        return f"Sandbox({self.base_url!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Raises: a running service cannot be pickled."""
        raise TypeError("a Sandbox does not pickle: pass its base_url and a token")


def _switches(platform: str | os.PathLike[str] | None, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Switches as the core takes them: the switches of the platform, and the given ones in their place."""
    if not isinstance(given, Mapping | None):
        raise ConfigError(f"switches must be a dict of names and values, not of type {type(given).__name__}")
    chosen = {**switches_of(platform), **(given or {})}
    return {string("switches", name): _switch(name, value) for name, value in chosen.items()}


def _switch(name: str, value: object) -> object:
    if isinstance(value, timedelta):
        return value.total_seconds()
    return string(f"switches[{name!r}]", value) if isinstance(value, str) else value


def _now(given: object) -> float | None:
    """Unix seconds of the time at which the clock starts."""
    try:
        time = datetime.fromisoformat(given) if isinstance(given, str) else given
    except ValueError:
        time = None
    if given is None:
        return None
    if not isinstance(time, datetime) or time.year < _EARLIEST:
        raise ConfigError(f"now must be a datetime from {_EARLIEST} on, or one in ISO format, not {given!r}")
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def _until(given: object) -> str | None:
    """The day as text, which the core checks."""
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, date) and not isinstance(given, datetime):
        return given.isoformat()
    raise ConfigError(f"until must be a date or text such as 2024-02-29, not {given!r}")


def _access(
    host: object, token: str | None, admin_token: str | None, host_names: Iterable[str], *, allow_remote: bool
) -> tuple[Any, ...]:
    """Where it listens and who may connect, as the core takes it."""
    return (
        _address(host),
        boolean("allow_remote", allow_remote),
        _token("token", token),
        _token("admin_token", admin_token),
        strings("host_names", host_names),
    )


def _token(name: str, given: str | None) -> str | None:
    return None if given is None else string(name, given)


def _path(name: str, given: object) -> str | None:
    path = os.fspath(given) if isinstance(given, os.PathLike) else given
    if path is None:
        return None
    if isinstance(path, str) and path:
        return local_path(path)
    what = "empty" if path == "" else f"of type {type(given).__name__}"
    raise ConfigError(f"{name} must be the path of a file, not {what}")


def _address(host: object) -> IPv4Address | IPv6Address:
    try:
        return ip_address(LOOPBACK if host == "localhost" else str(host))
    except ValueError:
        raise ConfigError(f"host must be an address such as 127.0.0.1 or ::1, not {host!r}") from None
