"""`Sandbox`: the whole service in this process, with synthetic data. It needs no account and no network."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from dataaccess._client.asynchronous import AsyncClient
from dataaccess._client.client import Client
from dataaccess._core.checks import duration, string
from dataaccess._core.embedded import count_as_sandbox, start_sandbox
from dataaccess._public import public
from dataaccess._sandbox.control import Control, OwnControl
from dataaccess._sandbox.data import Data
from dataaccess._sandbox.faults import Fault, FaultKind, FaultOptions, FaultPreset, ReceivedRequest, received
from dataaccess._sandbox.options import SandboxAccess, SandboxOptions, known, path_of, started_with, strings
from dataaccess._sandbox.scenario import read_document, started

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date, timedelta

    from dataaccess._types import ClientOptions

__all__ = ["Fault", "FaultKind", "ReceivedRequest", "Sandbox"]

_PREFIX = "DATAACCESS_"
_C = TypeVar("_C", Client, AsyncClient)


@public
class Sandbox(Data):
    """The whole service in this process, without data. `Sandbox.demo()` has data.

    Each sandbox has its own rows, tokens and port, all in memory. Where the API specification is silent, `switches`
    choose the behaviour. Methods raise `SandboxError` once it is stopped, and `ClientClosedError` in a forked child.

    Args:
        port: Port to listen on; 0 takes a free one.
        platform: Switches of a kind of platform: `all-utc` (the default), `local-times` (days and times of Vietnam),
            `other-zone-inclusive` (days of India, which `after_date` and `before_date` include), or a TOML or
            JSON file with a table `switches`.
        switches: Behaviour where the API specification is silent, by the names in `docs/service.md`. They win over
            the platform.
        host: Address to listen on. One that other machines can reach needs `allow_remote`.
        allow_remote: Allows a `host` that other machines can reach. Needs `token` and `admin_token`, of at least 32
            characters each.
        token: A token of your own with every scope, also of switches, of at least 16 visible ASCII characters.
        admin_token: The token of the control routes, of at least 32 visible ASCII characters. None is a random one.
        host_names: Host names that requests may use, besides localhost and the sandbox's own address.
        now: The time at which its clock starts: a datetime, or text in ISO format; without a zone it is UTC. None is
            the time of this machine. The clock goes on, and `advance` moves it.

    Raises:
        ConfigError: An argument is invalid, the file of a platform cannot be read, or other machines can reach `host`
            without `allow_remote`.
        SandboxError: The port is in use, or a switch is unknown or has an invalid value.

    Examples:
        >>> import dataaccess as da
        >>> with da.Sandbox(switches={"day_zone": "Asia/Ho_Chi_Minh", "empty_shape": "null"}) as sandbox:
        ...     sandbox.client().search_codes(allocated_time=da.after("2024-01-01"))
        []
    """

    _control: Control

    def __init__(self, **options: Unpack[SandboxOptions]) -> None:
        """Starts the service."""
        self._start(options)

    def _start(self, options: Mapping[str, Any], **data: Any) -> None:
        self._control = OwnControl(start_sandbox(**started_with(options), **data))

    @classmethod
    def demo(
        cls,
        *,
        until: date | str | None = None,
        export_seconds: float | timedelta | None = None,
        **options: Unpack[SandboxOptions],
    ) -> Self:
        """Starts the service with demo data, in which a day has the same promotion codes always.

        There are promotion codes allocated in the 60 days up to yesterday, customers from `demo-customer-0001` on, and
        exports in every state. All ids begin with `demo-`. When the clock passes midnight, the day that ended is added.
        A code that will be used is sent until its `last_used_time`.

        Args:
            until: The last day of promotion codes, from 2024-01-01 on: a date or text; then no day is added. None is
                yesterday, by the clock of the sandbox.
            export_seconds: Seconds, or a timedelta, until the export that runs at the start ends; three without it.
            **options: Arguments of `Sandbox`; the times of the demo data follow the platform.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo(until="2024-02-29") as sandbox:
            ...     len(sandbox.client().search_codes(allocated_time=da.on("2024-02-29")))
            70
        """
        sandbox = object.__new__(cls)
        ends = None if export_seconds is None else duration("export_seconds", export_seconds)
        sandbox._start(options, demo=(ends, None if until is None else str(until)))
        return sandbox

    @classmethod
    def replay(cls, path: str | os.PathLike[str], *, port: int = 0) -> Self:
        """Starts a service that repeats the responses of a recording, which `Client(record=path)` made.

        A request gets the response that was recorded for the same path and body: first the first one, and the last
        one again once all were sent. A response that was cut off in the recording is cut off again. Any token is
        accepted. What was not recorded is refused with 404. There are faults and a request log; rows are refused.

        Args:
            path: The recording.
            port: Port to listen on; 0 takes a free one.

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
        sandbox._start({"port": port}, replay=path_of("replay", path))
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
            ...     sandbox.client().search_items("customer", ["customer_id"], found)
            [{'customer_id': '17'}]
        """
        place = path_of("path", path)
        return started(cls, place, read_document(place), **known(access, SandboxAccess))

    @classmethod
    def connect(cls, url: str, admin_token: str) -> Self:
        """Controls a sandbox of another process or machine over HTTP.

        It has all methods of a sandbox of this process. `stop` and the end of a `with` block leave the service running.
        Clients of its address count as clients of a sandbox.

        Args:
            url: Address of the sandbox.
            admin_token: Its admin token, which `dataaccess sandbox` prints at the start.

        Raises:
            ConfigError: An argument is invalid, or the token is not the admin token of the sandbox.
            SandboxError: There is no sandbox at the address.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox() as started:  # in another process, as by `dataaccess sandbox`
            ...     with da.Sandbox.connect(started.base_url, started.admin_token) as sandbox:
            ...         sandbox.load("customer", [{"customer_id": "17"}])
            1
        """
        sandbox = object.__new__(cls)
        control = Control(url, admin_token)
        control.call("GET", "/state")
        count_as_sandbox(control.base_url, control)
        sandbox._control = control
        return sandbox

    def start_export(
        self,
        *,
        rows: int | None = None,
        seconds: float | timedelta | None = None,
        entries: int | Iterable[Mapping[str, Any]] = 1,
        export_id: int | None = None,
        succeeds: bool | None = None,
        delay: float | timedelta | None = None,
    ) -> int:
        """Starts a segment export and returns its id, for `download_segment` and `wait_for_segment`.

        Its entries start together, with null fields, and end one after another, or as `entries` plans each of them.

        Args:
            rows: `exportedRows` of each entry once it has ended; 1,000 without it.
            seconds: Seconds, or a timedelta, until the last entry ends; one without it.
            entries: Number of entries, at most 1,000. Or a list of dicts, one for each entry, with any of `rows`,
                `seconds`, `delay`, `succeeds`, `code` and `message`: the last two are `responseCode` and
                `responseMessage` at its end.
            export_id: Its id; replaces an export with the same id. None takes a free one.
            succeeds: Whether the entries succeed, as they do without it; otherwise `exportStatus`, `responseCode` and
                `responseMessage` report a failure.
            delay: Seconds, or a timedelta, until there are entries.

        Raises:
            ConfigError: A number is out of range, or `rows`, `seconds`, `delay` or `succeeds` is given beside a list.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox() as sandbox:
            ...     refused = {"succeeds": False, "code": 403, "message": "No permission for the bucket", "seconds": 60}
            ...     export = sandbox.start_export(entries=[{"rows": 500, "seconds": 30}, refused])
            ...     sandbox.advance(60)
            ...     [entry["responseCode"] for entry in sandbox.client().download_segment(export)["entries"]]
            [200, 403]
        """
        export = {
            "export_id": export_id,
            "rows": rows,
            "seconds": seconds and duration("seconds", seconds),
            "entries": list(entries) if isinstance(entries, Iterable) else entries,
            "succeeds": succeeds,
            "delay": delay and duration("delay", delay),
        }
        return int(self._control.call("POST", "/exports", export)["export_id"])

    def fault(self, kind: FaultKind | FaultPreset, **options: Unpack[FaultOptions]) -> Fault:
        """Makes responses fail in a `with` block, on the real connection.

        Kinds, with their options:

        - `reset`, `cut`, `stall`: the connection is reset, closed properly, or silent until the block ends. The
          headers and `after_bytes` of the body are sent before; without it nothing is sent. A shorter response
          passes unchanged.
        - `garbage`: random bytes that are no HTTP, then the connection is closed.
        - `status`: a response with `status`, and if given `retry_after`, `body`, `content_type` and `headers`.
        - `redirect`: a response with `location`, `status` (302 by default) and `headers`.
        - `code`: HTTP 200 with a failure in the envelope: `code` and `message`.
        - `expired_token`: the token of the first affected request is refused from then on.
        - `delay`: the response starts after `seconds`, or between `seconds` and `max_seconds`.
        - `drip`: the body is sent in pieces of `chunk_bytes`, with `seconds` between them.
        - `late_code`: HTTP 200 with all rows, and the failure `code` as the last member of the body.
        - `shrink`: a search returns only the share `keep` of its rows, a quarter by default.

        Presets are lists of faults: `flaky` (a 502 with HTML, a reset or a cut now and then), `slow` (0.5 to 3
        seconds), `throttled` (429 for two of five requests), `expired-token`, `shrinking` (searches).

        These options choose the requests, of kinds and presets alike:

        - `path`: "search", "download" or a path.
        - `where`: what the body contains: `day`, a day that a datetime condition includes, and `contains`, a part of
          the body as it was sent.
        - `after`: number of matching requests that pass before; `times`: number of requests that get the fault.
        - `probability`: share of the matching requests that get the fault; `seed` decides which.

        The first active fault that matches gets the request. `hits` of a fault counts the responses it has changed.

        Args:
            kind: What goes wrong, or a preset.
            options: Its options, and those that choose requests.

        Raises:
            ConfigError: An option is missing, invalid, or not one of the kind.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo(until="2024-02-29") as sandbox:
            ...     client = sandbox.client()
            ...     with sandbox.fault("status", status=503, retry_after=0, times=2) as fault:
            ...         rows = client.search_codes(allocated_time=da.on("2024-02-29"))
            >>> fault.hits, len(sandbox.requests)
            (2, 3)
        """
        return Fault(self._control, kind, options)

    @property
    def requests(self) -> list[ReceivedRequest]:
        """The latest requests, oldest first, refused ones too.

        There are at most 10,000, with 64 MiB of paths, headers and bodies. The list is a snapshot. A stopped sandbox
        keeps its log.
        """
        return [received(request) for request in self._control.call("GET", "/requests")["requests"]]

    def clear_requests(self) -> None:
        """Clears the request log.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox() as sandbox:
            ...     sandbox.clear_requests()
            ...     sandbox.requests
            []
        """
        self._control.call("DELETE", "/requests")

    def reset(self) -> None:
        """Puts data, exports, faults, switches, clock and request log back to the start. Tokens stay valid.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox() as sandbox:
            ...     count = sandbox.load("customer", [{"customer_id": "17"}])
            ...     sandbox.reset()
            ...     sandbox.clear("customer")
            0
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

    @property
    def scopes(self) -> list[str]:
        """All scopes: of the API specification, and of switches that name one."""
        return list(self._control.call("GET", "/state")["scopes"])

    def issue_token(self, scopes: Iterable[str] | None = None, *, expires_in: float | timedelta | None = None) -> str:
        """Issues a token.

        Args:
            scopes: `item` for searches, `download` for downloads, and those that the switches `generic_scope` and
                `download_scope` name; None is all of them.
            expires_in: Seconds, or a timedelta, until the token expires; None never.

        Raises:
            ConfigError: There is no such scope, or `expires_in` is not a duration.
            TypeError: `scopes` is one string instead of several.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     client = da.Client(sandbox.base_url, token=sandbox.issue_token(["download"]))
            ...     client.download_segment(5637051)["message"]
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
        self, *, scopes: Iterable[str] | None = None, profile: str | None = None, **options: Unpack[ClientOptions]
    ) -> Client:
        """Makes a client of this sandbox with a token of its own.

        Args:
            scopes: Scopes of the token; None is all of them.
            profile: Name of a profile; None: neither a profile nor the environment counts.
            **options: Other arguments of `Client`, but `base_url` and `token`.

        Examples:
            >>> import dataaccess as da
            >>> with da.Sandbox.demo() as sandbox:
            ...     client = sandbox.client(scopes=["item"], timeout=10)
        """
        return self._made(Client, scopes, profile, options)

    def async_client(
        self, *, scopes: Iterable[str] | None = None, profile: str | None = None, **options: Unpack[ClientOptions]
    ) -> AsyncClient:
        """Makes an asynchronous client of this sandbox with a token of its own.

        Args:
            scopes: As in `client`.
            profile: As in `client`.
            **options: As in `client`.

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

        Examples:
            >>> import dataaccess as da
            >>> import subprocess, sys
            >>> job = "import dataaccess as da; print(da.Client().check().is_ok)"
            >>> with da.Sandbox.demo() as sandbox, sandbox.environment():
            ...     print(subprocess.run([sys.executable, "-c", job], capture_output=True, text=True).stdout.strip())
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

    def advance(self, seconds: float | timedelta = 0, *, hours: float = 0, days: float = 0) -> None:
        """Moves the clock of the service forward, so that a test needs not wait.

        By this clock exports run, issued tokens expire, responses have a `Date`, codes of demo data are used, and days
        of demo data are added. Clients have their own clock.

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
            ...     sandbox.advance(hours=1)
            ...     sandbox.client().download_segment(export)["entries"][0]["exportedRows"]
            500
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
            ...     sandbox.client().download_segment(export)["entries"][0]["exportStatus"]
            7
        """
        self._control.call("PATCH", "/switches", changes)

    def stop(self) -> None:
        """Stops the service within two seconds; a long log takes longer. Stopping twice, or in a fork, has no effect.

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

    def __exit__(self, *_error: object) -> None:
        """Stops the service."""
        self.stop()

    def __repr__(self) -> str:
        return f"Sandbox({self.base_url!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Raises: a running service cannot be pickled."""
        raise TypeError("a Sandbox does not pickle: pass its base_url and a token")


def _replaced(variables: dict[str, str]) -> dict[str, str]:
    """Replaces all variables of this package, and returns those before."""
    before = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(_PREFIX)}
    os.environ.update(variables)
    return before
