"""Rows as Python objects with the values of columns, and their number without the rows."""

from __future__ import annotations

from typing import Any

import pytest
from support.raw_server import always, serving
from support.streams import response_of

import dataaccess as da

DAYS = da.days("2024-01-14", "2024-01-17")


def bodies(sandbox: da.Sandbox) -> list[Any]:
    return [request.body for request in sandbox.requests]


def test_rows_are_counted_with_one_attribute(client: Any, sandbox: da.Sandbox) -> None:
    sandbox.clear_requests()
    assert client.scan_codes(allocated_time=DAYS).count() == 215
    assert [body["attrs"] for body in bodies(sandbox)] == [["allocated_time"]] * 3
    sandbox.clear_requests()
    assert client.scan_codes(["id", "name"], allocated_time=da.on("2024-01-15"), code_status="used").count() > 0
    assert [body["attrs"] for body in bodies(sandbox)] == [["id"]]
    customers = client.scan_items("customer", ["name", "customer_id"])
    assert customers.count() == len(customers.to_dicts()) > 0


def test_a_limit_and_a_task_are_counted(client: Any) -> None:
    assert client.scan_codes(allocated_time=DAYS, limit=100).count() == 100
    scan = client.scan_codes(allocated_time=DAYS)
    assert [task.count() for task in scan.tasks()] == [72, 73, 70]
    assert client.scan_codes(allocated_time=DAYS, on_suspected_cap="split").count() == 215


def test_values_that_fit_no_common_type_are_counted(connect: Any) -> None:
    rows = [{"a": value} for value in (1, "x", None, {"b": [1]}, 2.5)]
    with serving(always(response_of(rows))) as server:
        client = connect(server.base_url, item_types={"store": 7})
        assert client.scan_items("store", ["a"], schema={"a": "int64"}).count() == 5


@pytest.mark.filterwarnings("error")
def test_a_count_warns_of_rows_of_other_days(connect: Any) -> None:
    rows = [{"allocated_time": "2024-03-01 10:00:00"}]
    with serving(always(response_of(rows))) as server:
        scan = connect(server.base_url).scan_codes(allocated_time=da.on("2024-01-15"))
        with pytest.raises(da.errors.StrayDayWarning):
            scan.count()
