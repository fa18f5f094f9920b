"""Fewer cases than a product of parameters has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def cycled(*parameters: Iterable[Any]) -> list[tuple[Any, ...]]:
    """As many cases as the longest parameter has values, with each value of each parameter in at least one.

    For parameters that do not act on each other. The values of a shorter one return again and again: those of the
    first in each case another, those of a later one more slowly, so that short ones meet in each pair of values.

    Example:
        >>> cycled("abcd", [1, 2], "xy")
        [('a', 1, 'x'), ('b', 2, 'x'), ('c', 1, 'y'), ('d', 2, 'y')]
    """
    values = [list(parameter) for parameter in parameters]
    most = max(map(len, values))
    steps, step = [], 1
    for these in values:
        is_whole = step * (len(these) - 1) < most
        steps.append(step if is_whole and len(these) < most else 1)
        step *= len(these) if len(these) < most else 1
    return [
        tuple(these[case // step % len(these)] for these, step in zip(values, steps, strict=True))
        for case in range(most)
    ]
