"""Which requests a fault of the sandbox hits: by operation, turn and content of the body."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from datetime import date
from typing import Any, get_args

import pytest

import dataaccess as da
from dataaccess import _native
from dataaccess._sandbox.faults import FaultKind, FaultPreset

DAY = da.on("2024-01-15")

pytestmark = pytest.mark.usefixtures("short_pauses")


@pytest.mark.parametrize("day", ["2024-01-15", date(2024, 1, 15)])
def test_a_fault_of_one_day_hits_that_day_of_a_month_alone(
    connect: Any, own: da.Sandbox, day: object, tmp_path: Any
) -> None:
    scan = connect(own, retry_for=0).scan_codes(["id"], allocated_time=da.month("2024-01"))
    with (
        own.fault("status", status=500, where={"day": day}) as fault,
        pytest.raises(da.ScanIncompleteError, match="2024-01-15"),
    ):
        scan.to_folder(tmp_path)
    assert fault.hits == 1
    assert [request.status for request in own.requests].count(200) == 30
    assert scan.to_folder(tmp_path).new == 1


def test_a_day_is_found_in_the_ranges_of_a_search(connect: Any, own: da.Sandbox) -> None:
    client = connect(own, retry_for=0)
    with own.fault("status", status=500, where={"day": "2024-01-15", "contains": "allocated_time"}) as fault:
        assert client.search_codes(["id"], allocated_time=da.after("2024-01-15"))
        assert client.search_codes(["id"], allocated_time=da.on("2024-01-14"))
        assert client.download_segment(5637051)
        for condition in (da.on("2024-01-15"), da.after("2024-01-14"), da.before("2024-01-16")):
            with pytest.raises(da.ServerError):
                client.search_codes(["id"], allocated_time=condition)
    assert fault.hits == 3


def test_a_day_is_of_the_zone_of_the_sandbox(connect: Any) -> None:
    with da.Sandbox(switches={"day_zone": "Asia/Ho_Chi_Minh"}) as sandbox:
        client = connect(sandbox, retry_for=0, timezone="Asia/Ho_Chi_Minh")
        with sandbox.fault("status", status=500, where={"day": "2024-01-15"}) as fault:
            assert client.search_codes(["id"], allocated_time=da.on("2024-01-14")) == []
            assert client.search_codes(["id"], allocated_time=da.on("2024-01-16")) == []
            with pytest.raises(da.ServerError):
                client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        assert fault.hits == 1


@pytest.mark.parametrize(
    ("where", "hit"),
    [
        ({"contains": '"itemTypeName":"customer"'}, "items"),
        ({"contains": '"exportId":5637051'}, "download"),
        ({"contains": '"column":"code_status"'}, "codes"),
        ({"contains": '"customer"', "day": "2024-01-15"}, None),
    ],
)
def test_a_fault_hits_what_the_body_contains(own: da.Sandbox, where: dict[str, Any], hit: str | None) -> None:
    client = own.client(retry_for=0)
    calls: dict[str, Callable[[], object]] = {
        "items": lambda: client.search_items("customer", ["name"], da.col("customer_id").equals("1")),
        "codes": lambda: client.search_codes(["id"], allocated_time=DAY, code_status=1),
        "download": lambda: client.download_segment(5637051),
    }
    with own.fault("status", status=400, where=where) as fault:
        for name, call in calls.items():
            with pytest.raises(da.RequestRejectedError) if name == hit else nullcontext():
                call()
    assert fault.hits == (hit is not None)


def test_a_fault_is_for_its_operation_and_its_turn(connect: Any, own: da.Sandbox) -> None:
    client = connect(own, retry_for=0)
    with own.fault("status", status=500, path="search", after=1, times=1) as fault:
        assert client.download_segment(5637051)
        assert client.search_codes(["id"], allocated_time=DAY)
        with pytest.raises(da.ServerError):
            client.search_codes(["id"], allocated_time=DAY)
        assert client.search_codes(["id"], allocated_time=DAY)
    assert fault.hits == 1
    with own.fault("reset", path="/access/api/segment/download") as fault:
        assert client.search_codes(["id"], allocated_time=DAY)
        with pytest.raises(da.ConnectionLostError):
            client.download_segment(5637051)
    assert fault.hits == 1


def test_the_outer_fault_wins_and_each_counts_its_own(connect: Any, own: da.Sandbox) -> None:
    client = connect(own, retry_for=0)
    with own.fault("status", status=500, times=1) as outer, own.fault("status", status=404) as inner:
        with pytest.raises(da.ServerError):
            client.search_codes(["id"], allocated_time=DAY)
        with pytest.raises(da.RequestRejectedError):
            client.search_codes(["id"], allocated_time=DAY)
    assert (outer.hits, inner.hits) == (1, 1)
    assert client.search_codes(["id"], allocated_time=DAY)


def test_python_and_the_core_know_the_same_kinds_and_presets() -> None:
    for member, words in (("kind", get_args(FaultKind)), ("preset", get_args(FaultPreset))):
        with pytest.raises(da.ConfigError) as caught:
            _native.check_fault({member: "?"})
        assert ", ".join(f'"{word}"' for word in words) in str(caught.value)
