"""`Fault`: the options of each kind of fault, and the `with` block in which it is active."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, Self

from dataaccess._contract import DOWNLOAD_PATH, SEARCH_PATH
from dataaccess._core.checks import duration, integer, string
from dataaccess._core.warn import warn_caller
from dataaccess.errors import ConfigError, DataAccessWarning, ForkedHandleError, SandboxError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from dataaccess._sandbox.control import Control

FaultKind = Literal["reset", "cut", "stall", "status", "delay", "drip", "late_code"]

_PATHS = {"search": SEARCH_PATH, "download": DOWNLOAD_PATH}


def _retry_after(name: str, value: object) -> int:
    seconds = duration(name, value)
    if not seconds.is_integer():
        raise ConfigError(f"{name}= must be in whole seconds, not {value!r}")
    return integer(name, int(seconds))


# How each option is read, and which options each kind needs or takes.
_READERS: dict[str, Callable[[str, object], Any]] = {
    "after_bytes": integer,
    "status": lambda name, value: integer(name, value, 200, 599),
    "retry_after": _retry_after,
    "body": string,
    "seconds": duration,
    "chunk_bytes": lambda name, value: integer(name, value, 1),
    "code": lambda name, value: integer(name, value, -(2**63)),
}
_NEEDS = {"status": {"status"}, "delay": {"seconds"}, "drip": {"chunk_bytes", "seconds"}, "late_code": {"code"}}
_TAKES = {
    "reset": {"after_bytes"},
    "cut": {"after_bytes"},
    "stall": {"after_bytes"},
    "status": {"status", "retry_after", "body"},
    "delay": {"seconds"},
    "drip": {"chunk_bytes", "seconds"},
    "late_code": {"code"},
}
# Statuses whose responses have no body.
_WITHOUT_BODY = {204, 304}


class Fault:
    """A fault of a `Sandbox`, active in a `with` block. Made by `Sandbox.fault`.

    It can be entered again after its end, and then counts from zero. Any thread may end it. A fault that is never
    entered has no effect, and warns of that when it is deleted.
    """

    _unused = False

    def __init__(
        self,
        control: Control,
        kind: str,
        options: Mapping[str, object],
        *,
        path: str | None,
        times: int | None,
        after: int,
    ) -> None:
        """Checks the options; the fault is not active yet."""
        self._control = control
        self._options = {"kind": kind, **_checked(kind, options)}
        self._path = _checked_path(path)
        self._times = None if times is None else integer("times", times, 1)
        self._after = integer("after", after)
        self._id: int | None = None
        self._hits = 0
        self._unused = True

    @property
    def hits(self) -> int:
        """Number of responses it has changed. A response that passed unchanged does not count."""
        if self._id is not None:
            self._hits = self._control.call("GET", f"/faults/{self._id}")["hits"]
        return self._hits

    def __enter__(self) -> Self:
        """Activates the fault."""
        self._unused = False
        if self._id is not None:
            raise SandboxError("this fault is active already; make another one with sandbox.fault()")
        fault = {**self._options, "path": self._path, "after": self._after, "times": self._times}
        self._id, self._hits = self._control.call("POST", "/faults", fault)["id"], 0
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Ends the fault; responses that it delays continue."""
        if self._id is not None:
            ended, self._id = self._id, None
            # A forked child leaves it to its parent. A sandbox that was reset has ended it.
            with suppress(ForkedHandleError, SandboxError):
                self._hits = self._control.call("DELETE", f"/faults/{ended}")["hits"]

    def __del__(self) -> None:
        """Warns if it was never active."""
        if self._unused:
            call = f"sandbox.fault({self._options['kind']!r}, …)"
            warn_caller(f"{call} was never active; write: with {call}:", DataAccessWarning)

    def __repr__(self) -> str:
        """Kind, path and hits."""
        return f"Fault({self._options['kind']!r}, path={self._path!r}, hits={self.hits})"


def _checked(kind: object, options: Mapping[str, object]) -> dict[str, Any]:
    takes = _TAKES.get(kind) if isinstance(kind, str) else None
    if not isinstance(kind, str) or takes is None:
        raise ConfigError(f"kind must be one of {', '.join(map(repr, _TAKES))}, not {kind!r}")
    given = {name: value for name, value in options.items() if value is not None}
    if unknown := sorted(given.keys() - takes):
        raise ConfigError(f"a fault {kind!r} takes {', '.join(sorted(takes))}, not {', '.join(unknown)}")
    if missing := sorted(_NEEDS.get(kind, set()) - given.keys()):
        raise ConfigError(f"a fault {kind!r} needs {', '.join(f'{name}=' for name in missing)}")
    read = {name: _READERS[name](name, value) for name, value in given.items()}
    if "body" in read and read["status"] in _WITHOUT_BODY:
        raise ConfigError(f"body= cannot be sent with status={read['status']}, which has no body")
    return read


def _checked_path(given: object) -> str | None:
    if given is None:
        return None
    name = string("path", given)
    path = _PATHS.get(name, name)
    if not path.startswith("/"):
        raise ConfigError(f"path= must be 'search', 'download' or a path that begins with /, not {path!r}")
    return path
