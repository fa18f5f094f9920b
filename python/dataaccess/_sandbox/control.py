"""Control of a sandbox over HTTP: of one that this process started, and of one elsewhere."""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping
from datetime import date, timedelta
from numbers import Real
from typing import TYPE_CHECKING, Any, SupportsIndex
from urllib.parse import quote, urlsplit

from dataaccess._core.checks import string
from dataaccess._core.embedded import stop_sandbox
from dataaccess._native import origin
from dataaccess.errors import ConfigError, SandboxError

if TYPE_CHECKING:
    from dataaccess._native import RawSandbox

_PREFIX = "/__sandbox"
# The service takes no larger body of rows.
_MOST_BYTES = 1024 * 1024 * 1024
# Seconds without a byte. A load and a reset take longer than other calls.
_PATIENCE = 300.0


class Control:
    """A sandbox of any process or machine. Each call has a connection of its own, so any thread may call."""

    raw: RawSandbox | None = None
    # Whether calls belong to the start, so that a reset comes back to what they changed.
    is_start = False

    def __init__(self, url: str, admin_token: str) -> None:
        """Checks the address; nothing is sent yet."""
        if origin(url) is None:
            raise ConfigError("url must be the address of a sandbox, such as http://127.0.0.1:8080")
        self.base_url = url.rstrip("/")
        self.admin_token = string("admin_token", admin_token)
        if not self.admin_token.isascii() or not self.admin_token.isprintable():
            raise ConfigError("admin_token must be visible ASCII characters")

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Calls a route below `/__sandbox` and returns the answer; `bytes` are sent as they are."""
        status, content = self._response(method, path, body)
        try:
            answer = json.loads(content)
            error = answer["error"] if status >= 400 else None
            if error is None:
                return answer
            message, hint, kind = error["message"], error["hint"], error["kind"]
        except (LookupError, TypeError, ValueError):
            problem = f"there is no sandbox at {self.base_url}: {method} {_PREFIX}{path} got HTTP status {status}"
            raise SandboxError(problem) from None
        raised = ConfigError if kind == "ConfigError" else SandboxError
        message = str(message).removeprefix("body: ")
        raise raised(f"{message}; {hint}" if hint else message, hint=hint)

    def stop(self) -> None:
        """Leaves the service running: who started it stops it."""

    def _response(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        """Status and content of the response."""
        from http.client import HTTPConnection, HTTPException, HTTPSConnection

        content = body if isinstance(body, bytes) else b""
        if isinstance(body, Mapping):
            content = json.dumps({name: plain(name, value) for name, value in body.items()}).encode()
        if len(content) > _MOST_BYTES:
            raise SandboxError(f"the rows are {len(content):,} bytes as JSON; one load takes 1 GiB: load them in parts")
        headers = {"Authorization": f"Bearer {self.admin_token}"}
        if self.is_start:
            headers["Sandbox-Start"] = "true"
        parts = urlsplit(self.base_url)
        connection = (HTTPSConnection if parts.scheme == "https" else HTTPConnection)(parts.netloc, timeout=_PATIENCE)
        try:
            connection.request(method, f"{parts.path}{_PREFIX}{path}", body=content or None, headers=headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, HTTPException) as error:
            reason = str(error) or type(error).__name__
            # Tracebacks with the values of frames show no token.
            headers.clear()
            raise SandboxError(f"the sandbox at {self.base_url} cannot be reached: {reason}") from None
        finally:
            connection.close()


class OwnControl(Control):
    """A sandbox that this process started. Its log and the hits of its faults stay when it is stopped."""

    def __init__(self, raw: RawSandbox) -> None:
        """Takes the running service."""
        super().__init__(raw.base_url, raw.admin_token)
        self._raw = self.raw = raw

    def call(self, method: str, path: str, body: object = None) -> Any:
        """As any control; raises in a forked child."""
        try:
            self._raw.check_running()
        except SandboxError:
            if (kept := self._raw.after_end(method, path)) is None:
                raise
            return json.loads(kept)
        try:
            return super().call(method, path, body)
        except SandboxError:
            # Another thread may have stopped it meanwhile.
            self._raw.check_running()
            raise

    def stop(self) -> None:
        """Stops the service."""
        stop_sandbox(self._raw)


def segment(name: str) -> str:
    """A name, which was checked, as one segment of a path."""
    return quote(name, safe="")


def plain(name: str, value: object) -> Any:
    """A value as JSON has it."""
    try:
        return json.loads(json.dumps(value, default=_plain, ensure_ascii=False, allow_nan=False).encode())
    except TypeError as error:
        raise ConfigError(f"{name} must be of JSON, {error}") from None
    except ValueError:
        raise ConfigError(f"{name} must have finite numbers and valid Unicode") from None


def _plain(value: object) -> object:
    if isinstance(value, timedelta):
        seconds = value.total_seconds()
        return int(seconds) if seconds.is_integer() else seconds
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, date):
        return str(value)
    if isinstance(value, SupportsIndex):
        return operator.index(value)
    if isinstance(value, Real):
        return float(value)
    raise TypeError(f"not of type {type(value).__name__}")
