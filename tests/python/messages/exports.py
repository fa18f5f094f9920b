"""Exports of segments."""

from __future__ import annotations

from typing import Any

from support.messages import Cases, responses
from support.raw_server import ENTRY, EXPORT, http

EXPORTS = Cases()


def ended(**members: Any) -> dict[str, Any]:
    """An entry that has ended."""
    return {**ENTRY, "exportStatus": 2, "endTime": "2024-01-15T09:00:00.000Z", **members}


def export(*entries: Any, total: object = None) -> bytes:
    """A status of an export."""
    meta = {"total": len(entries) if total is None else total}
    return http({**EXPORT, "data": {"entries": list(entries), "meta": meta}})


def wait(client: Any, **options: Any) -> object:
    """Waits for an export."""
    return client.wait_for_segment(7, timeout=0.3, poll=0.1, **options)


async def awaited(_status: object) -> None:
    """A callback of an `AsyncClient`."""


GOOD = ended(responseCode="200")
BAD = ended(responseCode="500", responseMessage="The destination refused the file", exportedRows=0)

EXPORTS.add(
    responses(
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
)
EXPORTS.add(
    responses(
        {"wait_for_segment(…, on_update=a coroutine function)": export(ENTRY)},
        lambda client: wait(client, on_update=awaited),
    )
)
