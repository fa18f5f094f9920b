"""Conditions of a search.

Values become plain Python objects. A request checks them and reports all problems together, so nothing here does.
"""

from dataaccess.filters._conditions import (
    Column,
    Comparison,
    Days,
    Expression,
    after,
    before,
    col,
    days,
    last_days,
    month,
    on,
    op,
    since,
    until,
    yesterday,
)
from dataaccess.filters._parse import parse
from dataaccess.filters._values import Time, Value, Values

__all__ = [
    "Column",
    "Comparison",
    "Days",
    "Expression",
    "Time",
    "Value",
    "Values",
    "after",
    "before",
    "col",
    "days",
    "last_days",
    "month",
    "on",
    "op",
    "parse",
    "since",
    "until",
    "yesterday",
]

# A pickle names this module, so it survives a move of the class.
for _member in (Column, Comparison, Days, Expression, parse):
    _member.__module__ = __name__
