"""A `pool_id` with a fraction makes a collected column of floats; without one it is of integers.

Source: API specification 2.2: `pool_id` is a number.
"""

from __future__ import annotations

import pytest

import dataaccess as da

CODE = {"code_status": 3, "allocated_time": "2024-01-15 10:00:00"}


@pytest.mark.parametrize(
    ("pools", "kind"),
    [([1, 2.5, None, 3], "float64"), ([1, None, 2.0], "int64"), ([None], "int64"), ([2.5], "float64")],
)
def test_the_type_of_the_column(pools: list[float | None], kind: str) -> None:
    with da.Sandbox() as sandbox:
        sandbox.load(
            "promotion_code", [{**CODE, "id": str(number), "pool_id": pool} for number, pool in enumerate(pools)]
        )
        table = sandbox.client().scan_codes(["id", "pool_id"], allocated_time=da.on("2024-01-15")).collect()
    assert table.schema["pool_id"] == kind
    assert table.to_pandas()["pool_id"].astype("float64").fillna(-1).tolist() == [
        -1 if pool is None else pool for pool in pools
    ]


def test_fractions_of_one_day_among_several() -> None:
    codes = [{**CODE, "id": "a", "pool_id": 1}, {**CODE, "id": "b", "pool_id": 2.5}]
    codes[1]["allocated_time"] = "2024-01-16 10:00:00"
    with da.Sandbox() as sandbox:
        sandbox.load("promotion_code", codes)
        days = da.days("2024-01-15", "2024-01-17")
        frame = sandbox.client().scan_codes(["pool_id"], allocated_time=days).to_arrow()
    assert frame.column("pool_id").to_pylist() == [1.0, 2.5]
