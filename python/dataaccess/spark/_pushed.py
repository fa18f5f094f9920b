"""What filters say that Spark passes on (Spark 4.1 and newer): about single columns, and about the requested day.

A filter that is not understood says nothing, as Spark applies it too.
"""

from __future__ import annotations

import operator
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import datasource as spark

from dataaccess._scan.selected import Column, Selected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataaccess.spark._columns import Columns

# Classes of filters, by what they say. Spark's filters select no row where the column is null.
_OPERATORS: dict[type, str] = {
    spark.EqualTo: "Eq",
    spark.EqualNullSafe: "Eq",
    spark.LessThan: "Lt",
    spark.LessThanOrEqual: "LtEq",
    spark.GreaterThan: "Gt",
    spark.GreaterThanOrEqual: "GtEq",
}
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "Eq": operator.eq,
    "Lt": operator.lt,
    "LtEq": operator.le,
    "Gt": operator.gt,
    "GtEq": operator.ge,
}


def selected_by(filters: Iterable[Any]) -> Selected:
    """What every row has that these filters select together."""
    selected = Selected()
    for each in filters:
        try:
            _read(each, selected)
        except OverflowError:
            # The day after the last one of the calendar.
            continue
    return selected


def _read(each: Any, selected: Selected) -> None:
    if isinstance(each, spark.In):
        selected.narrow(_column(each, each.value[0] if each.value else None), list(each.value))
    elif type(each) in _OPERATORS:
        selected.compare(_column(each, each.value), _OPERATORS[type(each)], each.value)


def _column(each: Any, value: object) -> Column:
    """The column of a filter. Columns of Spark's type `date` have days."""
    return Column(".".join(each.attribute), is_day=isinstance(value, date) and not isinstance(value, datetime))


class Days:
    """The filters of the column with the requested day: a request is sent if all of them select its day.

    Attributes:
        others: The other filters, and those of the column that Spark has to apply.
    """

    def __init__(self, filters: Iterable[Any], columns: Columns) -> None:
        """Reads the filters."""
        self._is_text = columns.day is not None and columns.kind(columns.day) == "string"
        self._tests: list[Callable[[Any], bool]] = []
        self.others = []
        for each in filters:
            test = self._test(each) if getattr(each, "attribute", None) == (columns.day,) else None
            if test is None:
                self.others.append(each)
            else:
                self._tests.append(test)

    def select(self, day: str | None) -> bool:
        """Whether the filters select this day."""
        shown: Any = day if day is None or self._is_text else date.fromisoformat(day)
        return all(test(shown) for test in self._tests)

    def _test(self, each: Any) -> Callable[[Any], bool] | None:
        """What a filter says about a day; None if it is not understood."""
        if isinstance(each, spark.IsNotNull):
            return lambda _: True
        values = each.value if isinstance(each, spark.In) else (each.value,) if type(each) in _OPERATORS else ()
        kind = str if self._is_text else date
        if not values or not all(type(value) is kind for value in values):
            return None
        # Days as strings are ASCII, so that Python orders them as Spark does.
        compare = _COMPARISONS[_OPERATORS.get(type(each), "Eq")]
        return lambda day: any(compare(day, value) for value in values)
