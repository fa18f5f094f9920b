"""The exceptions and warnings of `dataaccess`, drawn as a tree. They can be pickled, without values of records.

A builtin base class is in brackets. The fields that a class adds follow.

    DataAccessError  operation attempts elapsed request_id response_headers history hint retryable report
    ├─ ConfigError (ValueError)                  problems
    ├─ ValidationError (ValueError)              problems
    ├─ TransportError
    │  ├─ ConnectError (ConnectionError)         phase reason status
    │  ├─ RequestTimeoutError (TimeoutError)     phase
    │  └─ ConnectionLostError (ConnectionError)  reason received
    ├─ ApiError                                  status code api_message data code_message body_excerpt
    │  ├─ PermissionDeniedError
    │  ├─ ThrottledError                         retry_after
    │  ├─ ServerError
    │  └─ RequestRejectedError                   location_host
    ├─ ResponseError                             reason field row column offset limit path value body_excerpt
    │  └─ DoubtfulDataError
    ├─ StreamInterruptedError                    rows_yielded
    ├─ WaitTimeoutError (TimeoutError)           last
    ├─ SegmentExportError                        entries
    ├─ ScanIncompleteError                       failed report
    ├─ FolderError                               reason path field day
    │  └─ FolderLockedError                      pid host
    ├─ FileError (OSError)                       errno path
    ├─ SandboxError
    ├─ ClientClosedError (RuntimeError)
    └─ InternalError

    DataAccessWarning (UserWarning)
    ├─ AbsentAttributeWarning               a requested attribute is missing from every record
    ├─ EmptyResultWarning                   nothing was found, and the conditions may explain why
    ├─ IncompleteWarning                    a response may not hold all rows
    ├─ MissingIdsWarning                    a list of ids found fewer customers
    ├─ SandboxWarning                       the data is synthetic
    ├─ ShrunkWarning                        a response has much less than the file that it would replace
    ├─ StrayDayWarning                      rows of a day that was not requested
    └─ TimezoneWarning                      days are sent to a platform, and timezone was not set
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

from dataaccess._public import public

if TYPE_CHECKING:
    from dataaccess._types import ExportEntry
    from dataaccess.reports import FolderReport

__all__ = [
    "AbsentAttributeWarning",
    "ApiError",
    "ClientClosedError",
    "ConfigError",
    "ConnectError",
    "ConnectionLostError",
    "DataAccessError",
    "DataAccessWarning",
    "DoubtfulDataError",
    "EmptyResultWarning",
    "FileError",
    "FolderError",
    "FolderLockedError",
    "IncompleteWarning",
    "InternalError",
    "MissingIdsWarning",
    "PermissionDeniedError",
    "Problem",
    "RequestRejectedError",
    "RequestTimeoutError",
    "ResponseError",
    "SandboxError",
    "SandboxWarning",
    "ScanIncompleteError",
    "SegmentExportError",
    "ServerError",
    "ShrunkWarning",
    "StrayDayWarning",
    "StreamInterruptedError",
    "ThrottledError",
    "TimezoneWarning",
    "TransportError",
    "ValidationError",
    "WaitTimeoutError",
]

# Problems that a traceback lists, and further arguments that the message of several problems names.
_SHOWN = 10
_NAMED = 3
# Fields that may have values of records: they are in no message, log or pickle.
_PRIVATE = ("body_excerpt", "value")
# As in `sysexits.h`.
_WRONG_DATA = 65


class DataAccessError(Exception):
    """The base class of all exceptions of this package. Its message is one line: what happened, where, what to do.

    Attributes:
        operation: Public name of the call, such as `search_codes`.
        attempts: Number of requests sent.
        elapsed: Seconds since the call began.
        request_id: `X-Request-Id` of the last request, for the operators of the service.
        response_headers: Headers of the response to that request, by names in lower case, which help to find it in the
            logs of the service, such as `date`, `via` and `cf-ray`. Each value has at most 256 characters and no
            secret. Empty if there was no response.
        history: One line for each failed request.
        hint: What to do, or None.
        retryable: Whether the same call may succeed later.
        exit_code: What a program should end with, as `sysexits.h` numbers it: 75 if the same call may succeed later,
            else by the class.
        report: The `FolderReport` of what a run had finished when this error ended it. None for other calls.

    Examples:
        >>> import dataaccess as da
        >>> try:
        ...     da.validate_codes(allocated_time=da.after("2024-01-01"), code_status=["sent", 7])
        ... except da.ValidationError as error:
        ...     print(error.problems[0].argument, error.retryable)
        code_status[1] False
    """

    operation: str | None = None
    attempts: int = 0
    elapsed: float = 0.0
    request_id: str | None = None
    response_headers: dict[str, str] = {}  # noqa: RUF012 - no error changes it
    history: list[str] = []  # noqa: RUF012 - no error changes it
    hint: str | None = None
    retryable: bool = False
    report: FolderReport | None = None

    # Of a failure that is not retryable.
    _exit_code = 70

    def __init__(self, message: str = "", **fields: Any) -> None:
        """Takes the message and, by name, the fields of the class."""
        # One positional argument only: a second would turn the message of an OSError into "[Errno …]".
        super().__init__(message)
        for name, value in fields.items():
            if not hasattr(type(self), name):
                raise TypeError(f"{type(self).__name__} has no field {name}")
            setattr(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles every field but those that may have values of records."""
        state = {name: None if name in _PRIVATE else value for name, value in self.__dict__.items()}
        return type(self), self.args, state

    @property
    def exit_code(self) -> int:
        """What a program should end with, as `sysexits.h` numbers it."""
        return 75 if self.retryable else self._exit_code


class ConfigError(DataAccessError, ValueError):
    """Settings are invalid: base URL, CA file, token with line breaks, plain http.

    Attributes:
        problems: One line for each problem. It begins with the name of the setting, such as `timeout`.
    """

    problems: list[str] = []  # noqa: RUF012 - no error changes it

    _exit_code = 78

    def __init__(self, message: str = "", **fields: Any) -> None:
        """Takes the message, which is the only problem if `problems` is not given."""
        super().__init__(message, **{"problems": [message], **fields})

    @classmethod
    def of(cls, problems: list[str]) -> Self:
        """Returns the error for several invalid settings, of one line for each."""
        if len(problems) == 1:
            return cls(problems[0])
        numbered = " ".join(f"({number}) {line}" for number, line in enumerate(problems, 1))
        return cls(f"{len(problems)} settings are invalid: {numbered}", problems=problems)


class Problem(NamedTuple):
    """One problem of a request.

    Attributes:
        argument: The argument as the caller wrote it, such as `code_status[1]`.
        path: Its path in the request body, such as `filters.OR[0].AND[2].value[1]`; empty if it has none.
        message: What is wrong and what to write instead.
        value: The repr of the value, shortened; None if there is no value to show.
    """

    argument: str
    path: str
    message: str
    value: str | None

    def __str__(self) -> str:
        return f"{self.argument}: {self.message}"


class ValidationError(DataAccessError, ValueError):
    """A request breaks a rule of the API specification. Nothing was sent.

    The message is that of the first problem. If there are several, it counts the others and names their arguments, and
    the traceback lists all as notes of the exception.

    Attributes:
        problems: All problems of the request, each with its argument and path.
    """

    problems: list[Problem] = []  # noqa: RUF012 - no error changes it

    _exit_code = 64

    def __init__(self, message: str = "", **fields: Any) -> None:
        """Takes the fields of the class by name. The message of the problems needs not be given."""
        super().__init__(message or _message_of(fields.get("problems", []), fields.get("operation")), **fields)
        if len(self.problems) > 1:
            for problem in self.problems[:_SHOWN]:
                self.add_note(str(problem))
        if len(self.problems) > _SHOWN:
            self.add_note(f"and {len(self.problems) - _SHOWN} more, see .problems")


def _message_of(problems: list[Problem], operation: str | None) -> str:
    """The first problem, and which arguments have others."""
    if not problems:
        return ""
    first, *others = problems
    names = list(dict.fromkeys(each.argument for each in others))
    named = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    line = f"{f'{operation}: ' if operation else ''}{first}"
    return f"{line}; and {len(others)} more ({named})" if others else line


class TransportError(DataAccessError):
    """No complete, trustworthy HTTP response arrived."""

    _exit_code = 69


class ConnectError(TransportError, ConnectionError):
    """The connection failed: to the service, or to the proxy that the message names.

    A failed TLS handshake is never retried.

    Attributes:
        phase: `dns`, `tcp`, `proxy` or `tls`.
        reason: With the phase `tls`: `unknown issuer`, `wrong name`, `expired`, `not yet valid` or `bad certificate`;
            `not TLS`, `version`, `refused` or `client certificate` if the handshake failed; else `handshake`.
        status: HTTP status of the proxy, such as 407 if it asks for other credentials.
    """

    phase: str | None = None
    reason: str | None = None
    status: int | None = None


class RequestTimeoutError(TransportError, TimeoutError):
    """A time limit elapsed.

    Attributes:
        phase: `connect`, `headers`, `body`, `stall`, `token`, or `deadline` for the whole call.
    """

    phase: str | None = None


class ConnectionLostError(TransportError, ConnectionError):
    """The response is not complete, or is not valid HTTP. It is never a result.

    Attributes:
        reason: `lost` if the connection ended, `truncated` if the response ended early, `malformed` if it is not HTTP.
        received: Bytes of the body received until then, as transferred (compressed if the response was). If only the
            JSON is incomplete, bytes of the JSON.
    """

    reason: str | None = None
    received: int | None = None


class ApiError(DataAccessError):
    """The response reports a failure.

    Attributes:
        status: HTTP status.
        code: `code` of the envelope, if there is one.
        api_message: `message` of the envelope, if there is one.
        data: `data` of the envelope, if it is a string: the reason of a refusal, such as of a 403. Its first 200
            characters. Other `data` may have values of records and is not kept.
        code_message: `codeMessage` of the envelope, if it is a string. Its first 200 characters.
        body_excerpt: The first 200 characters of the body of an error response. It may have values of records, so it is
            in no message, log or pickle.
    """

    status: int | None = None
    code: int | None = None
    api_message: str | None = None
    data: str | None = None
    code_message: str | None = None
    body_excerpt: str | None = None

    _exit_code = 69


class PermissionDeniedError(ApiError):
    """The token is invalid, expired or lacks the scope; also any HTTP 401."""

    _exit_code = 77


class ThrottledError(ApiError):
    """The service asks to slow down (HTTP 429 or 503).

    Attributes:
        retry_after: Seconds of the header `Retry-After`, if the response has one.
    """

    retry_after: float | None = None


class ServerError(ApiError):
    """The service or a gateway failed (HTTP 408, and 5xx except 503)."""


class RequestRejectedError(ApiError):
    """The service, or a server in front of it, rejected the request (HTTP 4xx except 401, 408 and 429), or redirects.

    Redirects are never followed: the token would be sent along.

    Attributes:
        location_host: Host of the redirect; None if the response is no redirect.
    """

    location_host: str | None = None


class ResponseError(DataAccessError):
    """The HTTP exchange succeeded, and the content breaks the contract of the service.

    Attributes:
        reason: `not_json`, as a login page; `invalid_json`, at `offset`; `envelope`, in its member `field`; `record`,
            in `row` and `column`; or `too_large`. None for a `DoubtfulDataError`.
        field: The member of the envelope. If the response is too large, what exceeds the limit: `body`, `record`,
            `value`, `members` for the keys of the envelope, `result` for the memory of all rows that a call returns
            (`max_result_bytes`), or `footer` for that of a Parquet file.
        row: Index of the record, from 0.
        column: The attribute; empty if the record is not an object.
        offset: Byte offset in the response body.
        limit: The limit that was exceeded, in bytes; for `members`, a count.
        path: With `read_folder`, the file whose rows were too much.
        value: The value, at most 200 bytes. It is customer data, so it is in no message, log or pickle.
        body_excerpt: The first 200 characters of a body that is not JSON. It may have values of records, so it is in no
            message, log or pickle.
    """

    reason: str | None = None
    field: str | None = None
    row: int | None = None
    column: str | None = None
    offset: int | None = None
    limit: int | None = None
    path: str | None = None
    value: str | None = None
    body_excerpt: str | None = None

    _exit_code = 65


class DoubtfulDataError(ResponseError):
    """The data of a complete response look wrong, and `on_doubt` does not accept that.

    What it would have replaced is unchanged.
    """


class StreamInterruptedError(DataAccessError):
    """A stream was cut off after rows were delivered; those rows are not a complete result.

    Attributes:
        rows_yielded: Number of rows delivered.
    """

    rows_yielded: int | None = None

    _exit_code = 69


class WaitTimeoutError(DataAccessError, TimeoutError):
    """An export did not end in time.

    Attributes:
        last: The last response, if there was one.
    """

    last: dict[str, Any] | None = None

    _exit_code = 75


class SegmentExportError(DataAccessError):
    """An entry of a segment export has ended and failed: its `responseCode` is not 200.

    Attributes:
        entries: All entries of the export.
    """

    entries: list[ExportEntry] = []  # noqa: RUF012 - no error changes it

    _exit_code = 69


class ScanIncompleteError(DataAccessError):
    """Some tasks of a run failed; the others are done and kept. Or a folder that is read lacks days of the scan.

    Attributes:
        failed: The error of each failed task, by task id, which begins with its day; empty if a folder is read.
        report: The `FolderReport` of the run; None if a folder is read.
    """

    failed: dict[str, DataAccessError] = {}  # noqa: RUF012 - no error changes it
    report: FolderReport | None = None
    _exit_code = 69

    @property
    def exit_code(self) -> int:
        """75 if a task may succeed later; 65 if the data of one are wrong; else the code that all tasks have."""
        codes = {error.exit_code for error in self.failed.values()}
        if self.retryable or (len(codes) != 1 and _WRONG_DATA not in codes):
            return super().exit_code
        return _WRONG_DATA if _WRONG_DATA in codes else codes.pop()


class FolderError(DataAccessError):
    """The folder of a run cannot be used. Tasks that were finished before are kept.

    A file that the system cannot read or write is a `FileError`.

    Attributes:
        reason: `mismatch` if the folder belongs to a different query or service, or to another version of this package;
            `corrupt` if a file was changed or damaged since it was written; `locked` for a `FolderLockedError`; else
            `unusable`.
        path: The file or folder.
        field: The first argument that differs; `format` for another version.
        day: The day of a corrupt file, as `2024-01-15`, if it has one.
    """

    reason: str | None = None
    path: str | None = None
    field: str | None = None
    day: str | None = None

    _exit_code = 74

    @property
    def exit_code(self) -> int:
        """64 for another query, 65 for a corrupt file, else 74; 75 if the same call may succeed later."""
        codes = {"mismatch": 64, "corrupt": 65}
        return super().exit_code if self.retryable else codes.get(self.reason or "", self._exit_code)


class FolderLockedError(FolderError):
    """Another run uses the folder.

    Attributes:
        pid: Its process id, if known.
        host: Its machine, for a folder in an object store.
    """

    pid: int | None = None
    host: str | None = None

    _exit_code = 75


class FileError(DataAccessError, OSError):
    """A file cannot be read or written. A file that existed before is unchanged.

    Attributes:
        errno: The error number of the operating system, such as `errno.ENOSPC`, if there is one.
        path: The file.
    """

    errno: int | None = None
    path: str | None = None

    _exit_code = 74


class SandboxError(DataAccessError):
    """The sandbox cannot do what was requested."""

    _exit_code = 69


class ClientClosedError(DataAccessError, RuntimeError):
    """The client is closed, or a handle made before a fork is used after it; make a new one."""


class InternalError(DataAccessError):
    """A bug in this package. Please report it; the client stays usable."""


class DataAccessWarning(UserWarning):
    """The base class of all warnings of this package."""


class AbsentAttributeWarning(DataAccessWarning):
    """A requested attribute is missing, not null, from every record; is it misspelled?"""


class EmptyResultWarning(DataAccessWarning):
    """Nothing was found on any of several days, or the conditions of the search may explain why."""


class IncompleteWarning(DataAccessWarning):
    """A response may not hold all rows."""


class StrayDayWarning(DataAccessWarning):
    """Rows do not fit the requested days: the service may cut its days in another zone, or include those named."""


class ShrunkWarning(DataAccessWarning):
    """A response has much less than the file of a run that it would replace; the file was kept."""


class MissingIdsWarning(DataAccessWarning):
    """A list of ids of customers found fewer customers; `Table.missing_ids()` has the ids without a row."""


class TimezoneWarning(DataAccessWarning):
    """Days are sent to a platform and `timezone` was not set: in another time zone days are lost in silence."""


class SandboxWarning(DataAccessWarning):
    """The data is synthetic: it comes from the sandbox."""


for _name in __all__:
    public(globals()[_name])


def __dir__() -> list[str]:
    """The exceptions and warnings, for tab completion."""
    return __all__
