"""Keys that nobody requested are counted by name up to a limit, however long and many they are.

Source: a security review.
"""

from __future__ import annotations

from typing import Any

import dataaccess as da


def test_few_short_names_are_counted(client_of: Any) -> None:
    records = [{"id": "1", "n" * 65: 1, **{f"key{number}": 1 for number in range(40)}}, {"id": "2", "key0": 1}]
    scan = client_of(records).scan_items("customer", ["id"], da.col("x").equals("1"))
    scan.collect()
    extra_keys = scan.last_stats.extra_keys
    assert extra_keys["key0"] == 2
    assert all(len(name.encode()) <= 64 for name in extra_keys)
    assert 30 < len(extra_keys) <= 33
    assert scan.to_dicts()[0]["n" * 65] == 1
