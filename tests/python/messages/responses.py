"""What the service or a gateway responds with that is no result, and exports of segments."""

from __future__ import annotations

import gzip
import json
from typing import Any

from support.compressed import packed, zstd
from support.messages import Cases, User, ask, data
from support.raw_server import ENTRY, EXPORT, RESPONSE, http

REFUSAL = {"code": 301, "message": "Permission denied", "data": "You don't have permission to access this request!"}


def after(seconds: int, status: str) -> bytes:
    return http(b"", status, headers=(f"Retry-After: {seconds}",))


def envelope(**members: Any) -> bytes:
    return http({**RESPONSE, **members})


BODY = json.dumps(RESPONSE).encode()
GZIP = gzip.compress(BODY)


def record(value: bytes) -> bytes:
    """A response with this text as the value of `n` in its second record."""
    return http(b'{"code":200,"data":{"status":true,"data":[{"n":"1"},{"n":' + value + b"}]}}")


def names(user: User) -> dict[str, Any]:
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


# Exports of segments.


EXPORTS = Cases()


def ended(**members: Any) -> dict[str, Any]:
    return {**ENTRY, "exportStatus": 2, "endTime": "2024-01-15T09:00:00.000Z", **members}


def export(*entries: Any, total: object = None) -> bytes:
    meta = {"total": len(entries) if total is None else total}
    return http({**EXPORT, "data": {"entries": list(entries), "meta": meta}})


def wait(client: Any, **options: Any) -> object:
    return client.wait_for_segment(7, timeout=0.3, poll=0.1, **options)


async def awaited(_status: object) -> None:
    """A callback of an `AsyncClient`."""


GOOD = ended(responseCode="200")
BAD = ended(responseCode="500", responseMessage="The destination refused the file", exportedRows=0)

EXPORTS.responses(
    {
        "wait_for_segment(…) of an export that is running": export(ENTRY, GOOD),
        "wait_for_segment(…) of an export without entries": export(),
        "wait_for_segment(…) of an export of which one entry failed": export(GOOD, BAD),
        "wait_for_segment(…) of an export with another total": export(GOOD, total=3),
        "wait_for_segment(…) of an export with an endTime that is none": export(
            {**ENTRY, "endTime": "0001-01-01T00:00:00Z"}
        ),
    },
    wait,
)
EXPORTS.responses(
    {"wait_for_segment(…, on_update=a coroutine function)": export(ENTRY)},
    lambda client: wait(client, on_update=awaited),
)
