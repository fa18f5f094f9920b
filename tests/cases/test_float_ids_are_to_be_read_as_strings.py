"""Ids that are floats are refused with the one advice that keeps leading zeros; many bad values show three of a kind.

Source: a trial of notebooks
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import dataaccess as da

CSV = "id\n" + "\n".join(f"{number:06}" for number in range(1, 5_000)) + "\n\n"
UNREAD = pd.read_csv(io.StringIO(CSV), skip_blank_lines=False)["id"]
READ = pd.read_csv(io.StringIO(CSV), dtype={"id": str}, skip_blank_lines=False)["id"]


def refusals() -> dict[str, Any]:
    found = {}
    cases: dict[str, Callable[[], object]] = {
        "customers": lambda: da.validate_items("customer", ["name"], da.col("customer_id").matches(UNREAD)),
        "codes": lambda: da.validate_codes(allocated_time=da.on("2024-01-15"), allocated_audience=UNREAD),
    }
    for name, validate in cases.items():
        with pytest.raises(da.ValidationError) as error:
            validate()
        found[name] = error.value
    return found


@pytest.mark.parametrize("name", ["customers", "codes"])
def test_the_advice_keeps_leading_zeros(name: str) -> None:
    error = refusals()[name]
    text = "\n".join([str(error), *map(str, error.problems)])
    assert "dtype" in text
    assert "astype" not in text


@pytest.mark.parametrize("name", ["customers", "codes"])
def test_three_of_a_kind_are_shown(name: str) -> None:
    error = refusals()[name]
    listed = [problem for problem in error.problems if "float" in problem.message]
    assert len(listed) == 3
    assert "4997 more of its 5000" in error.problems[-1].message
    assert "\n".join(error.__notes__).count("is a float") <= 3


def test_each_kind_is_shown() -> None:
    with pytest.raises(da.ValidationError) as error:
        da.validate_items("customer", ["name"], da.col("customer_id").matches([1.0] * 9 + [True] * 9 + [None]))
    kinds = [
        next(kind for kind in ("float", "bool", "missing", "more") if kind in each.message)
        for each in error.value.problems
    ]
    assert kinds == ["float"] * 3 + ["bool"] * 3 + ["missing", "more"]


def test_the_advice_works() -> None:
    assert READ.dropna().iloc[0] == "000001"
    da.validate_items("customer", ["name"], da.col("customer_id").matches(READ.dropna()))
