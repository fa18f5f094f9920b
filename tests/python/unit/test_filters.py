"""How filters are written: what they read like, what they refuse, and that they travel."""

from __future__ import annotations

import copy
import dataclasses
import datetime as dt
import functools
import operator
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from dataaccess.filters import after, before, col, days, month, on, op, yesterday

# Without types, as a notebook has it: what is refused below, a type checker would refuse too.
X: Any = col("x")
CONDITION: Any = X.matches([1, 2])
SAME: Any = CONDITION
AFTER: Any = after("2024-01-01")

SHOWN: list[tuple[object, str]] = [
    (X, "col('x')"),
    (
        X.op("gt", "2024-01-31", data_type="datetime", unit="HOUR"),
        "col('x').op('gt', '2024-01-31', data_type='datetime', unit='HOUR')",
    ),
    (X.equals(1) & (X.equals(2) | X.equals(3)), "col('x').equals(1) & (col('x').equals(2) | col('x').equals(3))"),
    ((X.equals(1) & X.equals(2)) | X.equals(3), "(col('x').equals(1) & col('x').equals(2)) | col('x').equals(3)"),
    (after("2024-01-31"), "after('2024-01-31')"),
    (op("since", "2024-01-31", unit="HOUR"), "op('since', '2024-01-31', unit='HOUR')"),
    (X.on(days("2024-01-01", dt.date(2024, 4, 1))), "col('x').on(days('2024-01-01', datetime.date(2024, 4, 1)))"),
    (yesterday(), "yesterday()"),
    (X.between("2024-01-01", "2024-01-31"), "col('x').since('2024-01-01') & col('x').until('2024-01-31')"),
]


def test_a_chain_without_end_is_refused_while_it_is_written() -> None:
    # In pieces, as each sign copies the chain before it.
    pieces = (functools.reduce(operator.or_, (X.equals(number) for number in range(100))) for _ in range(200))
    with pytest.raises(ValueError, match=r"\b10,000 .*\|.*\bmatches\b"):
        functools.reduce(operator.or_, pieces)


@pytest.mark.parametrize(("made", "shown"), SHOWN, ids=[shown for _, shown in SHOWN])
def test_a_filter_travels_and_cannot_be_changed(made: Any, shown: str) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        pickled = pickle.dumps(made, protocol)
        assert b"dataaccess.filters" in pickled
        assert b"dataaccess.filters." not in pickled
        assert repr(pickle.loads(pickled)) == repr(made)
    assert copy.copy(made) == copy.deepcopy(made) == made
    assert not hasattr(made, "__dict__")
    for field in dataclasses.fields(made):
        with pytest.raises(AttributeError):
            setattr(made, field.name, "another")
        with pytest.raises(AttributeError):
            delattr(made, field.name)
    assert repr(made) == shown


REFUSED: dict[str, Callable[[], object]] = {
    "==": lambda: X == 3,
    "!=": lambda: X != 3,
    "<": lambda: X < 3,
    "<=": lambda: X <= 3,
    ">": lambda: X > 3,
    ">=": lambda: X >= 3,
    "chained": lambda: 3 < X < 5,
    "in a column": lambda: 3 in X,
    "a column in": lambda: X in [3],
    "not a column": lambda: not X,
    "~ column": lambda: ~X,
    "column and": lambda: X and CONDITION,
    "column &": lambda: X & CONDITION,
    "column |": lambda: X | CONDITION,
    "& column": lambda: CONDITION & X,
    "condition and": lambda: CONDITION and CONDITION,
    "condition or": lambda: CONDITION or CONDITION,
    "not condition": lambda: not CONDITION,
    "condition <": lambda: CONDITION < SAME,
    "in a condition": lambda: 1 in CONDITION,
    "~ condition": lambda: ~CONDITION,
    "& bool": lambda: CONDITION & True,
    "bool |": lambda: True | CONDITION,
    "& comparison": lambda: CONDITION & after("2024-01-31"),
    "comparison and": lambda: AFTER and before("2024-02-01"),
    "comparison &": lambda: after("2024-01-01") & before("2024-02-01"),
    "comparison |": lambda: after("2024-01-01") | before("2024-02-01"),
    "~ comparison": lambda: ~after("2024-01-01"),
    "days or": lambda: days("2024-01-01", "2024-01-03") or yesterday(),
    "not days": lambda: not month("2024-01"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_python_would_evaluate_itself_is_refused(name: str) -> None:
    with pytest.raises(TypeError):
        REFUSED[name]()


def test_conditions_can_be_kept_in_sets() -> None:
    other = col("x")
    assert len({X, other, CONDITION, other.matches([1, 2]), X.matches([1])}) == 3
    assert {X: "first"}[other] == "first"


def test_comparisons_are_equal_by_what_they_say() -> None:
    assert after("2024-01-31") == after("2024-01-31")
    assert after("2024-01-31") != before("2024-01-31")
    assert days(1, 2) == days(1, 2)
    other: object = after(1)
    assert days(1, 2) != other
    assert {on(1), on(1), on(2), days(1, 2), days(1, 2)} == {on(1), on(2), days(1, 2)}
    assert pickle.loads(pickle.dumps(on(1))) == copy.copy(on(1)) == on(1)


def test_conditions_are_equal_by_what_they_say() -> None:
    assert X.matches(["a"]) == col("x").matches(("a",)) != col("y").matches(["a"])
    assert X.matches(["a"]) != X.matches("a")
    assert X.equals(1) & X.equals(2) == X.equals(1) & X.equals(2) != X.equals(2) & X.equals(1)
    assert X.equals(1) & X.equals(2) != X.equals(1) | X.equals(2)


def test_values_are_kept_as_they_were_when_written() -> None:
    values = [1]
    condition, comparison = X.matches(values), op("gt", values)
    values.append(2)
    assert (repr(condition), repr(comparison)) == ("col('x').matches([1])", "op('gt', [1])")


@pytest.mark.parametrize("join", [operator.and_, operator.or_])
def test_a_long_chain_of_one_sign_is_one_level(join: Callable[[Any, Any], Any]) -> None:
    chain = X.equals(0)
    for number in range(1, 2_000):
        chain = join(chain, X.equals(number))
    assert len(chain.parts) == 2_000
