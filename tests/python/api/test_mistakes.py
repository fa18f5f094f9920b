"""Mistakes of a first minute: each is an error that nothing is sent for."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
import tqdm
import tqdm.auto
from support.arguments import about
from support.raw_server import serving

import dataaccess as da

ON_A_DAY: dict[str, Any] = {"allocated_time": da.on("2024-01-15")}
# Any, as each use is a mistake.
CLIENT: Any = da.Client("https://cdp.example.com", token="tok")
SCAN: Any = CLIENT.scan_codes(["id"], **ON_A_DAY)


@pytest.mark.parametrize("kind", [da.Client, da.AsyncClient])
def test_a_token_by_position(kind: Any) -> None:
    with pytest.raises(TypeError) as caught:
        kind("https://cdp.example.com", "hunter2")
    assert "hunter2" not in str(caught.value)


def test_no_frame_is_made_of_a_scan(sandbox: da.Sandbox) -> None:
    scan: Any = sandbox.client().scan_codes(["id"], **ON_A_DAY)
    sandbox.clear_requests()
    with pytest.raises(TypeError, match=r"\bscan\.to_pandas\(\)"):
        pd.DataFrame(scan)
    assert len(sandbox.requests) == 0


@pytest.mark.parametrize(
    ("address", "advice"),
    [
        ("localhost:18080", "http://localhost:18080"),
        ("cdp.example.com", "https://cdp.example.com"),
        ("sandbox", '"sandbox:demo"'),
    ],
)
def test_an_address_that_is_no_url(address: str, advice: str) -> None:
    with pytest.raises(da.ConfigError, match=f" {re.escape(advice)}$", check=about("base_url")):
        da.Client(address, token="tok")


@pytest.mark.parametrize(
    "condition", [da.on, da.days, da.yesterday, da.month, da.op, da.col("allocated_time").on("2024-01-15")]
)
def test_a_function_in_place_of_a_condition(condition: Any) -> None:
    for call in (CLIENT.search_codes, CLIENT.scan_codes, CLIENT.validate_codes, da.validate_codes):
        with pytest.raises(da.ValidationError) as caught:
            call(allocated_time=condition)
        assert [problem.argument for problem in caught.value.problems] == ["allocated_time"]


@pytest.mark.parametrize("bar", [tqdm.tqdm, tqdm.auto.tqdm, tqdm.tqdm(disable=True)])
def test_a_bar_of_tqdm(bar: Any) -> None:
    with pytest.raises(da.ValidationError, match=r" progress=True$", check=about("progress")):
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
        assert re.search(r"\b3 s; .*; timeout .* 60 .*\bscan_codes\b", str(caught.value))
        with pytest.raises(da.errors.RequestTimeoutError) as caught:
            client.search_codes(["id"], allocated_time=da.on("2024-01-01"), timeout=3)
        assert "scan_codes" not in str(caught.value)
