"""Mistakes of a first minute: each is an error that nothing is sent for."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import dataaccess as da

ON_A_DAY: dict[str, Any] = {"allocated_time": da.on("2024-01-15")}
# Any, as each use is a mistake.
CLIENT: Any = da.Client("https://cdp.example.com", token="tok")


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
    "condition", [da.on, da.days, da.yesterday, da.month, da.op, da.col("allocated_time").on("2024-01-15")]
)
def test_a_function_in_place_of_a_condition(condition: Any) -> None:
    for call in (CLIENT.search_codes, CLIENT.scan_codes, CLIENT.validate_codes, da.validate_codes):
        with pytest.raises(da.ValidationError) as caught:
            call(allocated_time=condition)
        assert [problem.argument for problem in caught.value.problems] == ["allocated_time"]
