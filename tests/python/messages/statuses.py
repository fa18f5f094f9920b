"""What the service or a gateway responds with in place of a result."""

from __future__ import annotations

import gzip
import json
from typing import Any

from support.compressed import packed, zstd
from support.messages import Cases, data, responses
from support.raw_server import RESPONSE, http

STATUSES = Cases()
RESPONSES = Cases()

REFUSAL = {"code": 301, "message": "Permission denied", "data": "You don't have permission to access this request!"}


def after(seconds: int, status: str) -> bytes:
    """A response with Retry-After."""
    return http(b"", status, headers=(f"Retry-After: {seconds}",))


def envelope(**members: Any) -> bytes:
    """A response whose envelope differs in these members."""
    return http({**RESPONSE, **members})


STATUSES.add(
    responses(
        {
            "HTTP 401": http(b"", "401 Unauthorized"),
            "HTTP 403 with the refusal of the service": http(REFUSAL, "403 Forbidden"),
            "HTTP 403 with a page": http(b"<html>no", "403 Forbidden", content_type="text/html"),
            "HTTP 404": http(b"", "404 Not Found"),
            "HTTP 400 with a reason": http(
                {"code": 400, "message": "not accepted", "data": "attrs[1] is unknown"}, "400 Bad Request"
            ),
            "HTTP 400 with a codeMessage": http(
                {"code": 400, "message": "not accepted", "codeMessage": "BAD_ATTRS"}, "400 Bad Request"
            ),
            "HTTP 413": http(b"", "413 Too Large"),
            "HTTP 429": after(0, "429 Slow"),
            "HTTP 500": http(b"", "500 Broken"),
            "HTTP 502 with a page": http(b"<html>bad", "502 Bad Gateway", content_type="text/html"),
            "HTTP 204": b"HTTP/1.1 204 Empty\r\n\r\n",
            "HTTP 201": http(RESPONSE, "201 Created"),
            "HTTP 302": http(b"", "302 Found"),
            "HTTP 307 to another host": http(b"", "307 Moved", headers=("Location: http://login.example.com/x",)),
            "HTTP 308 to a path": http(b"", "308 Moved", headers=("Location: /v2",)),
            "code 301": envelope(code=301, data="no"),
            "code 400": envelope(code=400, message="unknown attribute"),
            "data.status false": envelope(data={"status": False, "data": []}),
        }
    )
)
STATUSES.add(responses({"HTTP 503 with a pause that is longer than retry_for": after(999, "503 Busy")}, retry_for=60))

BODY = json.dumps(RESPONSE).encode()
GZIP = gzip.compress(BODY)


def record(value: bytes) -> bytes:
    """A response with this text as the value of `n` in its second record."""
    return http(b'{"code":200,"data":{"status":true,"data":[{"n":"1"},{"n":' + value + b"}]}}")


RESPONSES.add(
    responses(
        {
            "a login page": http(b"<html>login", content_type="text/html"),
            "another charset": http(b"\xfe\xff", content_type="application/json; charset=utf-16"),
            "a gateway that says why": http(b"", "504 No", headers=("Proxy-Status: cdn; error=connection_timeout",)),
            "a page without a Content-Type": http(b"<html>login", content_type=""),
            "null": http(b"null"),
            "an empty body": http(b""),
            "half a body": http(BODY[:-9]),
            "a body and more": http(BODY + b"x"),
            "an unexpected byte": http(BODY.replace(b'"code": 200', b'"code": *')),
            "128 brackets": http(b'{"x":' + b"[" * 100_000),
            "a long number": http(b'{"x":' + b"9" * 2_000),
            "a key twice": http(b'{"code":200,"data":[],"code":301}'),
            "a key that is no string": http(b'{"code":200,"\\ud800":1}'),
            "a value that is not valid JSON": record(b'"\xff"'),
            "a value that is NaN": record(b"NaN"),
            "a string with a lone surrogate": record(b'"\\ud800"'),
            "a number beyond a float": record(b"1e400"),
            "a record that is no object": data({"status": True, "data": [{"n": "1"}, 7]}),
            "a column named twice in a record": http(b'{"code":200,"data":{"status":true,"data":[{"n":1,"n":2}]}}'),
            "no code": http({"data": {"status": True, "data": []}}),
            "a code that is a string": envelope(code="200"),
            "a code that is null": envelope(code=None),
            "a status that is a string": envelope(data={"status": "yes", "data": []}),
            "data that is a string": envelope(data="none"),
            "data.data that is an object": envelope(data={"status": True, "data": {"n": 1}}),
            "data.data that is absent beside others": envelope(data={"status": True, "rows": [{"n": 1}]}),
            "no data": http({"code": 200, "message": "ok"}),
            "many keys": http({"code": 200, **{f"k{number}": 1 for number in range(800_000)}}),
            "gzip that is cut off": packed(GZIP[:-1]),
            "gzip that is damaged": packed(GZIP[:-5] + b"\0" + GZIP[-4:]),
            "gzip that is none": packed(BODY),
            "gzip and more": packed(GZIP + b"\n"),
            "zstd that is cut off": packed(zstd(BODY)[:-1], "zstd"),
            "zstd that is none": packed(GZIP, "zstd"),
            "two encodings": packed(gzip.compress(GZIP), "gzip, gzip"),
            "an encoding that was not requested": packed(BODY, "br"),
            "UTF-8 as an encoding": packed(BODY, "utf-8"),
            "a bomb that is no JSON": packed(gzip.compress(bytes(2**24))),
        }
    )
)
RESPONSES.add(
    responses(
        {"an export without entries": data({"meta": {"total": 1}}), "entries that are no list": data({"entries": 7})},
        lambda client: client.download_segment(7),
    )
)
