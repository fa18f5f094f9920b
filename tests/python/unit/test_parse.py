"""`filters.parse`: reads what `repr` writes, evaluates nothing else, and says where a text is wrong."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dataaccess as da
from dataaccess.filters import Column, Comparison, Days, Expression, parse

TIMES = st.one_of(
    st.dates(), st.datetimes(), st.datetimes(timezones=st.timezones()), st.dates().map(str), st.integers()
)
SCALARS = st.one_of(st.text(), st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False), TIMES)
# Sets of one value: the order of several, and so their repr, depends on the process.
VALUES = st.one_of(
    SCALARS, st.lists(SCALARS), st.lists(SCALARS).map(tuple), st.frozensets(SCALARS, min_size=1, max_size=1).map(set)
)
UNITS = st.sampled_from(["DAY", "HOUR"])
DAYS = st.one_of(
    st.builds(da.days, TIMES, TIMES),
    st.builds(da.month, st.text()),
    st.builds(da.last_days, st.integers()),
    st.just(da.yesterday()),
)
TIME_CONDITIONS = st.one_of(
    DAYS,
    *(st.builds(each, TIMES) for each in (da.since, da.until)),
    st.builds(da.op, st.text(), VALUES, unit=st.none() | UNITS),
    *(st.builds(each, TIMES, unit=UNITS) for each in (da.after, da.before)),
    st.builds(da.on, TIMES | DAYS, unit=UNITS),
)


COLUMNS = st.builds(da.col, st.text())
CONDITIONS = st.one_of(
    st.builds(Column.matches, COLUMNS, VALUES),
    st.builds(Column.equals, COLUMNS, SCALARS),
    *(st.builds(method, COLUMNS, TIMES, unit=UNITS) for method in (Column.after, Column.before)),
    *(st.builds(method, COLUMNS, TIMES) for method in (Column.since, Column.until)),
    st.builds(Column.between, COLUMNS, TIMES, TIMES),
    st.builds(Column.on, COLUMNS, TIMES | DAYS, unit=UNITS),
    st.builds(Column.op, COLUMNS, st.text(), VALUES, data_type=st.none() | st.text(), unit=st.none() | UNITS),
)
EXPRESSIONS = st.recursive(
    CONDITIONS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] & pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] | pair[1]),
    ),
    max_leaves=12,
)


def parts(value: Any) -> Any:
    """What a condition was made of: expressions refuse `==`."""
    if isinstance(value, Expression | Comparison | Days | Column):
        return type(value), [parts(part) for part in value._given()]
    # 1 == True == 1.0, and equal instants of two zones are equal.
    return repr(value)


@given(EXPRESSIONS | TIME_CONDITIONS)
def test_a_condition_is_read_from_its_repr(condition: Any) -> None:
    found = parse(repr(condition))
    assert parts(found) == parts(condition)
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
    ("text", "message"),
    [
        ("__import__('os').system('true')", "character 1: __import__ is not one of after, before, col, days"),
        ("col('a').__class__", "character 1: col('a').__class__ is neither a value nor a condition"),
        ("col('a')._condition(1)", "character 1: col('a')._condition is not one of the methods of col(name): a column"),
        ("col('a').equal(1)", "is not one of the methods of col(name); did you mean 'equals'?"),
        (
            "open('/etc/passwd')",
            "character 1: open is not one of after, before, col, days, last_days, month, on, op, since",
        ),
        ("col('ü').equals(1) | dais('a', 'b')", "character 22: dais is not one of"),
        ("col('ü').equals(1)\n | dais('a', 'b')", "character 23: dais is not one of"),
        # Lines of Python, which str.splitlines() splits further.
        ("col('\u2028\f').equals(1)\r\n | dais('a', 'b')", "character 25: dais is not one of"),
        (" days('a', 'b') + 1", "character 2: days('a', 'b') + 1 is neither a value nor a condition"),
        ("col('a').matches([x for x in (1,)])", "character 18: [x for x in (1,)] is neither a value nor a condition"),
        ("col('a').matches(**{'values': 1})", "has ** in it"),
        ("col('a').matches({['b']})", "character 18: "),
        (
            "days(2024-01-01, 2024-02-01)",
            "is not Python (leading zeros in decimal integer literals are not permitted; ",
        ),
        ("col('a').equals(1", "is not Python ('(' was never closed, character 16)"),
        ("col('a').equals(x)", "character 17: x is neither a value nor a condition: strings are in quotes"),
        ("days('2024-01-01')", "character 1: days() missing 1 required positional argument: 'stop'"),
        ("col('a').equals(1) and col('b').equals(2)", "is neither a value nor a condition: join conditions by & and |"),
        ("col('a') == 1", "is neither a value nor a condition: write a method of col"),
        ("~col('a').equals(1)", "the API specification shows no NOT"),
        ("col('a').equals(1) | 5", "character 22: | joins conditions, not int"),
        ("col('a').equals(1) | on('2024-01-15')", "names no column"),
        ("(" * 5_000 + ")" * 5_000, "too many nested parentheses"),
        (" & ".join(["col('a').equals(1)"] * 20_000), "a condition as text takes 65,536"),
        ("between('2024-01-01', '2024-01-03')", "character 1: between is not one of"),
        ("2024-01-15", "is a day without a condition: write on('2024-01-15')"),
        ("col('a')", "col('a') is a column without a condition: write col('a').matches([...])"),
        ("['a', 'b']", "['a', 'b'] is a value, not a condition"),
        ("col('a').matches(['b' 'c'])", "has two strings without a comma between them, which Python joins"),
        ("col('a').matches(['b',\n 'c'\n \"d\"])", "has two strings without a comma between them"),
        ("", "is not Python (invalid syntax"),
        ("on('2024-01-15')\0", "null"),
    ],
)
def test_nothing_else_is_evaluated(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is below
        parse(text)
    assert message in str(caught.value)


def test_the_example_is_a_date_with_a_zone() -> None:
    zone = dt.timezone(dt.timedelta(hours=7))
    condition = da.after(dt.datetime(2024, 1, 15, tzinfo=zone))
    assert parse(repr(condition)) == condition
