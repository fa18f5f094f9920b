"""Conditions of a search.

Values are kept as given. A request checks them and reports all problems together, so nothing here checks a value.
"""

from dataaccess.filters._column import Column, Expression, col
from dataaccess.filters._comparison import Comparison, Days, after, before, between, days, on, op, since
from dataaccess.filters._values import Scalar, Time, Value, Values

__all__ = [
    "Column",
    "Comparison",
    "Days",
    "Expression",
    "Scalar",
    "Time",
    "Value",
    "Values",
    "after",
    "before",
    "between",
    "col",
    "days",
    "on",
    "op",
    "since",
]

# A pickle names this module, so it survives a move of the class.
for _class in (Column, Comparison, Days, Expression):
    _class.__module__ = __name__
