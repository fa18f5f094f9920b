"""What the service or a gateway responds with in place of a result."""

from __future__ import annotations

import gzip
import json
from typing import Any

from support.compressed import packed, zstd
from support.messages import Cases, User, ask, data
from support.raw_server import RESPONSE, http

REFUSAL = {"code": 301, "message": "Permission denied", "data": "You don't have permission to access this request!"}


def after(seconds: int, status: str) -> bytes:
    """A response with Retry-After."""
    return http(b"", status, headers=(f"Retry-After: {seconds}",))


def envelope(**members: Any) -> bytes:
    """A response whose envelope differs in these members."""
    return http({**RESPONSE, **members})


BODY = json.dumps(RESPONSE).encode()
GZIP = gzip.compress(BODY)


def record(value: bytes) -> bytes:
    """A response with this text as the value of `n` in its second record."""
    return http(b'{"code":200,"data":{"status":true,"data":[{"n":"1"},{"n":' + value + b"}]}}")


def names(user: User) -> dict[str, Any]:
    """What the calls use."""

    def search(response: bytes, **options: Any) -> object:
        with user.served(response, **options) as client:
            return ask(client)

    def download(response: bytes) -> object:
        with user.served(response) as client:
            return client.download_segment(7)

    made = {"http": http, "envelope": envelope, "after": after, "record": record, "data": data}
    encoded = {"gzip": gzip, "packed": packed, "zstd": zstd, "BODY": BODY, "GZIP": GZIP}
    return {**made, **encoded, "RESPONSE": RESPONSE, "REFUSAL": REFUSAL, "search": search, "download": download}


STATUSES, RESPONSES = Cases(names), Cases(names)
