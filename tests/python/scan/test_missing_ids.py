"""The ids that a scan asked for and that no row has."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.parts import in_parts

import dataaccess as da

pytestmark = pytest.mark.filterwarnings("ignore::dataaccess.MissingIdsWarning")


def customer(number: int) -> dict[str, Any]:
    """A customer."""
    return {"customer_id": f"c-{number:03}", "name": f"Name {number}", "number": number}


@pytest.fixture
def customers() -> Any:
    """The even ones of a hundred."""
    with da.Sandbox() as service:
        service.declare("customer", -1003, {"customer_id": "string", "name": "string", "number": "int64"})
        service.load("customer", [customer(number) for number in range(0, 100, 2)])
        yield service


def by_ids(
    client: Any, ids: list[str], attrs: tuple[str, ...] = ("customer_id", "name"), size: int = 1_000, **options: Any
) -> Any:
    """The customers of these ids, so many in one request."""
    return in_parts(size, client.scan_items, "customer", list(attrs), da.col("customer_id").matches(ids), **options)


@pytest.mark.parametrize("size", [3, 1_000])
def test_a_folder_that_is_read_has_the_ids_that_were_not_found(
    connect: Any, customers: da.Sandbox, tmp_path: Path, size: int
) -> None:
    ids = [f"c-{number:03}" for number in range(10)]
    scan = in_parts(size, by_ids, connect(customers), ids)
    scan.to_folder(tmp_path)
    assert scan.read_folder(tmp_path).missing_ids() == ids[1::2]
    # Of a refresh that finds one more.
    customers.load("customer", [customer(3)])
    scan.to_folder(tmp_path, refresh="all")
    assert scan.read_folder(tmp_path).missing_ids() == ["c-001", "c-005", "c-007", "c-009"]


@pytest.mark.parametrize("split", ["warn", "split"])
def test_a_response_that_is_cut_is_void(connect: Any, customers: da.Sandbox, split: Any) -> None:
    ids = [f"c-{number:03}" for number in range(10)]
    scan = in_parts(4, by_ids, connect(customers), ids, on_suspected_cap=split)
    with customers.fault("cut", after_bytes=200, times=1):
        assert scan.collect().missing_ids() == ids[1::2]


def test_a_search_that_was_cut_names_the_ids_of_its_last_response(connect: Any, customers: da.Sandbox) -> None:
    ids = [f"c-{number:03}" for number in range(0, 10, 2)]
    with warnings.catch_warnings(), customers.fault("cut", after_bytes=200, times=1):
        warnings.simplefilter("error")
        connect(customers).search_items("customer", ["customer_id"], da.col("customer_id").matches(ids))


def test_days_are_looked_through_together(connect: Any) -> None:
    with da.Sandbox() as service:
        codes = [
            {"id": f"{day}", "allocated_time": f"2024-01-0{day} 08:00:00", "allocated_audience": f"a-{day}"}
            for day in (1, 2, 3)
        ]
        service.load("promotion_code", codes)
        scan = connect(service).scan_codes(
            ["id", "allocated_audience", "allocated_time"],
            allocated_time=da.days("2024-01-01", "2024-01-04"),
            allocated_audience=["a-1", "a-3", "a-9"],
            code_status=["sent", "used"],
        )
        assert scan.collect().missing_ids() == ["a-1", "a-3", "a-9"]
        service.load("promotion_code", [{**code, "code_status": 3} for code in codes], replace=True)
        assert scan.collect().missing_ids() == ["a-9"]


def test_it_is_none_where_it_is_not_known(connect: Any, customers: da.Sandbox) -> None:
    client = connect(customers)
    ids = ["c-000", "c-001"]
    for scan in (
        by_ids(client, ids, ("name",)),
        client.scan_items("customer", ["customer_id"], da.col("number").matches([0, 1])),
        client.scan_items(
            "customer", ["customer_id"], da.col("customer_id").matches(ids) | da.col("number").matches([1, 2])
        ),
    ):
        assert scan.collect().missing_ids() is None
    numbers = client.scan_items("customer", ["number"], da.col("number").matches([0, 1, 2, 3]))
    assert numbers.collect().missing_ids() == ["1", "3"]


def test_an_oracle_agrees(customers: da.Sandbox) -> None:
    with customers.client() as client:

        @settings(max_examples=20, deadline=None)
        @given(
            numbers=st.lists(st.integers(0, 99), min_size=2, max_size=30, unique=True),
            size=st.integers(1, 12),
        )
        def check(numbers: list[int], size: int) -> None:
            scan = in_parts(size, by_ids, client, [f"c-{number:03}" for number in numbers])
            assert scan.collect().missing_ids() == [f"c-{number:03}" for number in numbers if number % 2]

        check()


def test_a_list_of_one_id_is_a_list(connect: Any, customers: da.Sandbox) -> None:
    for ids, missing in ((["c-001"], ["c-001"]), (["c-002"], [])):
        assert by_ids(connect(customers), ids).collect().missing_ids() == missing
