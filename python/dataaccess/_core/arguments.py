"""The arguments of a search by name, as the core takes them: it reports all problems together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataaccess.types import Attributes, TimeCondition, ValuesOrOperator, Where


def code_arguments(
    attrs: Attributes | None,
    allocated_time: TimeCondition,
    audience_type: ValuesOrOperator | None,
    allocated_audience: ValuesOrOperator | None,
    code_status: ValuesOrOperator | None,
    limit: int | None,
) -> dict[str, Any]:
    """The arguments of a promotion code search."""
    return {
        "attrs": attrs,
        "allocated_time": allocated_time,
        "audience_type": audience_type,
        "allocated_audience": allocated_audience,
        "code_status": code_status,
        "limit": limit,
    }


def item_arguments(
    item_type_name: str,
    attrs: Attributes,
    where: Where,
    item_type_id: int | None,
    attrs_format: str,
    limit: int | None,
) -> dict[str, Any]:
    """The arguments of an item search."""
    return {
        "item_type_name": item_type_name,
        "attrs": attrs,
        "where": where,
        "item_type_id": item_type_id,
        "attrs_format": attrs_format,
        "limit": limit,
    }
