"""What may be given as an argument, and what it becomes: nothing is converted in silence, nothing hangs."""

from __future__ import annotations

import datetime as dt
import decimal
import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.arguments import about

import dataaccess as da

MIDNIGHT = 1704067200000


def body_of(value: Any) -> Any:
    where = da.col("a").matches(value)
    body = da.validate_items("voucher", ["a"], where, item_type_id=5)
    return body["filters"]["OR"][0]["AND"][0]


def refuse(value: Any) -> None:
    with pytest.raises(da.ValidationError, check=about("where")):
        body_of(value)


@pytest.mark.parametrize(
    "time",
    [
        dt.date(2024, 1, 1),
        dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
        dt.datetime(2024, 1, 1, 7, tzinfo=dt.timezone(dt.timedelta(hours=7))),
        pd.Timestamp("2024-01-01"),
        pd.Timestamp("2024-01-01 07:00", tz="Asia/Bangkok"),
        np.datetime64("2024-01-01"),
        np.datetime64("2024-01-01T00:00:00.000000000"),
        "2024-01-01",
        "2024-01-01T00:00:00Z",
        MIDNIGHT,
        np.int64(MIDNIGHT),
    ],
    ids=repr,
)
def test_times_of_every_kind_are_milliseconds(time: Any) -> None:
    body = da.validate_codes(["id"], allocated_time=da.before(time))
    assert body["filters"]["OR"][0]["AND"][0]["value"] == MIDNIGHT


@pytest.mark.parametrize(
    "time",
    [
        pd.NaT,
        *(
            np.datetime64("NaT", "ms"),
            np.datetime64("2024"),
            np.datetime64("2024-01"),
            np.timedelta64(5, "D"),
            dt.time(9, 30),
            [MIDNIGHT],
            b"2024-01-01",
            dt.timedelta(1),
        ),
    ],
    ids=repr,
)
def test_what_is_no_time_is_refused(time: Any) -> None:
    with pytest.raises(da.ValidationError, check=about("allocated_time")):
        da.validate_codes(["id"], allocated_time=da.after(time))


class Mute:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    "value",
    [
        *(decimal.Decimal(3), b"abc", float("nan"), float("inf"), None, [None], ["a", 1], {"a": 1}, pd.NA, "\ud800"),
        *(pd.DataFrame({"a": [1]}), int, Mute(), da.col("x"), da.after("2024-01-01"), [], pd.Series([1.0, None])),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_no_request_can_hold_is_refused(value: Any) -> None:
    refuse(value)


@pytest.mark.slow
def test_reading_ends_whatever_is_given() -> None:
    itself: list[Any] = []
    itself.append(itself)
    twice: list[Any] = []
    twice.extend([twice, twice])
    deep: Any = 1
    for _ in range(300):
        deep = [deep]
    for value in (itself, twice, deep):
        refuse(value)
    with pytest.raises(ValueError, match="1,000,000"):
        da.col("a").matches(itertools.count())
    expression = da.col("a").equals(1)
    for _ in range(300):
        expression = (expression & da.col("b").equals(2)) | da.col("c").equals(3)
    with pytest.raises(da.ValidationError):
        da.validate_items("voucher", ["a"], expression, item_type_id=5)


def test_an_error_of_the_callers_own_iterable_is_the_callers() -> None:
    class Failing:
        def __iter__(self) -> Any:
            yield 1
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        body_of(Failing())


@pytest.mark.parametrize("statuses", [[7], [7, 8], [7, 8, 7], list(range(10, 16))])
def test_problems_found_in_python_are_told_as_those_of_the_core(client: Any, statuses: list[int]) -> None:
    with pytest.raises(da.ValidationError) as caught:
        client.validate_codes(allocated_time=da.on("2024-01-15"), code_status=statuses, limit=0)
    assert da.ValidationError(problems=caught.value.problems).args == caught.value.args


@pytest.mark.parametrize(
    "condition", [da.on, da.days, da.yesterday, da.month, da.op, da.col("allocated_time").on("2024-01-15")]
)
def test_a_function_in_place_of_a_condition_is_refused(client: Any, condition: Any) -> None:
    for call in (client.search_codes, client.scan_codes, client.validate_codes, da.validate_codes):
        with pytest.raises(da.ValidationError) as caught:
            call(allocated_time=condition)
        assert [problem.argument for problem in caught.value.problems] == ["allocated_time"]
