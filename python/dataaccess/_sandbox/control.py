"""Control of a sandbox over HTTP: of one that this process started, and of one elsewhere."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from dataaccess._core.checks import string
from dataaccess._core.embedded import stop_sandbox
from dataaccess._native import origin
from dataaccess.errors import ConfigError, SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataaccess._native import RawSandbox

_PREFIX = "/__sandbox"
# The service takes no larger body of rows.
_MOST_BYTES = 1024 * 1024 * 1024
# Seconds without a byte. A load and a reset take longer than other calls.
_PATIENCE = 300.0
# Statuses from here on are errors.
_REFUSED = 400
_JSON, _LINES = "application/json", "application/x-ndjson"


class Control:
    """A sandbox of any process or machine. Each call has a connection of its own, so any thread may call."""

    raw: RawSandbox | None = None
    _is_starting = False

    def __init__(self, url: str, admin_token: str) -> None:
        """Checks the address; nothing is sent yet."""
        if origin(url) is None:
            raise ConfigError("url must be the address of a sandbox, such as http://127.0.0.1:8080")
        self.base_url = url.rstrip("/")
        self.admin_token = string("admin_token", admin_token)
        if not self.admin_token.isascii() or not self.admin_token.isprintable():
            raise ConfigError("admin_token must be visible ASCII characters")

    @contextmanager
    def starting(self) -> Iterator[None]:
        """What is changed in the block belongs to the start, so that a reset comes back to it."""
        self._is_starting = True
        try:
            yield
        finally:
            self._is_starting = False

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Calls a route below `/__sandbox` and returns the answer; `bytes` are sent as lines of JSON."""
        status, content = self._response(method, path, body)
        try:
            answer = json.loads(content)
            error = answer["error"] if status >= _REFUSED else None
            if error is None:
                return answer
            message, hint, kind = error["message"], error["hint"], error["kind"]
        except (LookupError, TypeError, ValueError):
            problem = f"there is no sandbox at {self.base_url}: {method} {_PREFIX}{path} got HTTP status {status}"
            raise SandboxError(problem) from None
        raised = ConfigError if kind == "ConfigError" else SandboxError
        raise raised(f"{message}; {hint}" if hint else message, hint=hint)

    def stop(self) -> None:
        """Leaves the service running: who started it stops it."""

    def _response(self, method: str, path: str, body: object = None, patience: float = _PATIENCE) -> tuple[int, bytes]:
        """Status and content of the response."""
        from http.client import HTTPConnection, HTTPException, HTTPSConnection

        content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body, default=str).encode()
        if len(content) > _MOST_BYTES:
            raise SandboxError(f"the rows are {len(content):,} bytes as JSON; one load takes 1 GiB: load them in parts")
        headers = {"Authorization": f"Bearer {self.admin_token}", "Accept": _JSON}
        if content:
            headers["Content-Type"] = _LINES if isinstance(body, bytes) else _JSON
        if self._is_starting:
            headers["Sandbox-Start"] = "true"
        parts = urlsplit(self.base_url)
        connection = (HTTPSConnection if parts.scheme == "https" else HTTPConnection)(parts.netloc, timeout=patience)
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
