"""Values of a condition are plain Python, whatever library they are of: its `repr` is a text that `parse` reads."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import os
import subprocess
import sys
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.arguments import about

import dataaccess as da
from dataaccess.filters import parse
from dataaccess.filters._values import snapshot

X: Any = da.col("x")
ZONE = ZoneInfo("Asia/Ho_Chi_Minh")


class Local(dt.datetime):
    """A time of another library, whose `repr` is not that of Python."""

    def __repr__(self) -> str:
        return "Local()"


class Word(enum.Enum):
    """An enumeration of a user."""

    ONE = "a"


class Text(str, enum.Enum):  # noqa: UP042 - as programs have it
    """An enumeration of strings."""

    ONE = "a"


class Unnamed(dt.tzinfo):
    """A time zone that has no name."""

    def utcoffset(self, _: object) -> dt.timedelta:
        return dt.timedelta(hours=7)

    def dst(self, _: object) -> None:
        return None

    def tzname(self, _: object) -> None:
        return None


PLAIN: list[tuple[Any, str]] = [
    (da.on("2024-01-15"), "on('2024-01-15')"),
    (da.days("2024-01-15", dt.date(2024, 1, 17)), "days('2024-01-15', datetime.date(2024, 1, 17))"),
    (da.last_days(np.int64(3)), "last_days(3)"),  # type: ignore[arg-type] # a number of numpy
    (da.op("x", [da.CodeStatus.USED]), "op('x', [4])"),
    (X.matches(pd.Series(["a", "b"])), "col('x').matches(['a', 'b'])"),
    (X.matches(pd.Index([1, 2])), "col('x').matches([1, 2])"),
    (X.matches(pl.Series(["a", None])), "col('x').matches(['a', None])"),
    (X.matches(pa.array([1, 2])), "col('x').matches([1, 2])"),
    (X.matches(pa.chunked_array([[1], [2]])), "col('x').matches([1, 2])"),
    (X.matches(np.array([1, 2])), "col('x').matches([1, 2])"),
    (X.matches([np.int8(1), 2.5, np.float32(0.5)]), "col('x').matches([1, 2.5, 0.5])"),
    (X.matches(dict.fromkeys("ba").keys()), "col('x').matches(['b', 'a'])"),
    (X.matches(range(2)), "col('x').matches([0, 1])"),
    (X.matches({"b", "c", "a"}), "col('x').matches(['a', 'b', 'c'])"),
    (X.matches(frozenset(["b", "a"])), "col('x').matches(['a', 'b'])"),
    (X.matches(()), "col('x').matches([])"),
    (X.matches([("a", "b"), ["c"]]), "col('x').matches([['a', 'b'], ['c']])"),
    (X.equals(np.array(1)), "col('x').equals(1)"),
    (X.equals(np.float64(0.5)), "col('x').equals(0.5)"),
    (X.equals(np.str_("a")), "col('x').equals('a')"),
    (X.equals(np.bool_(True)), "col('x').equals(True)"),
    (X.equals(Word.ONE), "col('x').equals('a')"),
    (X.equals(Text.ONE), "col('x').equals('a')"),
    (X.equals(float("-inf")), "col('x').equals(-inf)"),
    (X.on(np.datetime64("2024-01-15")), "col('x').on(datetime.date(2024, 1, 15))"),
    (X.on(np.datetime64("2024-01-15T01", "ns")), "col('x').on(datetime.datetime(2024, 1, 15, 1, 0))"),
    (X.matches(np.array(["2024-01-15"], "M8[D]")), "col('x').matches([datetime.date(2024, 1, 15)])"),
    (
        X.matches(pd.Series(np.array(["2024-01-15"], "M8[ns]"))),
        "col('x').matches([datetime.datetime(2024, 1, 15, 0, 0)])",
    ),
    (X.on(pd.Timestamp("2024-01-15")), "col('x').on(datetime.datetime(2024, 1, 15, 0, 0))"),
    (X.on(dt.datetime(2024, 1, 15, tzinfo=ZONE)), f"col('x').on({dt.datetime(2024, 1, 15, tzinfo=ZONE)!r})"),
    (
        X.on(dt.datetime(2024, 1, 15, tzinfo=Unnamed())),
        f"col('x').on({dt.datetime(2024, 1, 15, tzinfo=dt.timezone(dt.timedelta(hours=7)))!r})",
    ),
    (
        X.on(da.days("2024-01-01", "2024-01-02")) & (X.equals(1) | X.equals(2)),
        "col('x').on(days('2024-01-01', '2024-01-02')) & (col('x').equals(1) | col('x').equals(2))",
    ),
]


@pytest.mark.parametrize(("condition", "text"), PLAIN, ids=[text for _, text in PLAIN])
def test_a_condition_has_plain_values(condition: Any, text: str) -> None:
    assert repr(condition) == text
    assert parse(text) == condition
    assert hash(parse(text)) == hash(condition)


def test_a_time_of_another_class_keeps_its_instant() -> None:
    time = Local(2024, 1, 15, tzinfo=ZONE)
    assert parse(repr(da.after(time))) == da.after(time)


class Mute:
    def __repr__(self) -> str:
        raise RuntimeError


FOREIGN = [
    *(object(), b"a", dict, pd.NaT, pd.DataFrame({"a": [1]}), np.array([1], "m8[ns]")),
    *(np.datetime64("NaT", "s"), np.datetime64("2024-01"), np.datetime64("2024"), np.timedelta64(1, "s")),
]


@pytest.mark.parametrize("value", FOREIGN, ids=lambda value: type(value).__name__)
def test_what_no_condition_can_hold_stays_as_it_is_for_the_check(value: Any) -> None:
    assert X.equals(value).parts[1].value is value
    with pytest.raises(ValueError):  # noqa: PT011 - any
        parse(repr(X.on(value)))


TIMES: list[Any] = [*FOREIGN, dt.time(9, 30), dt.timedelta(1), [1704067200000], Mute(), da.col("x")]
VALUES: list[Any] = [
    *(object(), b"a", dict, pd.NaT, pd.NA, pd.DataFrame({"a": [1]}), decimal.Decimal(3), Mute(), da.col("x")),
    *(da.after("2024-01-01"), None, float("nan"), float("inf"), "\ud800", {"a": 1}),
    *([], [None], ["a", 1], pd.Series([1.0, None])),
]


def test_what_no_request_can_hold_is_refused() -> None:
    for value in TIMES:
        with pytest.raises(da.ValidationError, check=about("where")):
            da.validate_items("customer", ["name"], X.on(value))
        with pytest.raises(da.ValidationError, check=about("allocated_time")):
            da.validate_codes(["id"], allocated_time=da.after(value))
    for value in VALUES:
        with pytest.raises(da.ValidationError, check=about("where")):
            da.validate_items("customer", ["name"], X.matches(value))
    for value in (np.datetime64("2024-01"), np.datetime64("2024")):
        with pytest.raises(da.ValidationError, check=about("where")):
            da.validate_items("customer", ["name"], X.equals(value))


def test_the_text_of_a_set_is_the_same_in_each_process() -> None:
    program = "import dataaccess as da; print(da.col('x').matches(set('abcdefgh')))"
    shown = {
        subprocess.check_output([sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, text=True)
        for seed in ("1", "2", "3")
    }
    assert len(shown) == 1


def test_a_scan_keeps_lists_and_dicts_as_they_were() -> None:
    values: dict[str, Any] = {"OR": [{"AND": [{"value": ["a"]}]}]}
    copy = snapshot(values)
    values["OR"][0]["AND"][0]["value"].append("b")
    assert copy == {"OR": [{"AND": [{"value": ["a"]}]}]}
