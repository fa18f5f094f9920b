"""A search or scan of days that have not begun warns that it is empty, whatever stands in place of the rows.

Source: a trial of notebooks
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from support.raw_server import RESPONSE, always, http, serving

import dataaccess as da

YEAR = "2042"
FUTURE: dict[str, Any] = {
    "on": da.on(f"{YEAR}-01-15"),
    "since": da.since(f"{YEAR}-01-15"),
    "after": da.after(f"{YEAR}-01-15"),
    "days": da.days(f"{YEAR}-01-15", f"{YEAR}-01-18"),
}
WITHOUT_ROWS: dict[str, Any] = {"list": [], "null": None, "object": {}}


def without_rows(data: Any) -> dict[str, Any]:
    return {**RESPONSE, "data": {"status": True, "data": data}}


@pytest.mark.parametrize("condition", FUTURE)
@pytest.mark.parametrize("attrs", [["id"], ["id", "allocated_time"]])
def test_a_search_and_a_scan_warn(sandbox: da.Sandbox, condition: str, attrs: list[Any]) -> None:
    client = sandbox.client()
    with pytest.warns(da.EmptyResultWarning, match=YEAR):
        assert client.search_codes(attrs, allocated_time=FUTURE[condition]) == []
    scan = client.scan_codes(attrs, allocated_time=FUTURE[condition])
    with pytest.warns(da.EmptyResultWarning, match=YEAR):
        assert scan.collect().num_rows == 0
    with pytest.warns(da.EmptyResultWarning, match=YEAR):
        assert scan.to_dicts() == []


@pytest.mark.parametrize("shape", WITHOUT_ROWS)
def test_whatever_is_in_place_of_the_rows(shape: str) -> None:
    with serving(always(http(without_rows(WITHOUT_ROWS[shape])))) as server:
        client = da.Client(server.base_url, token="t", retry_for=0)
        with pytest.warns(da.EmptyResultWarning, match=YEAR):
            client.search_codes(allocated_time=da.on(f"{YEAR}-01-15"))


def test_a_day_that_is_over_may_be_empty() -> None:
    with warnings.catch_warnings(), da.Sandbox() as service:
        warnings.simplefilter("error", da.EmptyResultWarning)
        assert service.client().search_codes(allocated_time=da.on("2019-01-15")) == []
        # Attributes of other objects have times in the future, such as the end of a contract.
        service.declare("customer", -1003, {"name": "string", "ends": "timestamp"})
        assert service.client().search_items("customer", ["name"], da.col("ends").on("2042-01-15")) == []
