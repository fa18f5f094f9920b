"""Conditions as text: what Airflow keeps in XCom and shows, whatever library the values are of."""

from __future__ import annotations

import datetime as dt
import math
import subprocess
import sys
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

import dataaccess as da
from dataaccess.filters import parse
from dataaccess.filters._parse import read
from dataaccess.filters._text import text_of

X: Any = da.col("x")
ZONE = ZoneInfo("Asia/Ho_Chi_Minh")


class Local(dt.datetime):
    """A time of another library, whose `repr` is not that of Python."""

    def __repr__(self) -> str:
        return "Local()"


SERIALIZED: list[tuple[Any, str]] = [
    (da.on("2024-01-15"), "on('2024-01-15')"),
    (da.days("2024-01-15", dt.date(2024, 1, 17)), "days('2024-01-15', datetime.date(2024, 1, 17))"),
    (da.last_days(3), "last_days(3)"),
    (da.yesterday(), "yesterday()"),
    (da.op("x", [da.CodeStatus.USED]), "op('x', [4])"),
    (X.matches(pd.Series(["a", "b"])), "col('x').matches(['a', 'b'])"),
    (X.matches(np.array([1, 2])), "col('x').matches([1, 2])"),
    (X.equals(np.array(1)), "col('x').equals(1)"),
    (X.equals(np.float64(0.5)), "col('x').equals(0.5)"),
    (X.equals(np.str_("a")), "col('x').equals('a')"),
    (X.equals(np.bool_(True)), "col('x').equals(True)"),
    (X.matches({"b", "c", "a"}), "col('x').matches(['a', 'b', 'c'])"),
    (X.op("in", {"a": np.int64(1)}), "col('x').op('in', {'a': 1})"),
    (X.on(np.datetime64("2024-01-15")), "col('x').on(datetime.date(2024, 1, 15))"),
    (X.on(np.datetime64("2024-01-15T01", "ns")), "col('x').on(datetime.datetime(2024, 1, 15, 1, 0))"),
    (X.on(pd.Timestamp("2024-01-15")), "col('x').on(datetime.datetime(2024, 1, 15, 0, 0))"),
    (X.on(dt.datetime(2024, 1, 15, tzinfo=ZONE)), f"col('x').on({dt.datetime(2024, 1, 15, tzinfo=ZONE)!r})"),
    (
        X.on(da.days("2024-01-01", "2024-01-02")) & (X.equals(1) | X.equals(2)),
        "col('x').on(days('2024-01-01', '2024-01-02')) & (col('x').equals(1) | col('x').equals(2))",
    ),
]


@pytest.mark.parametrize(("condition", "text"), SERIALIZED, ids=[text for _, text in SERIALIZED])
def test_a_condition_becomes_text_and_a_condition_again(condition: Any, text: str) -> None:
    assert condition.serialize() == text
    assert repr(type(condition).deserialize(text, type(condition).__version__)) == text


def test_a_time_of_another_class_keeps_its_instant() -> None:
    time = Local(2024, 1, 15, tzinfo=ZONE)
    condition = parse(da.after(time).serialize())
    assert condition == da.after(time)


@pytest.mark.parametrize("value", [object(), math.nan, pd.NaT], ids=["object", "nan", "nat"])
def test_a_value_that_text_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="values of a condition in XCom are strings, numbers and dates"):
        X.matches([value]).serialize()


def test_a_column_is_no_condition() -> None:
    with pytest.raises(ValueError, match="is a column without a condition"):
        X.serialize()


def test_the_text_of_a_newer_version_or_of_another_class_is_refused() -> None:
    with pytest.raises(ValueError, match="was written by a newer version of dataaccess"):
        da.filters.Comparison.deserialize("on('2024-01-15')", 2)
    with pytest.raises(ValueError, match="is of the class Comparison, not Days"):
        da.filters.Days.deserialize("on('2024-01-15')", 1)


def test_the_text_of_a_set_is_the_same_in_each_process() -> None:
    program = "import dataaccess as da; print(da.col('x').matches(set('abcdefgh')).serialize())"
    shown = {
        subprocess.check_output([sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, text=True)
        for seed in ("1", "2", "3")
    }
    assert len(shown) == 1


def test_values_that_are_not_known_have_names() -> None:
    unknown = object()
    condition = X.matches([unknown, "a"]) | X.on(unknown)
    text = text_of(condition, lambda value: "later" if value is unknown else None)
    assert text == "col('x').matches([later, 'a']) | col('x').on(later)"
    assert repr(read(text, {"later": "b"})) == "col('x').matches(['b', 'a']) | col('x').on('b')"
