"""The exceptions and warnings of `dataaccess`, drawn as a tree. They pickle with all their fields.

DataAccessError                         operation attempts elapsed request_id history hint retryable quota_exhausted
├─ ConfigError (ValueError)             base URL, CA file, token with line breaks, plain http
├─ ValidationError (ValueError)         problems
├─ TransportError                       no complete, trustworthy HTTP answer
│  ├─ ConnectError (ConnectionError)    phase: dns tcp proxy tls
│  │  ├─ TlsError                       reason
│  │  └─ ProxyError                     status
│  ├─ RequestTimeoutError (TimeoutError)    phase: connect headers body stall deadline
│  ├─ ConnectionLostError (ConnectionError) received
│  │  └─ TruncatedResponseError
│  └─ MalformedHttpError                received
├─ ApiError                             status code api_message body_excerpt
│  ├─ PermissionDeniedError (PermissionError)
│  ├─ ThrottledError                    retry_after
│  ├─ ServerError
│  ├─ RequestRejectedError
│  └─ RedirectRefusedError              location_host
├─ ResponseError                        HTTP fine, content not the contract
│  ├─ NotJsonError                      content_type body_excerpt
│  ├─ InvalidJsonError                  offset
│  ├─ EnvelopeError                     field
│  ├─ RecordError                       row column offset value
│  └─ ResponseTooLargeError             what limit
├─ StreamInterruptedError               rows_yielded
├─ WaitTimeoutError (TimeoutError)      last
├─ ScanError
│  ├─ ScanIncompleteError
│  └─ CheckpointError                   errno path
│     ├─ CheckpointMismatchError        field
│     ├─ CheckpointCorruptError         line
│     └─ CheckpointLockedError          pid
├─ FileError (OSError)                  errno path
├─ SandboxError
├─ ClientClosedError (RuntimeError)
├─ ForkedHandleError (RuntimeError)
└─ InternalError                        a defect of this package

DataAccessWarning (UserWarning)
├─ AbsentAttributeWarning               an attribute is absent, not null, from every record
├─ IncompleteWarning                    an answer may not be all there is
├─ StrayDayWarning                      rows of another day than asked for
└─ SandboxWarning                       the data is made up
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from dataaccess.reports import ScanReport


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a request.

    Attributes:
        argument: What was typed, as `code_status[1]`.
        path: Its place in the body as sent, as `filters.OR[0].AND[2].value[1]`; empty where it has none.
        message: What is wrong and what to write instead.
        value: The value, shortened.
    """

    argument: str
    path: str
    message: str
    value: str


class DataAccessError(Exception):
    """Anything that went wrong in this package. Its text is one line: what, where, what to do.

    Attributes:
        operation: Public name of the call, as `search_codes`.
        attempts: Requests sent.
        elapsed: Seconds since the call began.
        request_id: `X-Request-Id` of the last request, for the operators of the service.
        history: One line for each failed request.
        hint: What to do, if there is something.
        retryable: Whether the same call may succeed later.
        quota_exhausted: Whether the request would have been sent again, had not too many requests of this client
            failed of late.

    Example:
        >>> import dataaccess as da
        >>> try:
        ...     da.validate_codes(allocated_time=da.after("2024-01-01"), code_status=7)
        ... except da.DataAccessError as error:
        ...     print(type(error).__name__, error.retryable)
        ValidationError False
    """

    operation: str | None
    attempts: int
    elapsed: float
    request_id: str | None
    history: list[str]
    hint: str | None
    retryable: bool
    quota_exhausted: bool

    _fields: ClassVar[tuple[str, ...]] = (
        "operation",
        "attempts",
        "elapsed",
        "request_id",
        "history",
        "hint",
        "retryable",
        "quota_exhausted",
    )

    def __init_subclass__(cls, **keywords: object) -> None:
        """Adds the fields that a subclass declares to those of its parents."""
        super().__init_subclass__(**keywords)
        own = [name for name in inspect.get_annotations(cls) if not name.startswith("_")]
        inherited = [name for base in cls.__bases__ for name in getattr(base, "_fields", ())]
        cls._fields = tuple(dict.fromkeys([*inherited, *own]))

    def __init__(self, message: str = "", **fields: Any) -> None:
        """Takes the text and, by name, any of the class's fields; those not given are empty."""
        # One positional argument only: a second would turn the text of an OSError into "[Errno …]".
        super().__init__(message)
        empty: dict[str, Any] = {
            "attempts": 0,
            "elapsed": 0.0,
            "history": [],
            "failed": {},
            "retryable": False,
            "quota_exhausted": False,
        }
        for name in self._fields:
            setattr(self, name, fields.pop(name, empty.get(name)))
        if fields:
            unknown = ", ".join(fields)
            raise TypeError(f"{type(self).__name__} has no field {unknown}")


class ConfigError(DataAccessError, ValueError):
    """A setting cannot be used: base URL, CA file, token with line breaks, plain http."""


class ValidationError(DataAccessError, ValueError):
    """A request breaks the rules of the document (sections 2.4, 4 and 8). Nothing was sent.

    Attributes:
        problems: All that is wrong, each with its place.

    Example:
        >>> import dataaccess as da
        >>> try:
        ...     da.validate_codes(allocated_time=da.after("2024-01-01"), code_status=["sent", 7])
        ... except da.ValidationError as error:
        ...     print(error.problems[0].argument)
        code_status[1]
    """

    problems: list[Problem]


class TransportError(DataAccessError):
    """No complete, trustworthy HTTP answer came."""


class ConnectError(TransportError, ConnectionError):
    """No connection came about.

    Attributes:
        phase: `dns`, `tcp`, `proxy` or `tls`.
    """

    phase: str | None


class TlsError(ConnectError):
    """The service could not prove who it is. Never sent again by itself.

    Attributes:
        reason: `unknown issuer`, `wrong name`, `expired`, `not yet valid` or `bad certificate`; `not TLS`,
            `version`, `refused` or `client certificate` where no handshake came about; else `handshake`.
    """

    reason: str | None


class ProxyError(ConnectError):
    """The proxy refused or failed. Its text names who wants it: `proxy=` or a variable of the environment.

    Attributes:
        status: 407 if it wants another user and password.
    """

    status: int | None


class RequestTimeoutError(TransportError, TimeoutError):
    """The time was over.

    Attributes:
        phase: `connect`, `headers`, `body`, `stall`, or `deadline` for the whole call.
    """

    phase: str | None


class ConnectionLostError(TransportError, ConnectionError):
    """The connection ended before the answer did.

    Attributes:
        received: Bytes of the answer's body until then, compressed if it came so. Where only the JSON is
            incomplete, bytes of that.
    """

    received: int | None


class TruncatedResponseError(ConnectionLostError):
    """The answer ended before it was complete. It is never a result."""


class MalformedHttpError(TransportError):
    """The answer is not HTTP as agreed.

    Attributes:
        received: Bytes of the answer's body until then, compressed if it came so.
    """

    received: int | None


class ApiError(DataAccessError):
    """The service answered, and not with success (sections 2.1 and 7).

    Attributes:
        status: HTTP status.
        code: `code` of the envelope, if there was one.
        api_message: `message` of the envelope, if there was one.
        body_excerpt: The beginning of an error's body, 200 characters at most.
    """

    status: int | None
    code: int | None
    api_message: str | None
    body_excerpt: str | None


class PermissionDeniedError(ApiError, PermissionError):
    """The token is invalid, expired or without the scope (section 7); also any HTTP 401."""


class ThrottledError(ApiError):
    """The service asks to slow down (HTTP 429 or 503).

    Attributes:
        retry_after: Seconds it asks for, if it does.
    """

    retry_after: float | None


class ServerError(ApiError):
    """The service or a gateway failed."""


class RequestRejectedError(ApiError):
    """The request was rejected (HTTP 4xx), by the service or by something in front of it."""


class RedirectRefusedError(ApiError):
    """The service redirects, which is never followed: the token would go along.

    Attributes:
        location_host: Where to.
    """

    location_host: str | None


class ResponseError(DataAccessError):
    """HTTP went well, the content is not the contract's."""


class NotJsonError(ResponseError):
    """The body is no JSON, as a login page.

    Attributes:
        content_type: What the answer says it is.
        body_excerpt: Its beginning, 200 characters at most.
    """

    content_type: str | None
    body_excerpt: str | None


class InvalidJsonError(ResponseError):
    """The body is broken JSON.

    Attributes:
        offset: Where, in bytes.
    """

    offset: int | None


class EnvelopeError(ResponseError):
    """The envelope is not the document's (section 2.1).

    Attributes:
        field: Which member.
    """

    field: str | None


class RecordError(ResponseError):
    """A record holds what it may not.

    Attributes:
        row: Number of the record, from 0.
        column: Which attribute; empty when the record is no object.
        offset: Where, in bytes of the answer.
        value: What stands there, 200 bytes at most. It is customer data: no text, log or pickle has it.
    """

    row: int | None
    column: str | None
    offset: int | None
    value: str | None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles everything but the value."""
        return type(self), self.args, {**self.__dict__, "value": None}


class ResponseTooLargeError(ResponseError):
    """The answer is beyond a limit.

    Attributes:
        what: `body`, `record`, `value`, `number`, or `ratio` for an answer that is implausibly larger than
            it was compressed.
        limit: In bytes; of `ratio`, how many times larger.
    """

    what: str | None
    limit: int | None


class StreamInterruptedError(DataAccessError):
    """A stream broke after rows were handed out; they are not a whole answer.

    Attributes:
        rows_yielded: How many were.
    """

    rows_yielded: int | None


class WaitTimeoutError(DataAccessError, TimeoutError):
    """An export did not end in time (section 3.2).

    Attributes:
        last: The last answer, if there was one.
    """

    last: dict[str, Any] | None


class ScanError(DataAccessError):
    """A scan could not do all it should."""


class ScanIncompleteError(ScanError):
    """Some tasks of a scan failed for good; the others are done and kept.

    Attributes:
        failed: The error of each task that failed, by its id.
        report: The `ScanReport` of those that are done.
    """

    failed: dict[str, DataAccessError]
    report: ScanReport | None


class CheckpointError(ScanError):
    """A checkpoint cannot be written or read. The tasks that are finished are kept.

    Attributes:
        errno: What the operating system says, as `errno.ENOSPC`, if it is a failure of its own.
        path: Which file or folder.
    """

    errno: int | None
    path: str | None


class CheckpointMismatchError(CheckpointError):
    """A checkpoint belongs to another query.

    Attributes:
        field: The first thing that is not the same.
    """

    field: str | None


class CheckpointCorruptError(CheckpointError):
    """A checkpoint is damaged: a part or the journal is not as it was written.

    Attributes:
        line: Which line of the journal, from 1.
    """

    line: int | None


class CheckpointLockedError(CheckpointError):
    """Another run works on the checkpoint.

    Attributes:
        pid: Its process, if that is known.
    """

    pid: int | None


class FileError(DataAccessError, OSError):
    """A file could not be written. Its place is as before.

    Attributes:
        errno: What the operating system says, as `errno.ENOSPC`, if it is a failure of its own.
        path: Which file.
    """

    errno: int | None
    path: str | None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles `errno` too, which an OSError keeps apart from its other fields."""
        return type(self), self.args, {**self.__dict__, "errno": self.errno}


class SandboxError(DataAccessError):
    """The embedded service could not do it."""


class ClientClosedError(DataAccessError, RuntimeError):
    """The client was closed."""


class ForkedHandleError(DataAccessError, RuntimeError):
    """A handle made before a fork cannot be used after it; make a new one in the child."""


class InternalError(DataAccessError):
    """A defect of this package. Please report it; the client stays usable."""


class DataAccessWarning(UserWarning):
    """Something may not be what it seems."""


class AbsentAttributeWarning(DataAccessWarning):
    """A requested attribute is absent, not null, from every record: likely a typing error."""


class IncompleteWarning(DataAccessWarning):
    """An answer may not be all there is."""


class StrayDayWarning(DataAccessWarning):
    """Rows of a by-day scan belong to another day, as when the service cuts its days elsewhere."""


class SandboxWarning(DataAccessWarning):
    """The data is made up by the embedded service."""
