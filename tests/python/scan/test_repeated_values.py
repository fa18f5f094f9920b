"""Equal strings of an attribute are one object where many of them are equal; every row has the value of its record."""

from __future__ import annotations

import json
from typing import Any

from support.raw_server import http, serving

import dataaccess as da

ROWS = 20_000
ATTRIBUTES = ["id", "status", "shop", "note"]


def record(number: int) -> dict[str, Any]:
    """No id comes again, statuses often do, and there are more shops than are remembered at a time."""
    return {
        "id": f"code-{number}",
        "status": ("sent", "used", "ü", "")[number % 4],
        "shop": f"shop {number * 7919 % 6_000}",
        "note": "long " * 20 if number % 3 else None,
    }


def test_equal_strings_are_one_object() -> None:
    records = [record(number) for number in range(ROWS)]
    body = b'{"code":200,"data":{"status":true,"data":%s}}' % json.dumps(records).encode()
    with serving(lambda connection, _number: connection.sendall(http(body))) as server:
        rows = da.Client(server.base_url, token="tok").search_items("customer", ATTRIBUTES)
    assert rows == records

    def objects(attribute: str) -> int:
        return len({id(row[attribute]) for row in rows})

    # Those of the first few rows are not remembered.
    assert objects("status") <= 100
    assert objects("id") == ROWS
    assert objects("note") > ROWS // 2, "long strings are not remembered"
