"""Conditions of a search.

Values are kept as given. A request checks them and reports all problems together, so nothing here checks a value.
"""

from dataaccess.filters._column import Column, Expression, col
from dataaccess.filters._comparison import (
    Comparison,
    Days,
    after,
    before,
    days,
    last_days,
    month,
    on,
    op,
    since,
    until,
    yesterday,
)
from dataaccess.filters._values import Scalar, Time, Value, Values

TYPE_CHECKING = False

if TYPE_CHECKING:
    from dataaccess.filters._parse import condition_of as condition_of
    from dataaccess.filters._parse import parse

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
for _class in (Column, Comparison, Days, Expression):
    _class.__module__ = __name__

if not TYPE_CHECKING:  # so that type checkers report a name that does not exist

    def __getattr__(name: str) -> object:
        """Loads `parse` and `condition_of` at their first use: few programs read conditions from text."""
        if name not in ("parse", "condition_of"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from dataaccess.filters._parse import condition_of, parse

        parse.__module__ = __name__
        globals().update(parse=parse, condition_of=condition_of)
        return globals()[name]


def __dir__() -> list[str]:
    """The conditions, for tab completion."""
    return __all__
