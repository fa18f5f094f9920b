"""A list of ids of customers that finds fewer customers warns how many and names three; `Table.missing_ids()` has all.

Source: a trial of notebooks
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.parts import in_parts

import dataaccess as da

IDS = [f"{number:04}" for number in range(1, 11)]
# As `pandas.read_csv` without a `dtype` reads them.
AS_NUMBERS = [int(each) for each in IDS]


@pytest.fixture
def service() -> Iterator[da.Sandbox]:
    with da.Sandbox() as service:
        service.declare("customer", -1003, {"customer_id": "string", "name": "string"})
        # Two customers whose ids are those of others without their leading zeros.
        service.load("customer", [{"customer_id": each, "name": "a"} for each in [*IDS[:8], "1", "2"]])
        yield service


@pytest.fixture
def client(service: da.Sandbox) -> da.Client:
    return service.client()


USES: dict[str, Callable[..., Any]] = {
    "search": lambda client, *request: client.search_items("customer", *request),
    "dicts": lambda client, *request: client.scan_items("customer", *request).to_dicts(),
    "several requests": lambda client, *request: in_parts(3, client.scan_items, "customer", *request).to_dicts(),
    "split": lambda client, *request: client.scan_items("customer", *request, on_suspected_cap="split").to_dicts(),
    "table": lambda client, *request: client.scan_items("customer", *request).collect(),
    "pandas": lambda client, *request: client.scan_items("customer", *request).to_pandas(),
    "polars": lambda client, *request: in_parts(3, client.scan_items, "customer", *request).to_polars(),
}


def by_ids(ids: list[Any]) -> Any:
    return da.col("customer_id").matches(ids)


@pytest.mark.parametrize("use", USES)
def test_lost_zeros_warn(client: da.Client, use: str) -> None:
    with pytest.warns(da.MissingIdsWarning, match=r'\b8 of 10\b.*"3", "4", "5".*\b5\b') as found:
        assert len(USES[use](client, ["customer_id", "name"], by_ids(AS_NUMBERS))) == 2
    assert len(found) == 1


@pytest.mark.parametrize("use", USES)
def test_one_that_is_missing_is_named(client: da.Client, use: str) -> None:
    with pytest.warns(da.MissingIdsWarning, match="2 of 10.*0009.*0010"):
        assert len(USES[use](client, ["customer_id"], by_ids(IDS))) == 8


@pytest.mark.parametrize("use", USES)
def test_it_is_known_how_many_without_the_column(client: da.Client, use: str) -> None:
    with pytest.warns(da.MissingIdsWarning, match="8 of 10.*customer_id"):
        assert len(USES[use](client, ["name"], by_ids(AS_NUMBERS))) == 2


def test_awaited_searches_warn_too(service: da.Sandbox) -> None:
    async def search() -> None:
        async with da.AsyncClient(service.base_url, token=service.issue_token()) as client:
            await client.search_items("customer", ["customer_id"], by_ids(IDS))
            await client.scan_items("customer", ["customer_id"], by_ids(IDS)).collect()

    with pytest.warns(da.MissingIdsWarning) as found:
        asyncio.run(search())
    assert len(found) == 2


def test_a_table_has_the_ids(client: da.Client) -> None:
    with pytest.warns(da.MissingIdsWarning):
        table = client.scan_items("customer", ["customer_id"], by_ids(IDS)).collect()
    assert table.missing_ids() == ["0009", "0010"]
    # Another condition explains why rows are missing: no warning, and the ids are known.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        narrowed = client.scan_items("customer", ["customer_id"], by_ids(IDS) & da.col("name").equals("b"))
        assert narrowed.collect().missing_ids() == IDS
        assert client.scan_items("customer", ["name"], da.col("name").equals("a")).collect().missing_ids() is None


def test_nothing_is_missing(client: da.Client) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for use in USES.values():
            use(client, ["customer_id"], by_ids(IDS[:8]))
        assert client.scan_items("customer", ["customer_id"], by_ids(IDS[:8])).collect().missing_ids() == []
        # A part of the rows says nothing of the others.
        assert len(client.search_items("customer", ["customer_id"], by_ids(IDS), limit=3)) == 3
        assert len(client.scan_items("customer", ["customer_id"], by_ids(IDS)).head(3)) == 3
