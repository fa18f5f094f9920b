"""`Sandbox`: the whole service in this process, with synthetic data. It needs no account and no network.

It listens on the loopback address by default, and runs on threads of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, Unpack

from dataaccess._core.checks import duration
from dataaccess._core.embedded import count_as_sandbox, start_sandbox
from dataaccess._public import public
from dataaccess._sandbox.access import Access
from dataaccess._sandbox.control import Control, OwnControl
from dataaccess._sandbox.data import Data
from dataaccess._sandbox.exports import Exports
from dataaccess._sandbox.faults import Fault, FaultKind, Faults, ReceivedRequest
from dataaccess._sandbox.options import SandboxAccess, SandboxOptions, known, path_of, plain_switches, started_with

if TYPE_CHECKING:
    import os
    from datetime import date, timedelta
    from types import TracebackType

__all__ = ["Fault", "FaultKind", "ReceivedRequest", "Sandbox"]


@public
class Sandbox(Data, Access, Exports, Faults):
    """The whole service in this process, without data. `Sandbox.demo()` has data.

    Each sandbox has its own rows, tokens and port, all in memory. Where the API specification is silent, `switches`
    choose the behaviour. Methods raise `SandboxError` once it is stopped, and `ClientClosedError` in a forked child.

    Args:
        port: Port to listen on; 0 takes a free one.
        platform: Switches of a kind of platform: `all-utc` (the default), `local-times` (days and times of Vietnam),
            `other-zone-inclusive` (days of India, which `after_date` and `before_date` include), or the file that
            `dataaccess check --json` wrote of yours.
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

    def __init__(self, **options: Unpack[SandboxOptions]) -> None:
        """Starts the service."""
        self._start(**known(options, SandboxOptions))

    def _start(self, **settings: Any) -> None:
        self._control = OwnControl(start_sandbox(**started_with(**settings)))

    @classmethod
    def demo(
        cls,
        *,
        until: date | str | None = None,
        export_seconds: float | timedelta | None = None,
        **options: Unpack[SandboxOptions],
    ) -> Self:
        """Starts the service with demo data, in which a day has the same promotion codes always.

        There are promotion codes allocated in the 60 days up to yesterday, customers from
        `demo-customer-0001` on, and exports in every state. All ids begin with `demo-`. When the clock passes
        midnight, the day that ended is added. A code that will be used is sent until its `last_used_time`.

        Args:
            until: The last day of promotion codes, from 2024-01-01 on: a date or text; then no day is added. None is
                yesterday, by the clock of the sandbox.
            export_seconds: Seconds, or a timedelta, until the export that is running at the start ends; default:
                three.
            **options: Arguments of `Sandbox`; the times of the demo data follow the platform.

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
        sandbox._start(demo=(ends, None if until is None else str(until)), **known(options, SandboxOptions))
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
            A running service. It has faults and a request log, and refuses rows.

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
        sandbox._start(port=port, replay=path)
        return sandbox

    @classmethod
    def scenario(cls, path: str | os.PathLike[str], **access: Unpack[SandboxAccess]) -> Self:
        r"""Starts the service with what a file says: rows, switches, exports, faults and the clock.

        The keys of the file, in TOML or JSON, are `demo`, `now`, `platform`, `switches`, `seeds`, `exports` and
        `faults`; the page on the sandbox describes them. `reset` comes back to the scenario.

        Args:
            path: The file, whose suffix is .toml or .json.
            **access: `port`, `host`, `allow_remote`, `token`, `admin_token` and `host_names` of `Sandbox`.

        Raises:
            ConfigError: The file cannot be read, or has an unknown key or a value of another type. The message names
                the file and the path of the key.
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
        from dataaccess._sandbox.scenario import Scenario

        return Scenario.read(path_of("path", path)).started(cls, **known(access, SandboxAccess))

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
        of demo data are used by it, and days of demo data are added when a day ends. Clients have their
        own clock.

        Args:
            seconds: Seconds, or a timedelta.
            hours: Hours, which are added.
            days: Days, which are added.

        Raises:
            ConfigError: One is negative, or the clock would be beyond the year 9999.

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
            SandboxError: A switch is unknown or has an invalid value.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox() as sandbox:
            ...     export = sandbox.start_export(seconds=0)
            ...     sandbox.switch(finished_status=7)
            ...     status = sandbox.client().download_segment(export)["entries"][0]["exportStatus"]
            >>> status
            7
        """
        self._control.call("PATCH", "/switches", plain_switches(changes))

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
