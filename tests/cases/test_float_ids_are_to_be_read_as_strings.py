"""Ids that are floats are refused with the one advice that keeps leading zeros; many bad values show three of a kind.

Source: a trial of notebooks
"""

from __future__ import annotations

import io
import re
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
    *listed, others = error.problems
    assert [problem.value for problem in listed] == ["1.0", "2.0", "3.0"]
    assert re.search(r"\b4997\b.*\b5000\b", others.message)
    assert len(error.__notes__) == 4


def test_each_kind_is_shown() -> None:
    with pytest.raises(da.ValidationError) as error:
        da.validate_items("customer", ["name"], da.col("customer_id").matches([1.0] * 9 + [True] * 9 + [None]))
    *listed, others = error.value.problems
    assert [problem.value for problem in listed] == ["1.0"] * 3 + ["True"] * 3 + ["None"]
    assert re.search(r"\b12\b.*\b19\b", others.message)


def test_the_advice_works() -> None:
    assert READ.dropna().iloc[0] == "000001"
    da.validate_items("customer", ["name"], da.col("customer_id").matches(READ.dropna()))
