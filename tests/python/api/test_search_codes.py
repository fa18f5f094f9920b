"""The results of `search_codes` (section 4.2)."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pandas as pd
import pytest

import dataaccess as da

ALL = ["id", "name", "pool_id", "date_created", "allocated_time", "allocated_audience"]
ALL += ["audience_type", "code_status", "last_used_source", "last_used_time"]


def test_every_attribute_but_channel_id_comes_by_default(client: Any) -> None:
    rows = client.search_codes(allocated_time=da.on("2024-01-15"))
    assert rows
    assert all(list(row) == ALL for row in rows)


def test_attributes_come_in_the_order_asked(client: Any) -> None:
    rows = client.search_codes(["code_status", "id", "channel_id"], allocated_time=da.on("2024-01-15"))
    assert all(list(row) == ["code_status", "id", "channel_id"] for row in rows)


def test_values_are_those_of_the_wire(client: Any) -> None:
    rows = client.search_codes(allocated_time=da.after("2024-01-01"))
    used = [row for row in rows if row["code_status"] == 4]
    sent = [row for row in rows if row["code_status"] == 3]
    assert used
    assert sent
    assert all(isinstance(row["pool_id"], int) for row in rows)
    assert all(isinstance(row["name"], str) for row in rows)
    assert any(not row["name"].isascii() for row in rows)
    assert all(dt.datetime.fromisoformat(row["allocated_time"]) for row in rows)
    assert all(row["last_used_time"] is not None for row in used)
    assert all(row["last_used_time"] is None and row["last_used_source"] is None for row in sent)


def test_nothing_found_is_an_empty_list(client: Any) -> None:
    assert client.search_codes(allocated_time=da.on("2019-01-01")) == []


def test_available_codes_that_are_not_found_say_why(connect: Any) -> None:
    row = {"name": "a code", "code_status": 1}
    with da.Sandbox() as service:
        service.load("promotion_code", [{**row, "id": "new"}])
        client = connect(service)
        scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-04"), code_status="available")
        searched = {"allocated_time": da.since("2024-01-01"), "code_status": ["available"]}
        for use in (lambda: client.search_codes(["id"], **searched), scan.to_dicts, scan.collect):
            with pytest.warns(da.EmptyResultWarning, match=r"\ballocated_time\b") as caught:
                assert len(use()) == 0
            assert len(caught) == 1
        # With another status, and once there is one, nothing is said.
        assert (
            client.search_codes(["id"], allocated_time=da.since("2024-01-01"), code_status=["available", "used"]) == []
        )
        service.load("promotion_code", [{**row, "id": "back", "allocated_time": "2024-01-02 10:00:00"}])
        assert [row["id"] for row in client.search_codes(["id"], **searched)] == ["back"]


def test_limit_cuts_and_the_client_stays_usable(client: Any) -> None:
    everything = client.search_codes(["id"], allocated_time=da.after("2024-01-01"))
    for limit in (1, 7, len(everything), len(everything) + 1):
        rows = client.search_codes(["id"], allocated_time=da.after("2024-01-01"), limit=limit)
        assert rows == everything[:limit]


def test_results_are_ready_for_pandas_and_json(client: Any) -> None:
    rows = client.search_codes(allocated_time=da.after("2024-02-01"))
    frame = pd.DataFrame(rows)
    assert list(frame.columns) == ALL
    assert len(frame) == len(rows)
    assert json.loads(json.dumps(rows)) == rows


def test_days_are_all_requests_with_the_rows_in_order(client: Any, sandbox: da.Sandbox) -> None:
    attrs = ["id", "allocated_time"]
    each = [client.search_codes(attrs, allocated_time=da.on(f"2024-01-{day}")) for day in (14, 15, 16)]
    before = len(sandbox.requests)
    rows = client.search_codes(attrs, allocated_time=da.days("2024-01-14", "2024-01-17"))
    assert rows == [row for day in each for row in day]
    assert len(sandbox.requests) - before == 3
    assert client.search_codes(attrs, allocated_time=da.on(da.days("2024-01-14", "2024-01-17")), limit=80) == rows[:80]


def test_validate_codes_rejects_day_ranges(client: Any) -> None:
    with pytest.raises(da.ValidationError, match="scan_codes"):
        client.validate_codes(allocated_time=da.days("2024-01-01", "2024-02-01"))
