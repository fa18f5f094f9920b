"""A list of ids of customers that finds fewer customers warns how many and names three; `Table.missing_ids()` has all.

Source: a trial of notebooks; `pandas.read_csv` without a `dtype` reads ids as numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.environment import in_parts

import dataaccess as da

IDS = [f"{number:04}" for number in range(1, 11)]


@pytest.fixture
def client() -> Iterator[da.Client]:
    with da.Sandbox() as service:
        service.declare("customer", -1003, {"customer_id": "string", "name": "string"})
        # Two customers have the ids of others without their leading zeros.
        service.load("customer", [{"customer_id": each, "name": "a"} for each in [*IDS[:8], "1", "2"]])
        yield service.client()


USES: dict[str, Callable[..., Any]] = {
    "search": lambda client, *request: client.search_items("customer", *request),
    "dicts": lambda client, *request: client.scan_items("customer", *request).to_dicts(),
    "several requests": lambda client, *request: in_parts(3, client.scan_items, "customer", *request).to_dicts(),
    "split": lambda client, *request: client.scan_items("customer", *request, on_suspected_cap="split").to_dicts(),
    "table": lambda client, *request: client.scan_items("customer", *request).collect(),
    "polars": lambda client, *request: in_parts(3, client.scan_items, "customer", *request).to_polars(),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(
    ("attrs", "ids", "rows", "shown"),
    [
        (["customer_id", "name"], [int(each) for each in IDS], 2, r'\b8 of 10\b.*"3", "4", "5".*\b5\b'),
        (["customer_id"], IDS, 8, "2 of 10.*0009.*0010"),
        (["name"], [int(each) for each in IDS], 2, "8 of 10.*customer_id"),
    ],
)
def test_ids_that_are_missing_warn(client: Any, use: str, attrs: Any, ids: Any, rows: int, shown: str) -> None:
    with pytest.warns(da.MissingIdsWarning, match=shown) as found:
        assert len(USES[use](client, attrs, da.col("customer_id").matches(ids))) == rows
    assert len(found) == 1


def test_a_table_has_the_ids_and_other_conditions_explain_them(client: da.Client) -> None:
    by_ids = da.col("customer_id").matches(IDS)
    with pytest.warns(da.MissingIdsWarning):
        assert client.scan_items("customer", ["customer_id"], by_ids).collect().missing_ids() == ["0009", "0010"]
    # Warnings are errors in tests.
    narrowed = client.scan_items("customer", ["customer_id"], by_ids & da.col("name").equals("b"))
    assert narrowed.collect().missing_ids() == IDS
    assert client.scan_items("customer", ["name"], da.col("name").equals("a")).collect().missing_ids() is None
    found = client.scan_items("customer", ["customer_id"], da.col("customer_id").matches(IDS[:8])).collect()
    assert found.missing_ids() == []
    # A part of the rows says nothing of the others.
    assert len(client.search_items("customer", ["customer_id"], by_ids, limit=3)) == 3
