"""The text of an option as the Python value that it writes, such as `days("2024-01-01", "2024-04-01")`.

Nothing is evaluated: literals, dates, and the names of `dataaccess` that make conditions are all that is read. They
read what the `repr` of the same values is, which Spark makes of an option that is no string.
"""

from __future__ import annotations

import ast
import re
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from dataaccess import filters

if TYPE_CHECKING:
    from collections.abc import Callable

_CALLS: dict[str, Callable[..., Any]] = {
    **{name: getattr(filters, name) for name in ("after", "before", "between", "col", "days", "on", "op", "since")},
    "date": date,
    "datetime": datetime,
}
_METHODS = ("matches", "equals", "after", "before", "since", "between", "on", "op")
_DAY = re.compile(r"\d{4}-\d\d")
# What may be written before a dot without being called: `da.days(…)`, `datetime.date(…)`.
_MODULES = ("da", "dataaccess", "datetime")


class NotReadError(ValueError):
    """The text writes none of the values that an option can have."""


def value_of(text: str) -> Any:
    """The value that a text writes.

    Raises:
        NotReadError: It writes another one, or is not Python.
    """
    if _DAY.match(text.strip()):
        raise NotReadError("is a day without a condition: write on('2024-01-15'), since(…), after(…) or before(…)")
    if text.startswith("Column<"):
        raise NotReadError("is a column of Spark: use da.col, such as da.col('customer_id').equals('17')")
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except NotReadError:
        raise
    except SyntaxError as error:
        raise NotReadError(f"is not Python ({error.msg}); strings are in quotes") from None
    except (RecursionError, MemoryError):
        raise NotReadError("is nested too deeply") from None
    except (TypeError, ValueError) as error:
        # Of a call, such as `days` with one argument.
        raise NotReadError(str(error)) from None


def words(text: str) -> list[Any]:
    """The values of a list: `sent, used`, or a Python list."""
    if text.lstrip()[:1] in ("[", "(", "{"):
        found = value_of(text)
        return list(found) if isinstance(found, list | tuple | set) else [found]
    return [word.strip() for word in text.split(",")]


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
        left, right = _value(node.left), _value(node.right)
        return left & right if isinstance(node.op, ast.BitAnd) else left | right
    if isinstance(node, ast.Call):
        arguments = [_value(each) for each in node.args]
        keywords = {each.arg: _value(each.value) for each in node.keywords if each.arg is not None}
        return _called(node.func)(*arguments, **keywords)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        pass
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_value(each) for each in node.elts]
    raise NotReadError(f"{ast.unparse(node)} is neither a value nor a condition")


def _called(function: ast.expr) -> Callable[..., Any]:
    """The function of a call: one of ours, a date, or a method of `col`."""
    if isinstance(function, ast.Name) and function.id in _CALLS:
        return _CALLS[function.id]
    if isinstance(function, ast.Attribute):
        owner, name = function.value, function.attr
        if isinstance(owner, ast.Name) and owner.id in _MODULES and name in _CALLS:
            return _CALLS[name]
        if isinstance(owner, ast.Call) and _called(owner.func) is filters.col and name in _METHODS:
            method: Callable[..., Any] = getattr(_value(owner), name)
            return method
    raise NotReadError(f"{ast.unparse(function)} is not one of {', '.join(sorted(_CALLS))}")
