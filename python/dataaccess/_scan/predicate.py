"""What a predicate of polars says about single columns. It knows neither scans nor requests.

polars promises no form of its expressions. So what is not understood says nothing, and the caller must apply the
predicate as well: what is read here holds for every row that the predicate selects, and for others.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

Value: TypeAlias = str | int
_T = TypeVar("_T", bound=date)

_DAY = timedelta(days=1)
_MICROSECOND = timedelta(microseconds=1)
# Operators that say the same with both sides exchanged.
_MIRRORED = {"Eq": "Eq", "EqValidity": "EqValidity", "Lt": "Gt", "LtEq": "GtEq", "Gt": "Lt", "GtEq": "LtEq"}


@dataclass(slots=True)
class Selected:
    """What every selected row has.

    Attributes:
        values: The values that a column may have, by its name.
        times: The least and the greatest time that a column may have, by its name; None where there is no limit. polars
            reads a date as its midnight in UTC, also where the column has another zone.
        days: The first and the last day of its times, as `dt.date()` shows them, by its name; None likewise.
    """

    values: dict[str, list[Value]] = field(default_factory=dict)
    times: dict[str, tuple[datetime | None, datetime | None]] = field(default_factory=dict)
    days: dict[str, tuple[date | None, date | None]] = field(default_factory=dict)

    def _narrow(self, column: Column, values: list[Any]) -> None:
        if values and all(isinstance(value, date) for value in values):
            self._bound(column, min(values), max(values))
        elif values and all(type(value) in (str, int) for value in values):
            known = self.values.get(column.name)
            self.values[column.name] = [value for value in dict.fromkeys(values) if known is None or value in known]

    def _bound(self, column: Column, least: date | None, most: date | None) -> None:
        if column.is_day:
            self.days[column.name] = _within(self.days.get(column.name), least, most)
        else:
            first = None if least is None else _start(least)
            last = None if most is None else _end(most)
            self.times[column.name] = _within(self.times.get(column.name), first, last)


class Column(NamedTuple):
    """A column, or the days of its times."""

    name: str
    is_day: bool


def _within(
    known: tuple[_T | None, _T | None] | None, least: _T | None, most: _T | None
) -> tuple[_T | None, _T | None]:
    """The narrower bounds."""
    pairs = zip(known or (None, None), (least, most), strict=True)
    leasts, mosts = ([bound for bound in pair if bound] for pair in pairs)
    return max(leasts, default=None), min(mosts, default=None)


def selected_by(predicate: pl.Expr) -> Selected:
    """Reads the conjunction that a predicate is."""
    selected = Selected()
    try:
        for expression, node in _conjuncts(predicate):
            _read(expression, node, selected)
    except Exception:  # noqa: BLE001 - another version of polars may write its expressions in any other way
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
                _compare(column, operator, _literal(right), selected)
        case {"Function": {"function": {"Boolean": {"IsIn": _}}}}:
            left, right = _inputs(expression)
            column = _column(left)
            if column is not None and _is_literal(right):
                values = _literal(right)
                selected._narrow(column, values if isinstance(values, list) else values.to_list())  # noqa: SLF001 - of this module
        case {"Function": {"function": {"Boolean": {"IsBetween": _}}}}:
            middle, least, most = _inputs(expression)
            column = _column(middle)
            if column is not None and _is_literal(least) and _is_literal(most):
                _compare(column, "GtEq", _literal(least), selected)
                _compare(column, "LtEq", _literal(most), selected)


def _compare(column: Column, operator: str, value: Any, selected: Selected) -> None:
    if operator in ("Eq", "EqValidity"):
        selected._narrow(column, [value])  # noqa: SLF001 - of this module
    elif isinstance(value, date):
        is_least = operator in ("Gt", "GtEq")
        if column.is_day and operator in ("Gt", "Lt"):
            value += _DAY if is_least else -_DAY
        elif operator == "Lt" and isinstance(value, datetime):
            # The last time of the column: the midnight at which a day ends is of the next one.
            value -= _MICROSECOND
        selected._bound(column, value if is_least else None, None if is_least else value)  # noqa: SLF001 - likewise


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

    return optional("polars", "polars").select(expression).to_series().item()


def _start(value: date) -> datetime:
    """The instant, or the first of a day."""
    return value if isinstance(value, datetime) else datetime.combine(value, time())


def _end(value: date) -> datetime:
    """The instant, or the end of a day."""
    if isinstance(value, datetime):
        return value
    return datetime.combine(value, time()) + _DAY if value < date.max else datetime.max  # noqa: DTZ901 - as columns
