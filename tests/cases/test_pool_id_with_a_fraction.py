"""A `pool_id` with a fraction makes a collected column of floats; without one it is of integers.

Source: API specification 2.2: `pool_id` is a number.
"""

from __future__ import annotations

from typing import Any

import pytest

import dataaccess as da


@pytest.mark.parametrize(
    ("pools", "kind"),
    [([1, 2.5, None, 3], "float64"), ([1, None, 2.0], "int64"), ([None], "int64"), ([2.5], "float64")],
)
@pytest.mark.parametrize("days", [1, 2])
def test_the_type_of_the_column(client_of: Any, pools: list[float | None], kind: str, days: int) -> None:
    client = client_of(*[[{"pool_id": pool} for pool in part] for part in (pools, [1])[:days]], concurrency=1)
    until = da.days("2024-01-15", f"2024-01-{15 + days}")
    table = client.scan_codes(["pool_id"], allocated_time=until).collect()
    assert table.schema["pool_id"] == kind
    assert table.to_arrow()["pool_id"].to_pylist() == [*pools, 1][: len(pools) + days - 1]
