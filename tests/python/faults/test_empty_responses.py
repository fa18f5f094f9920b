"""Responses without records: no rows, or an error if they have another shape."""

from __future__ import annotations

from typing import Any

import pytest
from support.raw_server import always, http, serving
from support.searches import search

import dataaccess as da

# H29: every way to have no records, and the value in their place.
EMPTY: dict[str, tuple[dict[str, Any], str]] = {
    "H29-list": ({"data": {"status": True, "data": []}}, "data.data []"),
    "H29-null": ({"data": {"status": True, "data": None}}, "data.data null"),
    "H29-object": ({"data": {"status": True, "data": {}}}, "data.data {}"),
    "H29-absent": ({"data": {"status": True}}, "data.data absent"),
    "H29-data-list": ({"data": []}, "data []"),
    "H29-data-null": ({"data": None}, "data null"),
    "H29-data-object": ({"data": {}}, "data {}"),
    "H29-data-absent": ({}, "data absent"),
}


@pytest.mark.filterwarnings("ignore::dataaccess.IncompleteWarning")
@pytest.mark.parametrize("case", EMPTY)
def test_every_empty_response_is_no_rows_and_reported(connect: Any, case: str) -> None:
    members, reported_as = EMPTY[case]
    with serving(lambda connection, _number: connection.sendall(http({"code": 200, **members}))) as server:
        client = connect(server.base_url)
        assert search(client) == []
        scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
        assert list(scan.batches()) == []
        assert (scan.last_stats.rows, scan.last_stats.empty_shape) == (0, reported_as)
        assert scan.collect().num_rows == 0
        assert scan.last_stats.empty_shape == reported_as


@pytest.mark.filterwarnings("ignore::dataaccess.IncompleteWarning")
def test_other_members_beside_no_records_are_accepted(connect: Any) -> None:
    bodies: list[dict[str, Any]] = [
        {"data": {"status": True, "message": "nothing found", "rows": []}},
        {"data": {"meta": {}}},
        {"id": 7},
    ]
    for members in bodies:
        with serving(always(http({"code": 200, "message": "ok", **members}))) as server:
            assert search(connect(server.base_url)) == []


def test_a_response_without_data_is_warned_of(connect: Any) -> None:
    numbers = iter(range(100))

    def serve(connection: Any, _number: int) -> None:
        data = {} if next(numbers) % 3 == 0 else {"data": {"status": True, "data": [{"id": "a"}]}}
        connection.sendall(http({"code": 200, **data}))

    with serving(serve) as server:
        client = connect(server.base_url, concurrency=1)
        days = da.days("2024-01-15", "2024-01-18")
        with pytest.warns(da.IncompleteWarning, match=r"\b1 of 3\b.*`data` \(2024-01-15\)"):
            assert client.scan_codes(["id"], allocated_time=days).collect().num_rows == 2
        with pytest.warns(da.IncompleteWarning, match="`data`"):
            assert search(client) == []
