"""How filters are written: what they read like, what they refuse, and that they travel."""

from __future__ import annotations

import copy
import datetime as dt
import functools
import itertools
import operator
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from dataaccess import filters
from dataaccess.filters import after, before, col, days, last_days, month, on, op, until, yesterday

# Without types, as a notebook has it: what is refused below, a type checker would refuse too.
X: Any = col("x")
CONDITION: Any = X.matches([1, 2])
SAME: Any = CONDITION
AFTER: Any = after("2024-01-01")

SHOWN: list[tuple[object, str]] = [
    (X, "col('x')"),
    (X.matches(["a", "b"]), "col('x').matches(['a', 'b'])"),
    (X.matches("a"), "col('x').matches('a')"),
    (X.equals(3), "col('x').equals(3)"),
    (X.after("2024-01-31"), "col('x').after('2024-01-31')"),
    (X.before(1706659200000), "col('x').before(1706659200000)"),
    (X.on(dt.date(2024, 1, 31)), "col('x').on(datetime.date(2024, 1, 31))"),
    (X.on("2024-01-31", unit="HOUR"), "col('x').on('2024-01-31', unit='HOUR')"),
    (X.op("gt", [1]), "col('x').op('gt', [1])"),
    (
        X.op("gt", "2024-01-31", data_type="datetime", unit="HOUR"),
        "col('x').op('gt', '2024-01-31', data_type='datetime', unit='HOUR')",
    ),
    (X.equals(1) & X.equals(2) & X.equals(3), "col('x').equals(1) & col('x').equals(2) & col('x').equals(3)"),
    (X.equals(1) & (X.equals(2) | X.equals(3)), "col('x').equals(1) & (col('x').equals(2) | col('x').equals(3))"),
    ((X.equals(1) & X.equals(2)) | X.equals(3), "(col('x').equals(1) & col('x').equals(2)) | col('x').equals(3)"),
    (after("2024-01-31"), "after('2024-01-31')"),
    (before("2024-01-31", unit="HOUR"), "before('2024-01-31', unit='HOUR')"),
    (on("2024-01-31"), "on('2024-01-31')"),
    (op("not_matches", [3]), "op('not_matches', [3])"),
    (op("since", "2024-01-31", unit="HOUR"), "op('since', '2024-01-31', unit='HOUR')"),
    (days("2024-01-01", "2024-04-01"), "days('2024-01-01', '2024-04-01')"),
    (month("2024-01"), "month('2024-01')"),
    (last_days(7), "last_days(7)"),
    (yesterday(), "yesterday()"),
    (until("2024-01-31"), "until('2024-01-31')"),
    (X.on(yesterday()), "col('x').on(yesterday())"),
    (X.between("2024-01-01", "2024-01-31"), "col('x').since('2024-01-01') & col('x').until('2024-01-31')"),
]


@pytest.mark.parametrize(("made", "shown"), SHOWN, ids=[shown for _, shown in SHOWN])
def test_a_filter_reads_like_the_code_that_makes_it(made: object, shown: str) -> None:
    assert repr(made) == shown
    assert repr(eval(shown, {**vars(filters), "datetime": dt})) == shown


def test_a_chain_without_end_is_refused_while_it_is_written() -> None:
    # In pieces, as each sign copies the chain before it.
    pieces = (functools.reduce(operator.or_, (X.equals(number) for number in range(100))) for _ in range(200))
    with pytest.raises(ValueError, match=r"10,000 conditions joined by \|: .*matches"):
        functools.reduce(operator.or_, pieces)


@pytest.mark.parametrize(("made", "shown"), SHOWN, ids=[shown for _, shown in SHOWN])
def test_a_filter_travels_and_cannot_be_changed(made: Any, shown: str) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert repr(pickle.loads(pickle.dumps(made, protocol))) == repr(made)
    assert repr(copy.deepcopy(made)) == repr(made)
    assert not hasattr(made, "__dict__")
    with pytest.raises(AttributeError, match="cannot be changed"):
        setattr(made, made.__slots__[0], "another")
    with pytest.raises(AttributeError, match="cannot be changed"):
        delattr(made, made.__slots__[0])
    assert repr(made) == shown


@pytest.mark.parametrize(
    ("write", "instead"),
    [
        (lambda: X == 3, "write col('x').equals(value)"),
        (lambda: X != 3, "write col('x').op(operator, value)"),
        (lambda: X < 3, "write col('x').before(time)"),
        (lambda: X <= 3, "write col('x').until(day)"),
        (lambda: X > 3, "write col('x').after(time)"),
        (lambda: X >= 3, "write col('x').since(day)"),
        (
            lambda: 3 < X,  # noqa: SIM300 - read from the left too
            "write col('x').after(time)",
        ),
        (lambda: 3 in X, "write col('x').matches([...])"),
        (
            lambda: X in [3],
            "write col('x').equals(value), or .matches([...])",
        ),
        (lambda: ~X, "write col('x').op(operator, value)"),
        (lambda: X and CONDITION, "write col('x').matches([...])"),
        (lambda: not X, "write col('x').matches([...])"),
        (lambda: X & CONDITION, "write col('x').matches([...])"),
        (lambda: X | CONDITION, "write col('x').matches([...])"),
        (lambda: CONDITION & X, "write col('x').matches([...])"),
        (lambda: CONDITION == SAME, "(...) & (...)"),
        (lambda: CONDITION != SAME, "(...) & (...)"),
        (lambda: CONDITION < SAME, "(...) & (...)"),
        (lambda: CONDITION and CONDITION, "(...) & (...) or (...) | (...)"),
        (lambda: CONDITION or CONDITION, "(...) & (...) or (...) | (...)"),
        (lambda: not CONDITION, "(...) & (...)"),
        (lambda: 1 in CONDITION, "(...) & (...)"),
        (lambda: ~CONDITION, "the API specification shows no NOT"),
        (lambda: CONDITION & True, "not bool: write each as col(name).matches(values)"),
        (lambda: True | CONDITION, "not bool"),
        (lambda: CONDITION & after("2024-01-31"), "write col(name).after('2024-01-31')"),
        (lambda: AFTER and before("2024-02-01"), "days(start, stop)"),
        (lambda: after("2024-01-01") & before("2024-02-01"), "days(start, stop)"),
        (lambda: after("2024-01-01") | before("2024-02-01"), "days(start, stop)"),
        (lambda: ~after("2024-01-01"), "after(t), before(t), since(day), until(day) and on(day)"),
    ],
)
def test_what_python_would_evaluate_at_once_is_refused_with_what_to_write(
    write: Callable[[], object], instead: str
) -> None:
    with pytest.raises(TypeError) as refused:
        write()
    assert instead in str(refused.value)


def test_columns_and_expressions_can_be_kept_in_sets() -> None:
    other = col("x")
    assert len({X, other, CONDITION}) == 3
    assert {X: "first"}[X] == "first"


def test_comparisons_are_equal_by_what_they_say() -> None:
    assert after("2024-01-31") == after("2024-01-31")
    assert after("2024-01-31") != before("2024-01-31")
    assert days(1, 2) == days(1, 2)
    assert days(1, 2) != after(1)
    assert {on(1), on(1), on(2), days(1, 2), days(1, 2)} == {on(1), on(2), days(1, 2)}
    assert pickle.loads(pickle.dumps(on(1))) == copy.copy(on(1)) == on(1)


def test_values_are_kept_as_they_were_when_written() -> None:
    values = [1]
    condition, comparison = X.matches(values), op("gt", values)
    values.append(2)
    assert (repr(condition), repr(comparison)) == ("col('x').matches([1])", "op('gt', [1])")


def test_an_iterator_is_read_once_and_kept() -> None:
    condition = X.matches(number for number in range(3))
    for _ in range(2):
        assert repr(condition) == "col('x').matches([0, 1, 2])"


def test_an_endless_iterator_ends_in_an_error() -> None:
    with pytest.raises(ValueError, match="more than 1,000,000 values"):
        X.matches(itertools.count())


@pytest.mark.parametrize("join", [operator.and_, operator.or_])
def test_a_long_chain_of_one_sign_is_one_level(join: Callable[[Any, Any], Any]) -> None:
    chain = X.equals(0)
    for number in range(1, 2_000):
        chain = join(chain, X.equals(number))
    assert len(chain._given()) == 1 + 2_000


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("after", ["2024-01-31", "HOUR"]),
        ("before", ["2024-01-31", "HOUR"]),
        ("on", ["2024-01-31", "HOUR"]),
        ("op", ["gt", 17, "number"]),
    ],
)
def test_a_unit_and_a_data_type_are_named(method: str, arguments: list[Any]) -> None:
    with pytest.raises(TypeError, match="positional"):
        getattr(X, method)(*arguments)
