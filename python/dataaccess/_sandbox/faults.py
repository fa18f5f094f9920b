"""Faults and the request log of a `Sandbox`, for tests."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict, get_args

from dataaccess._core.embedded import ProcessLock
from dataaccess._core.warn import warn_caller
from dataaccess._native import check_fault
from dataaccess._sandbox.control import plain
from dataaccess.errors import ClientClosedError, ConfigError, DataAccessWarning, SandboxError

if TYPE_CHECKING:
    from dataaccess._sandbox.control import Control


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request as a `Sandbox` received it.

    Attributes:
        time: When its headers were received, in UTC.
        method: The method, such as `POST`.
        path: The path, with the query.
        headers: By lower-case name. Only the last four characters of a token are kept: `Bearer …a1b2`.
        content: The body as bytes; None if it was not read to its end.
        status: HTTP status of the response; None before it is sent, and after a reset.
        number: Its number since the start of the sandbox, counted from 1.
        seconds: Time from its headers to the end of the response; None until then.
        bytes_sent: Bytes of the response body that were sent.
        fault: Id of the fault that it got, or None.
        message: Why the request was refused, or None.
    """

    time: datetime
    method: str
    path: str
    headers: Mapping[str, str]
    content: bytes | None
    status: int | None
    number: int
    seconds: float | None
    bytes_sent: int
    fault: int | None
    message: str | None

    @property
    def body(self) -> Any:
        """The body, decoded if it is JSON."""
        if self.content is None:
            return None
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            return self.content


def received(request: Mapping[str, Any]) -> ReceivedRequest:
    """Makes the record of a request from its JSON."""
    body, milliseconds = request["body"], request["duration_ms"]
    return ReceivedRequest(
        time=datetime.fromisoformat(request["time"]),
        headers=MappingProxyType(request["headers"]),
        content=body.encode() if isinstance(body, str) else body and b64decode(body["base64"]),
        seconds=milliseconds and milliseconds / 1000,
        bytes_sent=request["bytes"],
        **{name: request[name] for name in ("method", "path", "status", "number", "fault", "message")},
    )


# fmt: off
FaultKind = Literal[
    "reset", "cut", "stall", "garbage", "status", "redirect", "code", "expired_token", "delay", "drip", "late_code",
    "shrink",
]
# fmt: on
FaultPreset = Literal["flaky", "slow", "throttled", "expired-token", "shrinking"]


class FaultOptions(TypedDict, total=False):
    """Options of `Sandbox.fault`, which describes them."""

    path: str | None
    where: Mapping[str, object] | None
    times: int | None
    after: int | None
    probability: float | None
    seed: int | None
    after_bytes: int | None
    status: int | None
    retry_after: float | timedelta | None
    body: str | None
    content_type: str | None
    headers: Mapping[str, str] | None
    location: str | None
    code: int | None
    message: str | None
    seconds: float | timedelta | None
    max_seconds: float | timedelta | None
    chunk_bytes: int | None
    keep: float | None


class Fault:
    """A fault of a `Sandbox`, active in a `with` block. `Sandbox.fault` makes it.

    It can be entered again after its end, and then counts from zero. Any thread may end it.
    """

    def __init__(self, control: Control, kind: str, options: Mapping[str, object]) -> None:
        """Checks the options; the fault is not active yet."""
        self._kind = kind
        kinds, presets = get_args(FaultKind), get_args(FaultPreset)
        if kind not in kinds + presets:
            raise ConfigError(f"kind must be one of {', '.join(map(repr, kinds + presets))}, not {kind!r}")
        form = {name: plain(name, value) for name, value in options.items() if value is not None}
        if isinstance(pause := form.get("retry_after"), float) and pause.is_integer():
            form["retry_after"] = int(pause)
        self._control = control
        self._form = {"preset" if kind in presets else "kind": kind, **form}
        check_fault(self._form)
        # Hits by the ids of its faults; a preset has several.
        self._counts: dict[int, int] = {}
        # Another thread may end it: its hits are known once the service has answered.
        self._lock = ProcessLock()
        self._active: bool | None = None  # until it is entered

    @property
    def hits(self) -> int:
        """Number of responses it has changed. A response that passed unchanged does not count."""
        with self._lock:
            if self._active:
                # A sandbox that was reset has ended it, and lists it no more.
                faults = self._control.call("GET", "/faults")
                self._counts |= {fault["id"]: fault["hits"] for fault in faults if fault["id"] in self._counts}
            return sum(self._counts.values())

    def __enter__(self) -> Self:
        """Activates the fault."""
        if self._active:
            raise SandboxError("this fault is active already; make another one with sandbox.fault()")
        self._active = False
        begun = self._control.call("POST", "/faults", self._form)
        self._counts = {fault["id"]: 0 for fault in (begun if isinstance(begun, list) else [begun])}
        self._active = True
        return self

    def __exit__(self, *_error: object) -> None:
        """Ends the fault; responses that it delays continue."""
        with self._lock:
            if self._active:
                self._active = False
                # A forked child leaves it to its parent. A sandbox that was reset has ended it.
                for number in self._counts:
                    with suppress(ClientClosedError, SandboxError):
                        self._counts[number] = self._control.call("DELETE", f"/faults/{number}")["hits"]

    def __del__(self) -> None:
        """Warns if it was never active."""
        if vars(self).get("_active", False) is None:
            call = f"sandbox.fault({self._kind!r}, …)"
            warn_caller(f"{call} was never active; write: with {call}:", DataAccessWarning)

    def __repr__(self) -> str:
        """Kind, path and the hits that are known."""
        return f"Fault({self._kind!r}, path={self._form.get('path')!r}, hits={sum(self._counts.values())})"
