"""Ids that are floats are refused with the one advice that keeps leading zeros; many bad values show three of a kind.

Source: a trial of notebooks; `pandas.read_csv` reads ids as floats if one is missing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dataaccess as da

UNREAD = pd.Series([*np.arange(1.0, 5_000), np.nan])


@pytest.mark.parametrize(
    ("values", "shown", "missing"),
    [
        (UNREAD, ["1.0", "2.0", "3.0"], 4_997),
        ([1.0] * 9 + [True] * 9 + [None], ["1.0"] * 3 + ["True"] * 3 + ["None"], 12),
    ],
)
def test_three_of_a_kind_are_shown(values: Any, shown: list[str], missing: int) -> None:
    with pytest.raises(da.ValidationError) as caught:
        da.validate_items("customer", ["name"], da.col("customer_id").matches(values))
    *listed, others = caught.value.problems
    assert [problem.value for problem in listed] == shown
    assert f"{missing} " in others.message
    assert f"{len(values)} " in others.message


def test_the_advice_keeps_leading_zeros_and_works() -> None:
    with pytest.raises(da.ValidationError) as caught:
        da.validate_codes(allocated_time=da.on("2024-01-15"), allocated_audience=UNREAD)
    text = "\n".join([str(caught.value), *map(str, caught.value.problems)])
    assert "dtype" in text
    assert "astype" not in text
    da.validate_items("customer", ["name"], da.col("customer_id").matches(pd.Series(["000001", None]).dropna()))
