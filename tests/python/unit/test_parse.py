"""`filters.parse`: reads what `repr` writes, evaluates nothing else, and says where any other text is wrong."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import dataaccess as da
from dataaccess.filters import Column, parse


def has_values(values: Any) -> bool:
    """Whether no value is NaN, which equals nothing: pandas has it for None among numbers."""
    return not pd.isna(values).any()


TIMES = st.one_of(
    st.dates(), st.datetimes(), st.datetimes(timezones=st.timezones()), st.dates().map(str), st.integers()
)
SCALARS = st.one_of(st.text(), st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False), TIMES)
# Of other libraries too: a condition keeps plain values.
SERIES = st.lists(st.integers(0, 9) | st.none()).map(pd.Series) | st.lists(st.integers(0, 9)).map(np.array)
VALUES = st.one_of(
    *(SCALARS, st.lists(SCALARS), st.lists(SCALARS).map(tuple), st.frozensets(SCALARS).map(set)),
    *(st.dictionaries(st.text(), SCALARS), SERIES.filter(has_values)),
)
DAYS = st.one_of(
    st.builds(da.days, TIMES, TIMES),
    st.builds(da.month, st.text()),
    st.builds(da.last_days, st.integers()),
    st.just(da.yesterday()),
)
TIME_CONDITIONS = st.one_of(
    DAYS,
    *(st.builds(each, TIMES) for each in (da.since, da.until, da.after, da.before)),
    st.builds(da.op, st.text(), VALUES, unit=st.none() | st.text()),
    st.builds(da.on, TIMES | DAYS),
)


COLUMNS = st.builds(da.col, st.text())
CONDITIONS = st.one_of(
    st.builds(Column.matches, COLUMNS, VALUES),
    st.builds(Column.equals, COLUMNS, SCALARS),
    *(st.builds(method, COLUMNS, TIMES) for method in (Column.since, Column.until, Column.after, Column.before)),
    st.builds(Column.between, COLUMNS, TIMES, TIMES),
    st.builds(Column.on, COLUMNS, TIMES | DAYS),
    st.builds(Column.op, COLUMNS, st.text(), VALUES, data_type=st.none() | st.text(), unit=st.none() | st.text()),
)
EXPRESSIONS = st.recursive(
    CONDITIONS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] & pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] | pair[1]),
    ),
    max_leaves=12,
)


@given(EXPRESSIONS | TIME_CONDITIONS)
def test_a_condition_is_read_from_its_repr(condition: Any) -> None:
    found = parse(repr(condition))
    assert found == condition
    # 1 == True == 1.0, and equal instants of two zones are equal.
    assert repr(found) == repr(condition)


def test_a_long_chain_is_read() -> None:
    chain = " | ".join(f"col('x').equals({number})" for number in range(2_000))
    assert repr(parse(chain)) == chain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("da.days('2024-01-01', '2024-01-03')", "days('2024-01-01', '2024-01-03')"),
        ("  dataaccess.on(datetime.date(2024, 1, 15))\n", "on(datetime.date(2024, 1, 15))"),
        ("col('a').equals(1)\n  | col('b').equals(2)", "col('a').equals(1) | col('b').equals(2)"),
        ('col("a").matches(["x", "y"])', "col('a').matches(['x', 'y'])"),
        ("da.month('2024-01')", "month('2024-01')"),
        ("col('a').matches(['', \"it's\" , 'b'])", "col('a').matches(['', \"it's\", 'b'])"),
        ("col('a').equals('\"b\" \"c\"')", "col('a').equals('\"b\" \"c\"')"),
        ("col('a').on(da.last_days(7))", "col('a').on(last_days(7))"),
        ("col('a').between('2024-01-01', '2024-01-03')", "col('a').since('2024-01-01') & col('a').until('2024-01-03')"),
    ],
)
def test_a_condition_may_be_written_in_other_ways(text: str, shown: str) -> None:
    assert repr(parse(text)) == shown


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("__import__('os').system('true')", 1),
        ("col('a').__class__", 1),
        ("col('a')._compared(1)", 1),
        ("open('/etc/passwd')", 1),
        ("col('ü').equals(1) | dais('a', 'b')", 22),
        ("col('ü').equals(1)\n | dais('a', 'b')", 23),
        # Lines of Python, which str.splitlines() splits further.
        ("col('\u2028\f').equals(1)\r\n | dais('a', 'b')", 25),
        (" days('a', 'b') + 1", 2),
        ("col('a').matches(lambda: 1)", 18),
        ("col('a').matches(*['b'])", 18),
        ("col('a').matches({**{'b': 1}})", 18),
        ("col('a').matches({['b']: 1})", 18),
        ("col('a').equals(b'b')", 17),
        ("col('a').equals(f'b')", 17),
        ("col('a').equals(1j)", 17),
        ("col('a').equals(1 + 1)", 17),
        ("col('a').equals(1 | 2)", 17),
        ("col('a').equals(not 1)", 17),
        ("col('a').equals('b'.upper())", 17),
        ("col('a').equals(days.__globals__)", 17),
        ("col('a').on(datetime.date.today())", 13),
        ("col('a').equals(x := 1)", 17),
        ("days(2024-01-01, 2024-02-01)", 11),
        ("col('a').on(datetime.date(2024, 13, 1))", 13),
        ("col('a').on(datetime.datetime(2024, 1, 1, tzinfo=ZoneInfo('Mars/Olympus')))", 50),
        ("on('2024-01-15') & on('2024-01-16')", 20),
        ("(" * 5_000 + ")" * 5_000, 201),
        ("2024-11-15", 1),
        ("col('a').matches(['b',\n 'c'\n \"d\"])", 25),
    ],
)
def test_nothing_else_is_read_and_the_error_has_the_position(text: str, position: int) -> None:
    with pytest.raises(ValueError, match=rf": character {position}: .*") as caught:
        parse(text)
    assert type(caught.value) is ValueError


@pytest.mark.parametrize(
    "text",
    [
        "col('a')",
        "['a', 'b']",
        "on('2024-01-15'), on('2024-01-16')",
        "datetime.date(2024, 1, 15)",
        "on('2024-01-15')\0",
        "on('\ud800')",
        " & ".join(["col('a').equals(1)"] * 20_000),
    ],
    ids=["column", "list", "two", "date", "null", "surrogate", "long"],
)
def test_a_text_of_something_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the class alone
        parse(text)
    assert type(caught.value) is ValueError


WORDS = [
    *("col('a')", ".matches", ".equals", ".on", ".between", "on", "days", "op", "month", "last_days", "yesterday()"),
    *("datetime.date(2024, 1, 15)", "datetime.timedelta(", "ZoneInfo(", "timezone.utc", "da.", "datetime."),
    *("'2024-01-15'", "'a'", '"ü"', "1", "-1", "1e999", "0x1F", "1j", "b''", "f''", "None", "True", "..."),
    *("(", ")", "[", "]", "{", "}", ",", ":", "=", "*", "**", "&", "|", "~", "-", ".", "\\", "#", "'", '"'),
    *(" ", "\n", "\r", "\t", "\f", "\x1c", "\u2028", "\0", "\ufeff", "lambda", " if ", " for ", " in ", "not ", "x:="),
]
TEXTS = st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=25).map("".join)
PLACE = re.compile(r"character (\d+)")


def read(text: str) -> object:
    """The condition, or the error."""
    try:
        return parse(text)
    except ValueError as error:
        return error


@given(TEXTS | st.text())
@example("{[1]}")
@example("col('a').matches({[1]})")
@example("\f\n(x")
@example("('ü'\x0cx,\nü)")
@example("'\\d'")
def test_any_text_is_a_condition_or_says_where_it_is_wrong(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = read(text)
    if isinstance(found, ValueError):
        assert type(found) is ValueError
        places = PLACE.findall(str(found).removeprefix(repr(text)))
        assert all(1 <= int(place) <= len(text) + 1 for place in places)
    else:
        assert repr(parse(repr(found))) == repr(found)
