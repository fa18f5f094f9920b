"""Conditions in Python and as text."""

from __future__ import annotations

import itertools

from support.messages import Case, Cases, User

import dataaccess as da
from dataaccess.filters import parse

CONDITIONS = Cases(lambda _user: {"itertools": itertools, "parse": parse})


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
        "(" * 5_000 + ")" * 5_000,
        " & ".join(["col('a').equals(1)"] * 20_000),
        "~" * 30_000 + "1",
    ]),
])  # fmt: skip
