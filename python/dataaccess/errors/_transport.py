"""No complete, trustworthy HTTP response arrived."""

from __future__ import annotations

from dataaccess.errors._base import DataAccessError


class TransportError(DataAccessError):
    """No complete, trustworthy HTTP response arrived."""

    _exit_code = 69


class ConnectError(TransportError, ConnectionError):
    """The connection failed.

    Attributes:
        phase: `dns`, `tcp`, `proxy` or `tls`.
    """

    phase: str | None


class TlsError(ConnectError):
    """The TLS handshake failed, or the certificate is not trusted. Never retried.

    Attributes:
        reason: `unknown issuer`, `wrong name`, `expired`, `not yet valid` or `bad certificate`; `not TLS`,
            `version`, `refused` or `client certificate` if the handshake failed; else `handshake`.
    """

    reason: str | None


class ProxyError(ConnectError):
    """The proxy refused or failed. The message names where the proxy is set: `proxy=` or an environment variable.

    Attributes:
        status: 407 if the proxy asks for other credentials.
    """

    status: int | None


class RequestTimeoutError(TransportError, TimeoutError):
    """A timeout elapsed.

    Attributes:
        phase: `connect`, `headers`, `body`, `stall`, or `deadline` for the whole call.
    """

    phase: str | None


class ConnectionLostError(TransportError, ConnectionError):
    """The connection was closed before the response was complete.

    Attributes:
        received: Bytes of the body received until then, as transferred (compressed if the response was). If only the
            JSON is incomplete, bytes of the JSON.
    """

    received: int | None


class TruncatedResponseError(ConnectionLostError):
    """The response was cut off. It is never a result."""


class MalformedHttpError(TransportError):
    """The response is not valid HTTP.

    Attributes:
        received: Bytes of the body received until then, as transferred.
    """

    received: int | None
