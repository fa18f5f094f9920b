"""A range of days whose end is before its start is an error before anything is sent, not an empty result.

Source: a trial of notebooks; `range` of Python, `GENERATE_SERIES` of SQL and others return nothing without a word.
"""

from __future__ import annotations

from typing import Any

import pytest

import dataaccess as da

OPENED = da.col("opened")
JANUARY, FEBRUARY = "2024-01-01", "2024-02-01"


@pytest.mark.parametrize(
    "where",
    [
        OPENED.between(FEBRUARY, JANUARY),
        OPENED.since(FEBRUARY) & OPENED.until(JANUARY),
        OPENED.after(JANUARY) & OPENED.before(JANUARY),
        OPENED.on(JANUARY) & OPENED.since(FEBRUARY),
        OPENED.on(JANUARY) & OPENED.on(FEBRUARY),
        da.col("closed").since(JANUARY) & OPENED.between(FEBRUARY, JANUARY),
        OPENED.between(JANUARY, FEBRUARY) | OPENED.between(FEBRUARY, JANUARY),
        da.filters.parse(f"col('opened').between('{FEBRUARY}', '{JANUARY}')"),
    ],
    ids=str,
)
@pytest.mark.parametrize("day_comparison", ["exclusive", "inclusive"])
def test_it_is_refused(where: Any, day_comparison: Any) -> None:
    with da.Sandbox() as sandbox, sandbox.client(day_comparison=day_comparison) as client:
        sandbox.declare("visit", 7, {"opened": "timestamp", "closed": "timestamp"})
        with pytest.raises(da.ValidationError) as caught:
            client.search_items("visit", ["opened"], where, item_type_id=7)
        assert [problem.argument for problem in caught.value.problems] == ["where"]
        assert sandbox.requests == []


@pytest.mark.parametrize(
    "where",
    [OPENED.between(JANUARY, JANUARY), OPENED.on(JANUARY) & OPENED.until(JANUARY), OPENED.since(JANUARY)],
    ids=str,
)
def test_a_range_of_one_day_is_a_range(where: Any) -> None:
    with da.Sandbox() as sandbox, sandbox.client() as client:
        sandbox.declare("visit", 7, {"opened": "timestamp"})
        sandbox.load("visit", [{"opened": f"{JANUARY} 10:00:00"}])
        assert len(client.search_items("visit", ["opened"], where, item_type_id=7)) == 1
