"""What users know from other libraries and write here: each error says what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
import tqdm
import tqdm.auto
from support.raw_server import serving

import dataaccess as da

ON_A_DAY: dict[str, Any] = {"allocated_time": da.on("2024-01-15")}
# Any, as each use is a mistake.
PACKAGE: Any = da
COL: Any = da.col("customer_id")
CLIENT: Any = da.Client("https://cdp.example.com", token="tok")
OTHER: Any = da.AsyncClient("https://cdp.example.com", token="tok")
SCAN: Any = CLIENT.scan_codes(["id"], **ON_A_DAY)
ASYNC_SCAN: Any = OTHER.scan_codes(["id"], **ON_A_DAY)

ZONE = "to_pandas(tz=…) and the other methods of a scan convert times; Client(timezone=…) is the zone of days"
CONDITIONS = "conditions are arguments: allocated_time=, code_status=, allocated_audience=, audience_type="

ARGUMENTS: dict[str, tuple[Callable[[], object], str]] = {
    "zone of a search": (lambda: CLIENT.search_codes(**ON_A_DAY, timezone="UTC"), ZONE),
    "zone of a scan": (lambda: CLIENT.scan_codes(**ON_A_DAY, tz="UTC"), ZONE),
    "zone of items": (lambda: PACKAGE.search_items("customer", ["name"], tz="UTC"), ZONE),
    "zone of a client": (lambda: PACKAGE.Client("sandbox:demo", tz="UTC"), "it is called timezone="),
    "conditions": (lambda: CLIENT.scan_codes(**ON_A_DAY, where=COL.matches("x")), CONDITIONS),
    "filters": (lambda: CLIENT.search_codes(**ON_A_DAY, filters={}), CONDITIONS),
    "filters of items": (lambda: CLIENT.scan_items("customer", ["name"], filters={}), "it is called where="),
    "columns": (lambda: CLIENT.scan_codes(**ON_A_DAY, columns=["id"]), "it is called attrs="),
    "columns of items": (lambda: CLIENT.search_items("customer", columns=["name"]), "it is called attrs="),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_an_argument_of_another_library(name: str) -> None:
    act, advice = ARGUMENTS[name]
    with pytest.raises(TypeError) as caught:
        act()
    assert "got an unexpected keyword argument" in str(caught.value)
    assert str(caught.value).endswith(f": {advice}")


@pytest.mark.parametrize("kind", [da.Client, da.AsyncClient])
def test_a_token_by_position(kind: Any) -> None:
    with pytest.raises(
        TypeError, match=r"base_url alone is given by position: write token=…, and each other"
    ) as caught:
        kind("https://cdp.example.com", "hunter2")
    assert "hunter2" not in str(caught.value)


ATTRIBUTES: dict[str, tuple[Callable[[], object], str]] = {
    "filter": (lambda: SCAN.filter, "write to_lazyframe() for a query of polars"),
    "select": (lambda: SCAN.select, "attrs= of the call chooses what is requested"),
    "lazy": (lambda: SCAN.lazy, "write to_lazyframe()"),
    "columns": (lambda: SCAN.columns, "write column_names, or schema for the types"),
    "task": (lambda: SCAN.tasks()[0].columns, "write column_names"),
    "awaited filter": (lambda: ASYNC_SCAN.filter, "filter what `await scan.to_polars()` returns"),
    "awaited lazy": (lambda: ASYNC_SCAN.lazy, "queries of polars do not await: use a scan of da.Client"),
    "codes": (lambda: CLIENT.codes, "write search_codes(…) or scan_codes(…)"),
    "scan": (lambda: OTHER.scan, "write scan_codes(…) or scan_items(…)"),
    "connect": (lambda: PACKAGE.connect, "module 'dataaccess' has no attribute 'connect': write Client(base_url)"),
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_an_attribute_of_another_library(name: str) -> None:
    act, advice = ATTRIBUTES[name]
    with pytest.raises(AttributeError) as caught:
        act()
    assert advice in str(caught.value)
    assert not hasattr(SCAN, "__dataframe__")


@pytest.mark.parametrize("scan", [SCAN, SCAN.tasks()[0], ASYNC_SCAN])
def test_a_scan_has_no_length_and_no_items_and_is_true(scan: Any) -> None:
    with pytest.raises(TypeError, match=r"write scan\.count\(\), or len\(\) of what collect\(\) returns"):
        len(scan)
    for key in ("id", 0, slice(3)):
        with pytest.raises(TypeError, match=r"write scan\.collect\(\)\[…\], or scan\.to_pandas\(\)\[…\]"):
            scan[key]
    assert scan


def test_no_frame_is_made_of_a_scan(sandbox: da.Sandbox) -> None:
    scan: Any = sandbox.client().scan_codes(["id"], **ON_A_DAY)
    sandbox.clear_requests()
    with pytest.raises(TypeError, match=r"write scan\.to_pandas\(\) for a DataFrame"):
        pd.DataFrame(scan)
    assert len(sandbox.requests) == 0


@pytest.mark.parametrize(
    ("address", "advice"),
    [
        ("localhost:18080", "write http://localhost:18080"),
        ("cdp.example.com", "write https://cdp.example.com"),
        ("sandbox", 'the sandbox is base_url="sandbox:demo"'),
    ],
)
def test_an_address_that_is_no_url(address: str, advice: str) -> None:
    with pytest.raises(da.ConfigError) as caught:
        da.Client(address, token="tok")
    assert str(caught.value).endswith(f"is not a URL; {advice}")


@pytest.mark.parametrize(
    ("condition", "advice"),
    [
        (da.on, "da.on is a function: call it, as da.on(day)"),
        (da.days, "da.days is a function: call it, as da.days(start, stop)"),
        (da.yesterday, "da.yesterday is a function: call it, as da.yesterday()"),
        (da.month, "da.month is a function: call it, as da.month"),
        (da.col("allocated_time").on("2024-01-15"), "write da.on(day) and the like without col"),
    ],
)
def test_a_function_in_place_of_a_condition(condition: Any, advice: str) -> None:
    for call in (CLIENT.search_codes, CLIENT.scan_codes, CLIENT.validate_codes):
        with pytest.raises(da.ValidationError) as caught:
            call(allocated_time=condition)
        assert str(caught.value).startswith("allocated_time: ")
        assert advice in str(caught.value)


def test_a_type_that_is_none_is_repeated() -> None:
    schema: Any = {"id": "varchar"}
    with pytest.raises(da.ValidationError, match=r'schema\["id"\]: "varchar" is not a type: use one of string, int64,'):
        CLIENT.scan_codes(["id"], schema=schema, **ON_A_DAY)


@pytest.mark.parametrize("bar", [tqdm.tqdm, tqdm.auto.tqdm, tqdm.tqdm(disable=True)])
def test_a_bar_of_tqdm(bar: Any) -> None:
    with pytest.raises(da.ValidationError, match=r"progress: is a bar of tqdm, .*: write progress=True"):
        SCAN.collect(progress=bar)


def silent(connection: Any, _number: int) -> None:
    """Never responds."""
    while connection.recv(1024):
        pass


@pytest.mark.both_clients
def test_the_timeout_of_a_search_of_days_is_for_all_of_them(connect: Any, time_scale: Callable[[int], None]) -> None:
    time_scale(20)
    with serving(silent) as server:
        client = connect(server.base_url)
        with pytest.raises(da.errors.RequestTimeoutError) as caught:
            client.search_codes(["id"], allocated_time=da.days("2024-01-01", "2024-03-01"), timeout=3)
        assert "within timeout=3 s" in str(caught.value)
        assert "timeout= is for all 60 requests together; for scan_codes it is the time of each request" in str(
            caught.value
        )
        with pytest.raises(da.errors.RequestTimeoutError) as caught:
            client.search_codes(["id"], allocated_time=da.on("2024-01-01"), timeout=3)
        assert "for all" not in str(caught.value)
