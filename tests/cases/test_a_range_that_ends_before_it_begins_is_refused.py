"""A range of days whose end is before its start is an error before anything is sent, not an empty result.

Source: a trial of notebooks; `range` of Python, `GENERATE_SERIES` of SQL and others return nothing without a word.
"""

from __future__ import annotations

from typing import Any

import pytest

import dataaccess as da

OPENED = da.col("opened")
JANUARY, FEBRUARY = "2024-01-01", "2024-02-01"
EMPTY = [
    OPENED.between(FEBRUARY, JANUARY),
    OPENED.since(FEBRUARY) & OPENED.until(JANUARY),
    OPENED.after(JANUARY) & OPENED.before(JANUARY),
    OPENED.on(JANUARY) & OPENED.since(FEBRUARY),
    OPENED.on(JANUARY) & OPENED.on(FEBRUARY),
    da.col("closed").since(JANUARY) & OPENED.between(FEBRUARY, JANUARY),
    OPENED.between(JANUARY, FEBRUARY) | OPENED.between(FEBRUARY, JANUARY),
    da.filters.parse(f"col('opened').between('{FEBRUARY}', '{JANUARY}')"),
]


@pytest.mark.parametrize("where", EMPTY, ids=str)
@pytest.mark.parametrize("day_comparison", ["exclusive", "inclusive"])
def test_it_is_refused(client_of: Any, where: Any, day_comparison: Any) -> None:
    client = client_of([], day_comparison=day_comparison)
    with pytest.raises(da.ValidationError) as caught:
        client.search_items("store", ["opened"], where)
    assert [problem.argument for problem in caught.value.problems] == ["where"]
    assert client.stats.requests == 0


@pytest.mark.parametrize("where", [OPENED.between(JANUARY, JANUARY), OPENED.on(JANUARY) & OPENED.until(JANUARY)])
def test_a_range_of_one_day_is_a_range(client_of: Any, where: Any) -> None:
    record = {"opened": f"{JANUARY} 10:00:00"}
    assert client_of([record]).search_items("store", ["opened"], where) == [record]
