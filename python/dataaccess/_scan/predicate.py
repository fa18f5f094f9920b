"""What a predicate of polars says about single columns. It knows neither scans nor requests.

polars promises no form of its expressions. So what is not understood says nothing, and the caller must apply the
predicate as well: what is read here holds for every row that the predicate selects, and for others.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dataaccess._scan.selected import Column, Selected

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

# Operators that say the same with both sides exchanged.
_MIRRORED = {"Eq": "Eq", "EqValidity": "EqValidity", "Lt": "Gt", "LtEq": "GtEq", "Gt": "Lt", "GtEq": "LtEq"}


def selected_by(predicate: pl.Expr) -> Selected:
    """Reads the conjunction that a predicate is."""
    selected = Selected()
    try:
        for expression, node in _conjuncts(predicate):
            _read(expression, node, selected)
    except Exception:
        return Selected()
    return selected


def _conjuncts(predicate: pl.Expr) -> Iterator[tuple[pl.Expr, Any]]:
    """The parts joined by `and`, each with its serialized form."""
    parts = [(predicate, json.loads(predicate.meta.serialize(format="json")))]
    while parts:
        expression, node = parts.pop()
        match node:
            case {"BinaryExpr": {"left": left, "op": "And" | "LogicalAnd", "right": right}}:
                parts += zip(_inputs(expression), (left, right), strict=True)
            case _:
                yield expression, node


def _read(expression: pl.Expr, node: Any, selected: Selected) -> None:
    """Adds what a part of the conjunction says."""
    match node:
        case {"BinaryExpr": {"op": str(operator)}} if operator in _MIRRORED:
            left, right = _inputs(expression)
            if _is_literal(left):
                left, right, operator = right, left, _MIRRORED[operator]
            column = _column(left)
            if column is not None and _is_literal(right):
                selected.compare(column, operator.removesuffix("Validity"), _literal(right))
        case {"Function": {"function": {"Boolean": {"IsIn": _}}}}:
            left, right = _inputs(expression)
            column = _column(left)
            if column is not None and _is_literal(right):
                values = _literal(right)
                selected.narrow(column, values if isinstance(values, list) else values.to_list())
        case {"Function": {"function": {"Boolean": {"IsBetween": _}}}}:
            middle, least, most = _inputs(expression)
            column = _column(middle)
            if column is not None and _is_literal(least) and _is_literal(most):
                selected.compare(column, "GtEq", _literal(least))
                selected.compare(column, "LtEq", _literal(most))


def _inputs(expression: pl.Expr) -> list[pl.Expr]:
    return expression.meta.pop()[::-1]


def _column(expression: pl.Expr) -> Column | None:
    """The column that this is, or whose day it is."""
    if expression.meta.is_column():
        return Column(expression.meta.output_name(), is_day=False)
    match json.loads(expression.meta.serialize(format="json")):
        case {"Function": {"input": [{"Column": str(name)}], "function": {"TemporalExpr": "Date"}}}:
            return Column(name, is_day=True)
    return None


def _is_literal(expression: pl.Expr) -> bool:
    return expression.meta.is_literal(allow_aliasing=True)


def _literal(expression: pl.Expr) -> Any:
    from dataaccess._core.optional import optional

    return optional("polars").select(expression).to_series().item()
