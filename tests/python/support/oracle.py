"""The searches of the specification, evaluated in Python over rows that a test holds.

Written from sections 2.4, 4.1 and 4.2 and the table of open points, and from nothing else: a body that
breaks no rule goes in, the records that must come back go out. It knows neither the package nor HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from typing import Any, Literal

Row = dict[str, Any]
DataType = Literal["string", "number", "datetime"]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(eq=False)
class Table:
    """A business object: the `data_type` of each attribute, of which the first identifies a row; and its rows."""

    item_type_id: int
    name: str
    data_types: Mapping[str, DataType]
    rows: list[Row] = field(repr=False)

    def values(self, column: str) -> list[Any]:
        """The values of a column, each once, in order."""
        return sorted({row[column] for row in self.rows if row[column] is not None})


def records(table: Table, body: dict[str, Any], zone: tzinfo = UTC) -> list[Row]:
    """The records of the response to a body, each with the keys asked for in the order asked for."""
    attrs = body["attrs"].split(",") if isinstance(body["attrs"], str) else body["attrs"]
    groups = [group["AND"] for group in body["filters"]["OR"]]
    if table.name == "promotion_code" and is_audience_without_members(groups[0]):
        return []
    found = [
        row
        for row in table.rows
        if any(all(meets(row[condition["column"]], condition, zone) for condition in group) for group in groups)
    ]
    identifier = next(iter(table.data_types))
    found.sort(key=lambda row: row[identifier])
    return [{name.strip(): row[name.strip()] for name in attrs} for row in found]


def is_audience_without_members(conditions: list[Row]) -> bool:
    """Section 4.2, rule 4: AND[1] is required when AND[0] is present; otherwise the response is empty."""
    columns = {condition["column"] for condition in conditions}
    return "audience_type" in columns and "allocated_audience" not in columns


def meets(value: Any, condition: Row, zone: tzinfo) -> bool:
    """Whether a value meets a condition; an unset one meets none."""
    if value is None:
        return False
    if condition["data_type"] == "datetime":
        return compares(day_of_text(value, zone), condition["operator"], day_of_number(condition["value"], zone))
    # `equals` has one value, `matches` any number of them. A string never equals a number.
    return value in condition["value"]


def compares(day: date, operator: str, other: date) -> bool:
    """`before_date` and `after_date` exclude the day itself (open point day_comparison)."""
    return {"before_date": day < other, "equals": day == other, "after_date": day > other}[operator]


@cache
def day_of_text(text: str, zone: tzinfo) -> date:
    """The day of a stored time, which is written in UTC (open point source_timezone)."""
    return datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).astimezone(zone).date()


def day_of_number(milliseconds: int, zone: tzinfo) -> date:
    return (EPOCH + timedelta(milliseconds=milliseconds)).astimezone(zone).date()
