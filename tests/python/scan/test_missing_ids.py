"""The ids that a scan asked for and that no row has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dataaccess as da

FORMATS = ["to_parquet", "to_csv", "to_jsonl"]


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


def by_ids(client: Any, ids: list[str], attrs: tuple[str, ...] = ("customer_id", "name"), **options: Any) -> Any:
    """The customers of these ids."""
    return client.scan_items("customer", list(attrs), da.col("customer_id").matches(ids), **options)


@pytest.mark.both_clients
@pytest.mark.parametrize("values_per_request", [3, 1_000])
def test_a_run_names_the_ids_that_it_did_not_find(
    connect: Any, customers: da.Sandbox, tmp_path: Path, values_per_request: int
) -> None:
    ids = [f"c-{number:03}" for number in range(10)]
    scan = by_ids(connect(customers), ids, values_per_request=values_per_request)
    for kept in (0, -(-10 // values_per_request)):
        report = scan.to_folder(tmp_path, keep="all")
        assert (report.kept, report.missing_ids) == (kept, ids[1::2])
    assert json.loads(json.dumps(report.to_dict()))["missing_ids"] == ids[1::2]
    # Of a refresh that finds one more.
    customers.load("customer", [customer(3)])
    assert scan.to_folder(tmp_path, refresh="all").missing_ids == ["c-001", "c-005", "c-007", "c-009"]


@pytest.mark.parametrize("use", [*FORMATS, "collect"])
@pytest.mark.parametrize("split", ["warn", "split"])
def test_a_result_does_too(connect: Any, customers: da.Sandbox, tmp_path: Path, use: str, split: Any) -> None:
    ids = [f"c-{number:03}" for number in range(10)]
    scan = by_ids(connect(customers), ids, values_per_request=4, on_suspected_cap=split)
    # A response that is cut is void.
    with customers.fault("cut", after_bytes=200, times=1):
        getattr(scan, use)(*([tmp_path / "file"] if use != "collect" else []))
    assert scan.last_stats.missing_ids == ids[1::2]


def test_days_are_looked_through_together(connect: Any, tmp_path: Path) -> None:
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
        assert scan.to_folder(tmp_path).missing_ids == ["a-1", "a-3", "a-9"]
        service.load("promotion_code", [{**code, "code_status": 3} for code in codes], replace=True)
        assert scan.to_folder(tmp_path, refresh="all", on_shrink="replace").missing_ids == ["a-9"]


def test_it_is_none_where_it_is_not_known(connect: Any, customers: da.Sandbox, tmp_path: Path) -> None:
    client = connect(customers)
    ids = ["c-000", "c-001"]
    for number, scan in enumerate(
        [
            by_ids(client, ids, ("name",)),
            client.scan_items("customer", ["customer_id"], da.col("number").matches([0, 1])),
            client.scan_items(
                "customer", ["customer_id"], da.col("customer_id").matches(ids) | da.col("number").matches([1, 2])
            ),
        ]
    ):
        assert scan.to_folder(tmp_path / str(number)).missing_ids is None
    numbers = client.scan_items("customer", ["number"], da.col("number").matches([0, 1, 2, 3]))
    assert numbers.to_folder(tmp_path / "numbers").missing_ids == ["1", "3"]


def test_an_oracle_agrees(customers: da.Sandbox, tmp_path_factory: pytest.TempPathFactory) -> None:
    with customers.client() as client:

        @settings(max_examples=20, deadline=None)
        @given(
            numbers=st.lists(st.integers(0, 99), min_size=2, max_size=30, unique=True),
            size=st.integers(1, 12),
        )
        def check(numbers: list[int], size: int) -> None:
            scan = by_ids(client, [f"c-{number:03}" for number in numbers], values_per_request=size)
            report = scan.to_folder(tmp_path_factory.mktemp("run"), on_doubt=lambda _: True)
            assert report.missing_ids == [f"c-{number:03}" for number in numbers if number % 2]

        check()


def test_a_list_of_one_id_is_a_list(connect: Any, customers: da.Sandbox, tmp_path: Path) -> None:
    for ids, missing in ((["c-001"], ["c-001"]), (["c-002"], [])):
        scan = by_ids(connect(customers), ids)
        assert scan.collect().stats.missing_ids == missing
        assert scan.to_folder(tmp_path / ids[0]).missing_ids == missing
