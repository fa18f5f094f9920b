"""A search or scan of days that have not begun warns that it is empty, whatever stands in place of the rows.

Source: a trial of notebooks.
"""

from __future__ import annotations

from typing import Any

import pytest
from support.raw_server import http

import dataaccess as da

DAY = "2042-01-15"
FUTURE = [da.on(DAY), da.since(DAY), da.after(DAY), da.days(DAY, "2042-01-18")]


@pytest.mark.parametrize("condition", FUTURE, ids=str)
@pytest.mark.parametrize("data", [[], None, {}])
def test_a_search_and_a_scan_warn(client_of: Any, condition: Any, data: Any) -> None:
    client = client_of(http({"code": 200, "message": "", "data": {"status": True, "data": data}}))
    begins = "2042-01-16" if condition == da.after(DAY) else DAY
    for call in (client.search_codes, lambda **day: client.scan_codes(**day).to_dicts()):
        with pytest.warns(da.EmptyResultWarning, match=f"begins on {begins}, "):
            assert call(allocated_time=condition) == []


def test_a_day_that_is_over_may_be_empty(client_of: Any) -> None:
    # Warnings are errors in tests. Other objects have times in the future, such as the end of a contract.
    assert client_of([]).search_codes(allocated_time=da.on("2019-01-15")) == []
    assert client_of([]).search_items("customer", ["name"], da.col("ends").on(DAY)) == []
