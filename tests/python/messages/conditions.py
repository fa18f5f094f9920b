"""Conditions in Python and as text."""

from __future__ import annotations

import itertools

from support.messages import Case, Cases, User, calls

import dataaccess as da
from dataaccess.filters import parse

CONDITIONS = Cases()

CONDITIONS.add(
    calls(
        """
        col("a") == 1
        col("a") != 1
        col("a") < 1
        col("a") <= 1
        col("a") > 1
        col("a") >= 1
        "x" in col("a")
        not col("a")
        ~col("a")
        col("a") & col("b").equals(1)
        col("a") | col("b").equals(1)
        col("a").like("x%")
        col("a").isin(["x"])
        col("a").is_in(["x"])
        col("a").equals(1) and col("b").equals(2)
        ~col("a").equals(1)
        col("a").equals(1) & col("b")
        col("a").equals(1) & 5
        col("a").equals(1) | da.on("2024-01-15")
        da.on("2024-01-15") & da.on("2024-01-16")
        da.on("2024-01-15") | da.on("2024-01-16")
        ~da.after("2024-01-01")
        setattr(col("a"), "name", "b")
        delattr(col("a"), "name")
        col("a").matches(itertools.count())
        da.filters.nothing
        """,
        lambda _user: {"itertools": itertools},
    )
)


@CONDITIONS.of("more than 100,000 conditions joined by |")
def _joined(_user: User) -> object:
    expression = da.col("a").equals(1)
    while True:
        expression |= expression


def parsed(text: str) -> Case:
    """A condition as text."""
    return Case(f"parse({text if len(text) < 100 else text[:60] + '…'!r})", lambda _user: parse(text))


CONDITIONS.add([
    *map(parsed, [
        "",
        "col('a')",
        "['a', 'b']",
        "2024-01-15",
        "__import__('os').system('true')",
        "open('/etc/passwd')",
        "col('a').__class__",
        "col('a')._condition(1)",
        "col('a').equal(1)",
        "col('a').like('x%')",
        "dais('2024-01-01', '2024-01-03')",
        "between('2024-01-01', '2024-01-03')",
        "days('2024-01-01', '2024-01-03') + 1",
        "days('2024-01-01')",
        "days(2024-01-01, 2024-02-01)",
        "col('a').matches([x for x in (1,)])",
        "col('a').matches(**{'values': 1})",
        "col('a').matches(['b' 'c'])",
        "col('a').equals(1",
        "col('a').equals(x)",
        "col('a').equals(1) and col('b').equals(2)",
        "col('a') == 1",
        "~col('a').equals(1)",
        "col('a').equals(1) | 5",
        "5 | col('a').equals(1)",
        "col('a').equals(1) | on('2024-01-15')",
        "(" * 5_000 + ")" * 5_000,
        " & ".join(["col('a').equals(1)"] * 20_000),
        "on('2024-01-15')\0",
        "{\"OR\": [",
        "{\"OR\": " * 5_000,
        "[1, 2",
        "~" * 30_000 + "1",
    ]),
])  # fmt: skip
