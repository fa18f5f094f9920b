"""`Fault`: a fault of a sandbox, active in a `with` block. The core checks its form."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from dataaccess._core.checks import duration, string
from dataaccess._core.embedded import ProcessLock
from dataaccess._core.warn import warn_caller
from dataaccess._native import check_fault
from dataaccess.errors import ClientClosedError, ConfigError, DataAccessWarning, SandboxError

if TYPE_CHECKING:
    from types import TracebackType

    from dataaccess._sandbox.control import Control

FaultKind = Literal[
    "reset",
    "cut",
    "stall",
    "status",
    "redirect",
    "code",
    "expired_token",
    "delay",
    "drip",
    "late_code",
    "shrink",
]
FaultPreset = Literal["flaky", "slow", "throttled", "expired-token", "shrinking"]

_DURATIONS = {"seconds", "max_seconds", "retry_after"}


class Fault:
    """A fault of a `Sandbox`, active in a `with` block. Made by `Sandbox.fault`.

    It can be entered again after its end, and then counts from zero. Any thread may end it. A fault that is never
    entered has no effect, and warns of that when it is deleted.
    """

    _unused = False

    def __init__(self, control: Control, kind: str, options: Mapping[str, object]) -> None:
        """Checks the options; the fault is not active yet."""
        self._control = control
        self._form = _form(kind, options)
        check_fault(self._form)
        self._kind = kind
        # Hits by the ids of its faults; a preset has several.
        self._counts: dict[int, int] = {}
        # Another thread may end it: its hits are known once the service has answered.
        self._lock = ProcessLock()
        self._active = False
        self._unused = True

    @property
    def hits(self) -> int:
        """Number of responses it has changed. A response that passed unchanged does not count."""
        with self._lock:
            if self._active:
                self._count("GET")
            return sum(self._counts.values())

    def __enter__(self) -> Self:
        """Activates the fault."""
        self._unused = False
        if self._active:
            raise SandboxError("this fault is active already; make another one with sandbox.fault()")
        begun = self._control.call("POST", "/faults", self._form)
        self._counts = {fault["id"]: 0 for fault in (begun if isinstance(begun, list) else [begun])}
        self._active = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Ends the fault; responses that it delays continue."""
        with self._lock:
            if self._active:
                self._active = False
                # A forked child leaves it to its parent. A sandbox that was reset has ended it.
                with suppress(ClientClosedError, SandboxError):
                    self._count("DELETE")

    def _count(self, method: str) -> None:
        for number in self._counts:
            self._counts[number] = self._control.call(method, f"/faults/{number}")["hits"]

    def __del__(self) -> None:
        """Warns if it was never active."""
        if self._unused:
            call = f"sandbox.fault({self._kind!r}, …)"
            warn_caller(f"{call} was never active; write: with {call}:", DataAccessWarning)

    def __repr__(self) -> str:
        """Kind, path and hits."""
        return f"Fault({self._kind!r}, path={self._form.get('path')!r}, hits={self.hits})"


def _form(kind: object, options: Mapping[str, object]) -> dict[str, Any]:
    """The JSON form of a fault, or of a preset."""
    kinds, presets = get_args(FaultKind), get_args(FaultPreset)
    if kind not in kinds and kind not in presets:
        kinds_and_presets = ", ".join(map(repr, kinds + presets))
        raise ConfigError(f"kind must be one of {kinds_and_presets}, not {kind!r}")
    given = {name: _plain(name, value) for name, value in options.items() if value is not None}
    return {"preset" if kind in presets else "kind": kind, **given}


def _plain(name: str, value: object) -> Any:
    """An option as JSON has it."""
    if isinstance(value, Mapping):
        return {_plain(name, key): _plain(name, each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(name, each) for each in value]
    if isinstance(value, str):
        return string(name, value)
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    return duration(name, value) if name in _DURATIONS else _number(name, value)


def _number(name: str, value: object) -> Any:
    """A number, a bool or None."""
    if isinstance(value, float) and not isfinite(value):
        raise ConfigError(f"{name} must be a finite number, not {value!r}")
    if value is None or isinstance(value, bool | float):
        return value
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ConfigError(f"{name} must be of JSON, not of type {type(value).__name__}") from None
