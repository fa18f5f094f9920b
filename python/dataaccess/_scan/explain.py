"""The plan of a scan as text: what the service filters, and which columns come back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from dataaccess._scan.text_table import cell, counted
from dataaccess.types import AudienceType, CodeStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PROMOTION_CODES = -100
_CODE_TYPES = {
    "pool_id": "int64",
    "date_created": "timestamp",
    "allocated_time": "timestamp",
    "audience_type": "int64",
    "code_status": "int64",
}
_ENUMS = {"audience_type": AudienceType, "code_status": CodeStatus}
# Values of a condition, and groups of conditions, that are shown.
_MAX_VALUES = 5
_MAX_GROUPS = 10


def plan_text(
    requests: int,
    first: dict[str, Any],
    last: dict[str, Any],
    columns: list[str],
    schema: Mapping[str, Any],
    limit: int | None,
) -> str:
    """The plan of requests whose first and last bodies are given: conditions that differ have a value per request."""
    of_codes = first["itemTypeId"] == _PROMOTION_CODES
    groups, ends = first["filters"]["OR"], last["filters"]["OR"]
    filters: list[str] = []
    for group, end in list(zip(groups, ends, strict=True))[:_MAX_GROUPS]:
        conditions = [_condition(*pair, of_codes) for pair in zip(group["AND"], end["AND"], strict=True)]
        if filters:
            conditions[0] = f"or {conditions[0]}"
        filters += conditions
    if len(groups) > _MAX_GROUPS:
        filters.append(f"or {counted(len(groups) - _MAX_GROUPS, 'more group')}")
    types = {name: schema.get(name, _CODE_TYPES.get(name, "string") if of_codes else "inferred") for name in columns}
    lines = [
        f"{cell(first['itemTypeName'])} ({first['itemTypeId']}) in {counted(requests, 'request')}",
        "service filters: " + "\n                 ".join(filters),
        "columns:         " + ", ".join(f"{cell(name)} {kind}" for name, kind in types.items()),
    ]
    return "\n".join([*lines, *([f"client cuts:     {counted(limit, 'row')}"] if limit is not None else [])])


def _condition(first: dict[str, Any], last: dict[str, Any], of_codes: bool) -> str:  # noqa: FBT001 - private
    shown = _values(first, of_codes)
    if first["value"] != last["value"]:
        shown = f"{shown} … {_values(last, of_codes)}, one per request"
    unit = f"{first['time_unit']} of " if first.get("time_unit") else ""
    return f"{cell(first['column'])} {cell(first['operator'])} {unit}{shown}"


def _values(condition: dict[str, Any], of_codes: bool) -> str:  # noqa: FBT001 - private
    values = condition["value"]
    if condition["data_type"] == "datetime":
        return f"{_EPOCH + timedelta(milliseconds=values):%Y-%m-%dT%H:%M:%SZ}"
    values = values if isinstance(values, list) else [values]
    names = _ENUMS.get(condition["column"]) if of_codes else None
    shown = [f"{names(value).name} ({value})" if names else cell(value) for value in values[:_MAX_VALUES]]
    more = len(values) - _MAX_VALUES
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
