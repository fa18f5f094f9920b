"""The exceptions and warnings of `dataaccess`, drawn as a tree. They pickle, without values of records.

DataAccessError                      operation attempts elapsed request_id history hint retryable
├─ ConfigError (ValueError)             problems
├─ ValidationError (ValueError)         problems
├─ TransportError                       no complete, trustworthy HTTP response
│  ├─ ConnectError (ConnectionError)    phase: dns tcp proxy tls
│  │  ├─ TlsError                       reason
│  │  └─ ProxyError                     status
│  ├─ RequestTimeoutError (TimeoutError)    phase: connect headers body stall deadline
│  ├─ ConnectionLostError (ConnectionError) received
│  │  └─ TruncatedResponseError
│  └─ MalformedHttpError                received
├─ ApiError                             status code api_message data code_message body_excerpt
│  ├─ PermissionDeniedError
│  ├─ ThrottledError                    retry_after
│  ├─ ServerError
│  ├─ RequestRejectedError
│  └─ RedirectRefusedError              location_host
├─ ResponseError                        HTTP fine, content breaks the contract
│  ├─ NotJsonError                      content_type body_excerpt
│  ├─ InvalidJsonError                  offset
│  ├─ EnvelopeError                     field
│  ├─ RecordError                       row column offset value
│  ├─ ResponseTooLargeError             what limit path
│  └─ DoubtfulDataError                 the data look wrong, and on_doubt= does not accept that
├─ StreamInterruptedError               rows_yielded
├─ WaitTimeoutError (TimeoutError)      last
├─ SegmentExportError                   entries
├─ ScanError
│  ├─ ScanIncompleteError               failed report
│  └─ FolderError                       path
│     ├─ FolderFileError (FileError)
│     ├─ FolderMismatchError            field
│     ├─ FolderCorruptError             day
│     └─ FolderLockedError              pid host
├─ FileError (OSError)                  errno path
├─ SandboxError
├─ ClientClosedError (RuntimeError)
├─ ForkedHandleError (RuntimeError)
└─ InternalError                        a bug in this package

DataAccessWarning (UserWarning)
├─ AbsentAttributeWarning               a requested attribute is missing from every record
├─ EmptyResultWarning                   nothing was found, and the conditions may explain why
├─ IncompleteWarning                    a response may not hold all rows
├─ StrayDayWarning                      rows of a day that was not requested
├─ ShrunkWarning                        a response has much less than the file that it would replace
├─ MissingIdsWarning                    a list of ids found fewer customers
├─ TimezoneWarning                      days are sent to a platform, and timezone was not set
├─ RecordingWarning                     a client records its exchanges into a file
└─ SandboxWarning                       the data is synthetic
"""

from typing import TYPE_CHECKING

from dataaccess._public import public
from dataaccess.errors._base import (
    ClientClosedError,
    ConfigError,
    DataAccessError,
    ForkedHandleError,
    InternalError,
    SandboxError,
    ValidationError,
)
from dataaccess.errors._response import (
    ApiError,
    DoubtfulDataError,
    EnvelopeError,
    InvalidJsonError,
    NotJsonError,
    PermissionDeniedError,
    RecordError,
    RedirectRefusedError,
    RequestRejectedError,
    ResponseError,
    ResponseTooLargeError,
    ServerError,
    ThrottledError,
)
from dataaccess.errors._scan import (
    FileError,
    FolderCorruptError,
    FolderError,
    FolderFileError,
    FolderLockedError,
    FolderMismatchError,
    ScanError,
    ScanIncompleteError,
    SegmentExportError,
    StreamInterruptedError,
    WaitTimeoutError,
)
from dataaccess.errors._text import Argument as Argument
from dataaccess.errors._transport import (
    ConnectError,
    ConnectionLostError,
    MalformedHttpError,
    ProxyError,
    RequestTimeoutError,
    TlsError,
    TransportError,
    TruncatedResponseError,
)
from dataaccess.errors._warning import (
    AbsentAttributeWarning,
    DataAccessWarning,
    EmptyResultWarning,
    IncompleteWarning,
    MissingIdsWarning,
    RecordingWarning,
    SandboxWarning,
    ShrunkWarning,
    StrayDayWarning,
    TimezoneWarning,
)

if TYPE_CHECKING:
    from dataaccess.errors._problem import Problem

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
    "EnvelopeError",
    "FileError",
    "FolderCorruptError",
    "FolderError",
    "FolderFileError",
    "FolderLockedError",
    "FolderMismatchError",
    "ForkedHandleError",
    "IncompleteWarning",
    "InternalError",
    "InvalidJsonError",
    "MalformedHttpError",
    "MissingIdsWarning",
    "NotJsonError",
    "PermissionDeniedError",
    "Problem",
    "ProxyError",
    "RecordError",
    "RecordingWarning",
    "RedirectRefusedError",
    "RequestRejectedError",
    "RequestTimeoutError",
    "ResponseError",
    "ResponseTooLargeError",
    "SandboxError",
    "SandboxWarning",
    "ScanError",
    "ScanIncompleteError",
    "SegmentExportError",
    "ServerError",
    "ShrunkWarning",
    "StrayDayWarning",
    "StreamInterruptedError",
    "ThrottledError",
    "TimezoneWarning",
    "TlsError",
    "TransportError",
    "TruncatedResponseError",
    "ValidationError",
    "WaitTimeoutError",
]

for _name in set(__all__) - {"Problem"}:
    public(globals()[_name])
Argument.__module__ = __name__

if not TYPE_CHECKING:  # so that type checkers report a name that does not exist

    def __getattr__(name: str) -> object:
        """Loads `Problem` at its first use: a dataclass takes longer to import than all of these exceptions."""
        if name != "Problem":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from dataaccess.errors._problem import Problem

        globals()[name] = Problem
        return Problem


def __dir__() -> list[str]:
    """The exceptions and warnings, for tab completion."""
    return __all__
