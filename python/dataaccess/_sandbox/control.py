"""Control of a sandbox: the same calls to one in this process and to one elsewhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, urlencode, urlsplit

from dataaccess._core.checks import string
from dataaccess.errors import ConfigError, SandboxError

if TYPE_CHECKING:
    from http.client import HTTPConnection

    from dataaccess._native import RawSandbox

_PREFIX = "/__sandbox"
# The service takes no larger body of rows.
_MOST_BYTES = 256 * 1024 * 1024
# Seconds without a byte. A load and a reset take longer than other calls.
_PATIENCE = 300.0
# Statuses from here on are errors.
_REFUSED = 400
_JSON, _LINES = "application/json", "application/x-ndjson"


class Control(Protocol):
    """A sandbox that can be called."""

    raw: RawSandbox | None

    @property
    def base_url(self) -> str:
        """Its address."""
        raise NotImplementedError

    @property
    def admin_token(self) -> str:
        """Its admin token."""
        raise NotImplementedError

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Calls a route below `/__sandbox` and returns the answer; `bytes` are sent as lines of JSON."""
        raise NotImplementedError


class InProcess:
    """A sandbox of this process."""

    def __init__(self, raw: RawSandbox) -> None:
        """Takes the running service."""
        self.raw: RawSandbox | None = raw
        self._raw = raw
        # While it is true, a reset repeats the calls.
        self.is_starting = False

    @property
    def base_url(self) -> str:
        """Its address."""
        return self._raw.base_url

    @property
    def admin_token(self) -> str:
        """Its admin token."""
        return self._raw.admin_token

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Calls a route of the service directly."""
        return _answer(*self._raw.control(method, path, _encoded(body), self.is_starting))


class OverHTTP:
    """A sandbox of another process or machine. Each call has a connection of its own, so any thread may call."""

    raw: RawSandbox | None = None

    def __init__(self, url: object, admin_token: object) -> None:
        """Checks the address; nothing is sent yet."""
        given = string("url", url)
        parts = urlsplit(given)
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in ("http", "https") or not parts.hostname or port == -1 or "@" in parts.netloc:
            example = "http://127.0.0.1:8080"
            raise ConfigError(f"url must be the address of a sandbox, such as {example}, not {given!r}")
        self.base_url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self.admin_token = string("admin_token", admin_token)
        if not self.admin_token.isascii() or not self.admin_token.isprintable():
            raise ConfigError("admin_token must be visible ASCII characters")

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Sends a request to the service."""
        from http.client import HTTPException

        content = _encoded(body)
        if len(content) > _MOST_BYTES:
            raise SandboxError(
                f"the rows are {len(content):,} bytes as JSON; one load takes 256 MiB: load them in parts"
            )
        headers = {"Authorization": f"Bearer {self.admin_token}", "Accept": _JSON}
        if content:
            headers["Content-Type"] = _LINES if isinstance(body, bytes) else _JSON
        parts = urlsplit(self.base_url)
        connection = self._connection(parts.scheme, parts.netloc)
        try:
            connection.request(method, f"{parts.path}{_PREFIX}{path}", body=content or None, headers=headers)
            response = connection.getresponse()
            status, answer = response.status, response.read()
        except (OSError, HTTPException) as error:
            reason = str(error) or type(error).__name__
            raise SandboxError(f"the sandbox at {self.base_url} cannot be reached: {reason}") from error
        finally:
            connection.close()
        try:
            return _answer(status, answer)
        except _NoAnswerError:
            problem = f"there is no sandbox at {self.base_url}: {method} {_PREFIX}{path} got HTTP status {status}"
            raise SandboxError(problem) from None

    @staticmethod
    def _connection(scheme: str, address: str) -> HTTPConnection:
        from http.client import HTTPConnection, HTTPSConnection

        return (HTTPSConnection if scheme == "https" else HTTPConnection)(address, timeout=_PATIENCE)


def segment(name: str) -> str:
    """A name, which was checked, as one segment of a path."""
    return quote(name, safe="")


def query(**parameters: object) -> str:
    """The query of a path."""
    return "?" + urlencode({name: json.dumps(value) for name, value in parameters.items()})


def _encoded(body: object) -> bytes:
    if body is None:
        return b""
    return body if isinstance(body, bytes) else json.dumps(body).encode()


class _NoAnswerError(Exception):
    """The response is not of a sandbox."""


def _answer(status: int, content: bytes) -> Any:
    """The answer of a call; an error is raised as the service names it."""
    try:
        answer = json.loads(content)
        error = answer["error"] if status >= _REFUSED else None
        if error is None:
            return answer
        message, hint, kind = error["message"], error["hint"], error["kind"]
    except (LookupError, TypeError, ValueError):
        raise _NoAnswerError from None
    raised = ConfigError if kind == "ConfigError" else SandboxError
    raise raised(f"{message}; {hint}" if hint else message, hint=hint)
