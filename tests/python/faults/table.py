"""The table of faults: what happens, what the client does, and how a server behaves so.

`docs/reliability.md` is printed from it. A fault without a case needs a set-up of its own: its test has the marker
`fault` with the id.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from support import kinds
from support.compressed import packed, spaces, zstd
from support.operations import ENTRIES, FEW, GOOD, OF_ROWS, WHOLE, Entry
from support.raw_server import Responder, always, closing, http, resetting

import dataaccess as da

BODY = json.dumps(GOOD).encode()
GZIP = gzip.compress(BODY)
# The last one may succeed in another call, later.
NEVER, ONCE, RETRIED, LATER = "not retried", "retried once", "retried", "not retried by the same call"
# The beginning of an envelope.
MANY_KEYS = b'{"code":200,"data":[],' + b",".join(b'"k%d":1' % number for number in range(30))

# Codes and states of other types, and objects that have records or an error in another place.
CODES: list[Any] = ["200", "", None, True, [200], {}, 200.5, 1e300, 2**70]
STATES: list[Any] = ["true", 0, 1, [], {}]
NO_RECORDS: list[Any] = ["", "none", 0, False]
MISPLACED: list[dict[str, Any]] = [
    {"error": "backend timeout"},
    {"total": 1, "records": [{"id": "a"}]},
    {"status": True, "rows": [{"id": "a"}]},
    {"status": True, "result": {"items": []}},
]


@dataclass(frozen=True)
class Case:
    """A response of a server, and the error that it raises."""

    respond: Responder
    error: type[da.DataAccessError]
    retried: str = NEVER
    field: str | None = None
    of: tuple[Entry, ...] = ENTRIES
    retry_for: float | None = None


def chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n", headers: bytes = b"") -> bytes:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + headers + b"\r\n"
    return head + b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + end


def envelope(**members: Any) -> Responder:
    return always(http({**GOOD, **members}))


def until_close(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body


def failure(status: str, body: bytes = b"", *headers: str) -> Responder:
    return always(http(body, status, content_type="text/html", headers=headers))


def statuses(numbers: Iterable[int], error: type[da.DataAccessError], retried: str = NEVER) -> dict[str, Case]:
    """Statuses whose body would be a result."""
    return {f"H26-{number}": Case(always(http(BODY, f"{number} Reason")), error, retried, of=FEW) for number in numbers}


def value(written: bytes) -> Responder:
    return always(http(BODY.replace(b'"a"', written)))


CASES: dict[str, Case] = {
    "C4-reset-without-a-byte": Case(resetting(b""), kinds.Lost, RETRIED),
    "H1-closed-without-a-byte": Case(closing(b""), kinds.Lost, RETRIED),
    "H3-half-a-status-line": Case(closing(b"HTTP/1.1 2"), kinds.Lost, RETRIED),
    "H3-half-the-headers": Case(closing(WHOLE[:40]), kinds.Lost, RETRIED),
    "H4-headers-without-a-body": Case(closing(WHOLE.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"), kinds.Truncated, RETRIED),
    "H4-body-short-of-its-length": Case(closing(WHOLE[:-9]), kinds.Truncated, RETRIED),
    "H5-reset-in-the-body": Case(resetting(WHOLE[:-9]), kinds.Lost, RETRIED),
    "H6-no-last-chunk": Case(closing(chunked(BODY, end=b"")), kinds.Truncated, RETRIED),
    "H6-cut-inside-a-chunk": Case(closing(chunked(BODY)[:-20]), kinds.Truncated, RETRIED),
    "H6-a-chunk-without-size": Case(closing(chunked(end=b"zz\r\n")), kinds.Malformed, ONCE),
    "H7-length-too-small": Case(closing(http(GOOD, length=len(BODY) - 5)), kinds.Truncated, RETRIED),
    "H8-closed-early-without-length": Case(closing(until_close(BODY[:-2])), kinds.Truncated, RETRIED),
    "H10-two-lengths": Case(always(http(GOOD, headers=("Content-Length: 3",))), kinds.Malformed),
    "H10-no-http-at-all": Case(closing(b"hello, this is a mail server\r\n\r\n"), kinds.Malformed),
    "H11-another-coding": Case(always(http(GOOD, headers=("Transfer-Encoding: x",))), kinds.Malformed),
    "H23-failure-with-two-ends": Case(
        always(
            b"HTTP/1.1 500 Broken\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n<html>\r\n0\r\n\r\n"
        ),
        da.ServerError,
        RETRIED,
    ),
    "H12-a-header-of-a-megabyte": Case(always(http(GOOD, headers=("X-A: " + "a" * 2**20,))), kinds.Malformed),
    "H16-gzip-cut": Case(always(packed(GZIP[:-1])), kinds.Truncated, RETRIED),
    "H16-gzip-cut-in-the-second-member": Case(always(packed(GZIP + GZIP[:9])), kinds.Truncated, RETRIED),
    "H16-gzip-without-a-byte": Case(always(packed(b"")), kinds.Truncated, ONCE),
    "H16-gzip-corrupt": Case(always(packed(GZIP[:-5] + b"\0" + GZIP[-4:])), kinds.Malformed, ONCE),
    "H16-gzip-lie": Case(always(packed(BODY)), kinds.Malformed, ONCE),
    "H16-gzip-and-more": Case(always(packed(GZIP + b"\n")), kinds.Malformed, ONCE),
    "H16-gzip-of-half-a-response": Case(always(packed(gzip.compress(BODY[:-1]))), kinds.Truncated, RETRIED),
    "H16-zstd-cut": Case(always(packed(zstd(BODY)[:-1], "zstd")), kinds.Truncated, RETRIED),
    "H16-zstd-lie": Case(always(packed(GZIP, "zstd")), kinds.Malformed, ONCE),
    "H16-zstd-and-more": Case(always(packed(zstd(BODY) + b"{}", "zstd")), kinds.Malformed, ONCE),
    "H16-zstd-without-a-byte": Case(always(packed(b"", "zstd")), kinds.Truncated, ONCE),
    "H16-two-layers": Case(always(packed(gzip.compress(GZIP), "gzip, gzip")), kinds.Malformed),
    "H16-compressed-unasked": Case(always(packed(BODY, "br")), kinds.Malformed),
    "H16-compressed-failure": Case(always(packed(b"\x1f\x8b", status="503 Busy")), da.ThrottledError, RETRIED),
    "H16-unreadable-failure": Case(always(packed(b"?", "br", status="503 Busy")), da.ThrottledError, RETRIED),
    "H17-bomb-that-is-no-json": Case(always(packed(gzip.compress(bytes(2**24)))), kinds.NotJson),
    "H17-bomb-of-zstd": Case(always(packed(zstd(BODY + bytes(2**22)), "zstd")), kinds.InvalidJson),
    "H17-bomb-as-a-failure": Case(always(packed(spaces(4), status="503 Busy")), da.ThrottledError, RETRIED),
    **{
        f"H18-{number}": Case(failure(f"{number} Moved", b"", "Location: http://127.0.0.2:9/x"), kinds.Redirect, of=FEW)
        for number in range(300, 309)
    },
    "H19-any-401": Case(failure("401 Unauthorized"), da.PermissionDeniedError),
    "H19-permission-in-a-403": Case(always(http({"code": 301}, "403 Forbidden")), da.PermissionDeniedError),
    "H20-permission-in-a-200": Case(envelope(code=301, data="no"), da.PermissionDeniedError),
    "H20-permission-behind-rows": Case(always(http({"data": GOOD["data"], "code": 301})), da.PermissionDeniedError),
    **{
        f"H21-code-{code}": Case(envelope(code=code), da.ApiError, of=FEW)
        for code in (0, -1, 201, 299, 300, 400, 501, 2**53)
    },
    **{f"H21-code-{code}": Case(envelope(code=code), da.ServerError, RETRIED) for code in (408, 500, 502, 504)},
    "H21-code-503": Case(envelope(code=503), da.ThrottledError, RETRIED),
    # It asks for a pause of a second.
    "H21-code-429": Case(envelope(code=429), da.ThrottledError, RETRIED, retry_for=1.9),
    "H21-code-behind-rows": Case(always(http({"data": GOOD["data"], "code": 501})), da.ApiError),
    "H21-status-false": Case(envelope(data={**GOOD["data"], "status": False}), da.ApiError),
    "H21-code-absent": Case(always(http({"data": GOOD["data"]})), kinds.Envelope),
    **{f"H21-code-is-{code!r}": Case(envelope(code=code), kinds.Envelope, of=FEW) for code in CODES},
    **{
        f"H21-status-is-{status!r}": Case(envelope(data={**GOOD["data"], "status": status}), kinds.Envelope, of=FEW)
        for status in STATES
    },
    **{
        f"H22-403-{body.decode()}": Case(failure("403 Forbidden", body), da.RequestRejectedError, of=FEW)
        for body in (b"<html>no", b"", b"null", b"[301]", b'{"code":"301"}', b'{"code":403}', b'{"code":301')
    },
    "H23-html-502": Case(failure("502 Bad Gateway", b"<html>bad"), da.ServerError, RETRIED),
    "H24-html-200": Case(failure("200 OK", b"<html>login"), kinds.NotJson),
    "H25-429": Case(failure("429 Slow", b"", "Retry-After: 0"), da.ThrottledError, RETRIED),
    "H25-503": Case(failure("503 Busy", b"", "Retry-After: 0"), da.ThrottledError, RETRIED),
    "H25-503-for-too-long": Case(failure("503 Busy", b"", "Retry-After: 999"), da.ThrottledError, LATER),
    "R9-no-in-a-503": Case(failure("503 Busy", b"", "X-Should-Retry: false"), da.ThrottledError, of=FEW),
    "R9-no-in-a-502": Case(failure("502 Bad", b"", "X-Should-Retry: FALSE"), da.ServerError, of=FEW),
    "R9-no-in-a-200": Case(
        always(http({**GOOD, "code": 503}, headers=("X-Should-Retry: false",))), da.ThrottledError, of=FEW
    ),
    "R9-no-in-a-204": Case(always(b"HTTP/1.1 204 Empty\r\nx-should-retry: false\r\n\r\n"), kinds.Truncated, of=FEW),
    "R9-yes-in-a-409": Case(failure("409 Taken", b"", "X-Should-Retry: true"), da.RequestRejectedError, RETRIED),
    "R9-yes-in-a-501": Case(failure("501 Not", b"", "X-Should-Retry: true"), da.ServerError, RETRIED, of=FEW),
    "R9-yes-in-a-401": Case(failure("401 No", b"", "X-Should-Retry: true"), da.PermissionDeniedError, of=FEW),
    "R9-yes-in-a-403": Case(
        always(http({"code": 301}, "403 No", headers=("X-Should-Retry: true",))), da.PermissionDeniedError, of=FEW
    ),
    "R9-yes-in-a-200": Case(
        always(http({**GOOD, "code": 400}, headers=("X-Should-Retry: true",))), da.ApiError, of=FEW
    ),
    "R9-yes-in-a-302": Case(
        failure("302 Found", b"", "Location: http://127.0.0.2:9/x", "X-Should-Retry: true"), kinds.Redirect, of=FEW
    ),
    "R9-nonsense-in-a-409": Case(failure("409 Taken", b"", "X-Should-Retry: 1"), da.RequestRejectedError, of=FEW),
    **statuses((408, 500, 502, 504, 507, *range(520, 528), 529, 530), da.ServerError, RETRIED),
    **statuses((501, 505, 506, 508, 519, 528, 531, 599), da.ServerError),
    **statuses((400, 402, 404, 407, 409, 418, 425, 428, 430, 499), da.RequestRejectedError),
    **statuses((201, 202, 203, 206, 299), da.ApiError),
    "H26-304": Case(always(b"HTTP/1.1 304 Same\r\n\r\n"), kinds.Redirect),
    "H27-413": Case(failure("413 Large"), da.RequestRejectedError),
    "H28-204": Case(always(b"HTTP/1.1 204 Empty\r\n\r\n"), kinds.Truncated, ONCE),
    "H28-empty-200": Case(always(http(b"")), kinds.Truncated, ONCE),
    **{
        f"H29-data-is-{data!r}": Case(envelope(data=data), kinds.Envelope, field="data", of=OF_ROWS)
        for data in (*NO_RECORDS, [[]])
    },
    **{
        f"H29-data.data-is-{data!r}": Case(envelope(data={"data": data}), kinds.Envelope, field="data.data", of=OF_ROWS)
        for data in NO_RECORDS
    },
    **{
        f"H29-data-has-{next(reversed(data))}": Case(
            always(http({"code": 200, "data": data})), kinds.Envelope, field="data.data", of=OF_ROWS
        )
        for data in MISPLACED
    },
    "H29-records-beside-data": Case(
        always(http({"code": 200, "records": [{"id": "a"}]})), kinds.Envelope, field="data", of=OF_ROWS
    ),
    "H29-null": Case(always(http(b"null")), kinds.Envelope),
    "J1-not-a-number": Case(value(b"NaN"), kinds.InvalidJson),
    "J1-beyond-a-float": Case(value(b"1e400"), kinds.Record, of=OF_ROWS),
    "J4-number-of-1025-digits": Case(value(b"1" * 1_025), kinds.InvalidJson),
    "J5-too-deep": Case(always(http(b'{"x":' + b"[" * 100_000)), kinds.InvalidJson),
    "J6-code-twice": Case(always(http(b'{"code":200,"data":[],"code":301}')), kinds.Envelope),
    "J6-code-twice-among-many": Case(always(http(MANY_KEYS + b',"code":301}')), kinds.Envelope),
    "J6-one-of-many-twice": Case(always(http(MANY_KEYS + b',"k29":301}')), kinds.Envelope),
    "J7-lone-surrogate": Case(value(b'"\\ud800"'), kinds.Record, of=OF_ROWS),
    "J8-invalid-utf8": Case(value(b'"\xff"'), kinds.InvalidJson),
    "J10-trailing-bytes": Case(always(http(BODY + b"x")), kinds.InvalidJson),
    "J13-a-record-is-no-object": Case(envelope(data={"data": [{"id": "a"}, 7]}), kinds.Record, of=OF_ROWS),
}

# A line has the ids, what happens and what the client does. `*` is what the cases of these ids expect. Where some are
# retried and some are not, `{retried}`, `{once}`, `{later}` and `{never}` are what these expect.
SECTIONS: dict[str, str] = {
    "No connection": """
C1 | The host name is unknown. | `ConnectError` with phase `dns`. Retried.
C2 | No process listens. | `ConnectError` with phase `tcp` and the address. Retried. A single call gives up after 4 s, unless `retry_for` is given or the service responded before.
C3 | Nothing answers a connection attempt. | `RequestTimeoutError` with phase `connect` after 10 s for TCP, proxy and TLS together. With a proxy: `ConnectError` with phase `proxy`. Retried.
C5 | One of two addresses of a host is dead. | The caller does not notice.
C6 | The certificate comes from an unknown CA, is for another name, expired or too weak. A server offers neither TLS 1.2 nor a safe cipher, or requires a client certificate. | `ConnectError` with phase `tls` and a `reason`. No request is sent, and nothing is retried. An expired certificate is reported with the clock of this machine.
C7 | The service uses a private CA. | It is trusted if the first of these that is set has it: `ca_bundle`, `DATAACCESS_CA_BUNDLE`, `SSL_CERT_FILE` with `SSL_CERT_DIR`, `REQUESTS_CA_BUNDLE`, the system. The error names the setting. A configured path without a readable certificate is a `ConfigError` before anything is sent.
C8 | A user wants to turn verification off. | There is no such switch.
C9 | The address is plain HTTP to another machine. | `ConfigError`, unless `allow_http=True`.
C10 | A port speaks no TLS, or plain HTTP meets a port with TLS. | `ConnectError` with phase `tls` at once: "does not speak TLS". Or a `TransportError` that names `https://`.
C11 | A proxy requires a password, refuses, fails or dies. | `ConnectError` with phase `proxy`, the status of the `CONNECT`, the proxy and its setting. Statuses 408, 429 and from 500 on are retried, and so is a proxy without a status. The password is never shown.
C12 | The environment has a proxy, and the service runs on this machine. | The proxy never sees the request, unless it is given as `proxy`.
C13 | The clock of this machine is wrong. | A date in `Retry-After` is compared with the `Date` header beside it.
P13 | The process has too many open files. | `ConnectError` that says so. The client works again when there are fewer.
""",
    "Responses that are not a result": """
C4 H3 H5 | The connection is closed or reset within the headers, or reset within the body. TLS ends without `close_notify`. | *
H4 H6 H7 H8 | A body ends before its length, its last chunk or the end of its JSON, or goes on behind its length. | {retried} A chunk without a size: {once}
H10 | Two lengths, or no HTTP at all. | *
H11 | A length beside chunks or beside `Transfer-Encoding: identity`. | With chunks the length is ignored, and bytes behind them are no response. With `identity` the length counts. Another coding: *
H12 | Very many or very large headers. | The client reads 256 headers and 400 KiB. Beyond: *
H16 | Gzip or zstd is cut off, corrupt, followed by other data than zero bytes, compressed twice, or in an encoding that was not requested. | Cut off, or an HTTP failure: {retried} Empty, corrupt or with other data behind it: {once} Compressed twice or in another encoding: {never}
H17 | A small response becomes huge when it is decompressed. | The download ends at the first byte that is not JSON, or with `ResponseError` (`too_large`) at 8 GiB. Rows count against `max_result_bytes`. Batches take no more than one batch at a time.
H18 | A redirect. | * `location_host` says where it led. The token goes nowhere else.
H19 H20 | The service refuses the token: 401, or its permission failure in a 403 or 200, also behind rows. | * A `token` callable is asked once for another token, and the request is sent again with it.
H21 | The code is not 200, `status` is false, or one of them has another type. | A code that is retried as an HTTP status, such as 503: {retried} Other values: {never} A `status` that is null or absent is accepted.
H22 H27 | A 403 without the permission failure of the service, or a 413. | *
H23 | A gateway sends HTML with a 502. | * The message names the content type, and only `body_excerpt` has the page.
H24 | HTML with a 200, as of a login page. | * After a first good response of the service it is retried.
H25 | 429 or 503 with `Retry-After`. | {retried} A wait longer than `retry_for`: {later}
H26 | Any other status from 200 to 599. | 408, 500, 502, 504, 507, 520 to 527, 529, 530: {retried} Other statuses: {never} The client never takes rows from such a response.
H28 | 204, or an empty 200. | * After a first good response of the service an empty 200 is retried for `retry_for`.
H29 | `data` or `data.data` is empty, null or absent. | No rows, and `stats.empty_shape` says why. An `IncompleteWarning` names responses without `data`, and a run does not finish such a task. Other members of the response may hold records or an error. Then: *
H30 | A failure code behind the rows. | A collected call has no result. Batches end with `StreamInterruptedError`, whose cause is the failure.
J1 | `NaN`, `Infinity`, a number beyond any float. | *
J2 J3 | Integers beyond 64 bits, and `7.0` or `1e3` in an integer column. | The exact number in rows and columns, or `ResponseError` (`record`).
J4 J5 J12 | A number of more than 1,024 bytes, more than 128 open brackets, a record or an envelope of more than 64 MiB. | * An oversized record is a `ResponseError` (`too_large`).
J6 | A key occurs twice. | In the envelope: * In a record the last one counts.
J7 | Half a surrogate pair in a string. | In a requested column: * Elsewhere `ResponseError` (`invalid_json`).
J8 J9 J10 | Bytes that are not UTF-8, a byte order mark that is not the first character, data behind the end. | *
J11 | A zero character in a string. | It is kept.
J13 | A value of another type than its column, or a record that is not an object. | * The error has row and column, and no message shows the value. Keys that were not requested are kept in rows and counted for columns.
J14 J15 | A body is split at any byte, or holds JSON that parsers disagree about. | The same rows or the same error for each split.
""",
    "Slow responses and outages": """
H1 | A connection is closed without a byte of a response. | * On a reused connection the client sends the request again immediately, one time in each call. It does not do so with `retry_for=0`, or for a `post` without `idempotent=True`.
H2 | The service closes idle connections while the next request is sent. | No failure and no retry. At most one request in a hundred arrives twice.
H9 | Responses of a call are cut off at the same byte, beyond 8 MiB and for 5 s. | No further request. The error says that a proxy probably limits the size of responses.
H13 H14 H15 | Endless `100 Continue`, silence, headers or bodies that arrive very slowly. | `RequestTimeoutError`. Phase `headers` after `timeout`: not retried. Phase `body` after 30 s of silence, or phase `stall` for a slow body: retried. The time of a slow consumer does not count.
R1 | `Retry-After` in seconds, as a date, as a Unix time, or as nonsense, or `retry-after-ms`, which wins. | The client waits that long. A wait longer than `retry_for` ends the call or run at once. Nonsense is ignored. It counts only on 429 and 503.
R2 | An outage. | Calls and scans retry for `retry_for`. After five failures in a row one request at a time probes, up to 30 s apart. A scan ends with one error, and a run keeps its finished tasks. Failures of other calls do not end a call.
R3 | Forked workers fail together. | Each has random pauses of its own.
R4 | A 429, or a 503 with `Retry-After`. | All requests of the client wait that long, also those that are queued. After the wait the client sends fewer requests a second than before. Then the rate grows.
R5 | Hundreds of failures. | Only reusable connections stay open.
R6 R7 | A consumer stops taking batches, and a proxy closes unread connections. | The response waits at the service and not in memory. Responses that were read ahead are requested again. Each row comes once.
R8 | A `token` callable fails or hangs. | A valid token is sent until it expires. The callable has 60 s, then it is called again. Its failures are retried for `retry_for`, unless its exception shows a mistake in it.
R9 | `x-should-retry: false` or `true`. | `false` ends the retries of a status or `code`. `true` retries each status from 400 on for `retry_for`, but never a refused token. Anything else is ignored.
""",
    "The process, the interpreter and the event loop": """
P1 P2 | The process forks, whatever it is doing, or with a running sandbox. | The child works with connections of its own. A stream that began before, and the parent's sandbox, raise `ClientClosedError` in the child. The parent is not affected.
P3 P15 | Ctrl-C in any phase of a call, or while another library reads a scan. | `KeyboardInterrupt` within 150 ms, and the server sees the connection close. Another library returns, and no more requests are sent, except [where Python does not handle `SIGINT`](concurrency.md#ctrl-c).
P4 | Asyncio cancels a call, or its loop closes. | The connection closes within 50 ms. Nothing is printed.
P5 P8 | A synchronous call runs inside a loop, or one client serves sixteen threads. | Each call gets its own response. Memory and descriptors stay flat.
P6 | A token callable uses the client that it serves. | `ConfigError`. Another client can be used.
P7 | The interpreter exits with calls in flight. | It ends quietly, with its own exit code, and waits at most a second.
P10 P11 | A client, a scan or an exception is pickled. | It looks its token up where it is unpickled. A literal token does not pickle. Exceptions keep class, text and fields, except values of records.
P12 | A defect of this package: a panic. | `InternalError`. The client keeps working.
P14 | The package is imported. | No thread starts and no socket opens.
""",
    "Runs into a folder or an object store": """
S1 O1 | The process is killed at any moment. | The next run continues, and the folder has each row once. At most the tasks in flight are requested again. In a store, the lock of the killed run ends 120 s after its last renewal.
S2 | The disk is full, or a file may not grow. | `FileError`, an `OSError`, with `errno` and path. No partial file stays, and the next run continues.
S3 S14 | The folder has rows of another query or another service. | `FolderError` (`mismatch`) with the field that differs, before anything is sent. `same_service=True` allows another address, never a sandbox.
S4 O3 | Another run uses the folder. | `FolderLockedError` with its `pid` and, in a store, its `host`. Nothing is sent or written.
S5 O9 | A file is changed, truncated or missing. | `FolderError` (`corrupt`) with path and day, and `refresh` restores it. Missing files are requested again.
S6 | The token expires during a run. | A callable is asked once for all tasks. Without one: `PermissionDeniedError`, and a run with another token continues.
S7 | The response of a task is cut off anywhere. | The task is retried, and what was written of it is discarded.
S8 S15 | Rows change during or after a scan. | A scan is not a snapshot. `requested_at` says how old a file is. `settle` and `refresh` request days again.
S9 | Some tasks fail permanently. | The others are completed, then `ScanIncompleteError` has the error of each. Another run requests only these.
S10 | Another user owns the folder or can write to it. | `FolderError` with the `chmod` or `chown` that fixes it, before anything is sent. Unix only.
S11 | A day is not over, or may still change. | Each run requests it again until it is final. The report has it in `open_days` or `unsettled_days`.
S12 S16 | The service has fewer rows than before, or an attribute disappears. | With less than half of the rows, or without the attribute, the file is kept. A warning says so each night until a response replaces the file or `accept` takes it. A smaller loss of more than 10 % replaces the file, with a warning.
S13 | A run without days, with several requests, is interrupted. | The next run requests the rest. The run after that requests everything again.
S17 | A result looks wrong, and doubts are errors. | Nothing is replaced. The day is an error each night until it looks right or `accept` takes it.
S18 | Each day is a run of its own, and the service caps responses. | A run compares its days with up to a hundred files of other days. So it warns as a run of all days does.
O2 | Ctrl-C or a cancelled task ends a run into a store. | The lock is removed, also when the interpreter exits at once.
O4 O7 | The store ignores conditions, refuses the credentials or has no such bucket. | `FolderError` or `FileError` before anything is requested from the service.
O5 O12 | The store fails for a moment or is away for longer. | Retried for `retry_for`, then a `FileError` that is `retryable`.
O6 O8 | The store refuses an upload, or a part of it. | `FileError` with the URL. The object is as before, and the next run continues.
O10 | A store repeats credentials in its responses. | No text, field, pickle or traceback shows them.
O11 O13 | A run loses its lock, or another run writes an object meanwhile. | `FolderLockedError`. The objects of the other run stay.
""",
}


@dataclass(frozen=True)
class Fault:
    ids: tuple[str, ...]
    happens: str
    does: str


def faults(section: str) -> list[Fault]:
    cells = [line.split(" | ") for line in SECTIONS[section].strip().splitlines()]
    return [Fault(tuple(ids.split()), happens, does) for ids, happens, does in cells]


def fault_of(case: str) -> str:
    return case.partition("-")[0]
