"""Exceptions for a complete response that reports a failure or breaks the contract of the service."""

from __future__ import annotations

from dataaccess.errors._base import DataAccessError


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

    status: int | None
    code: int | None
    api_message: str | None
    data: str | None
    code_message: str | None
    body_excerpt: str | None

    _exit_code = 69


class PermissionDeniedError(ApiError):
    """The token is invalid, expired or lacks the scope; also any HTTP 401."""

    _exit_code = 77


class ThrottledError(ApiError):
    """The service asks to slow down (HTTP 429 or 503).

    Attributes:
        retry_after: Seconds of the header `Retry-After`, if the response has one.
    """

    retry_after: float | None


class ServerError(ApiError):
    """The service or a gateway failed (HTTP 408, and 5xx except 503)."""


class RequestRejectedError(ApiError):
    """The service, or a server in front of it, rejected the request (HTTP 4xx except 401, 408 and 429)."""


class RedirectRefusedError(ApiError):
    """The response is a redirect. Redirects are never followed: the token would be sent along.

    Attributes:
        location_host: Host of the redirect.
    """

    location_host: str | None


class ResponseError(DataAccessError):
    """The HTTP exchange succeeded, and the content breaks the contract of the service."""

    _exit_code = 65


class NotJsonError(ResponseError):
    """The body is not JSON; it may be a login page.

    Attributes:
        content_type: `Content-Type` of the response.
        body_excerpt: The first 200 characters of the body. It may have values of records, so it is in no message, log
            or pickle.
    """

    content_type: str | None
    body_excerpt: str | None


class InvalidJsonError(ResponseError):
    """The body is invalid JSON.

    Attributes:
        offset: Byte offset in the response body.
    """

    offset: int | None


class EnvelopeError(ResponseError):
    """The envelope breaks the contract of the service.

    Attributes:
        field: The member of the envelope.
    """

    field: str | None


class RecordError(ResponseError):
    """A record holds a value that is not allowed there.

    Attributes:
        row: Index of the record, from 0.
        column: The attribute; empty if the record is not an object.
        offset: Byte offset in the response body.
        value: The value, at most 200 bytes. It is customer data, so it is in no message, log or pickle.
    """

    row: int | None
    column: str | None
    offset: int | None
    value: str | None


class ResponseTooLargeError(ResponseError):
    """The response exceeds a limit.

    Attributes:
        what: `body`, `record`, `value`, `members` for the keys of the envelope, or `result` for the memory of all rows
            that a call returns (`max_result_bytes=`), or `footer` of a Parquet file with too many columns and rows.
        limit: Bytes; for `members`, a count.
        path: With `read_folder`, the file whose rows were too much.
    """

    what: str | None
    limit: int | None
    path: str | None


class DoubtfulDataError(ResponseError):
    """The data of a complete response look wrong, and `on_doubt=` or `on_shrink=` does not accept that.

    What it would have replaced is unchanged.
    """
