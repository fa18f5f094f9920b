"""The arguments of a search by name, as the core takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from dataaccess._contract import ITEM_TYPES, PROMOTION_CODE, PROMOTION_CODE_NAME
from dataaccess._core.checks import call_timeout, invalid
from dataaccess._public import did_you_mean
from dataaccess.filters import Column, Expression

if TYPE_CHECKING:
    from datetime import timedelta

    from dataaccess._types import TimeCondition, ValuesOrOperator, Where


def code_arguments(
    attrs: Iterable[str] | None,
    allocated_time: TimeCondition,
    audience_type: ValuesOrOperator | None = None,
    allocated_audience: ValuesOrOperator | None = None,
    code_status: ValuesOrOperator | None = None,
    limit: int | None = None,
    timeout: float | timedelta | None = None,
    known_row_cap: int | None = None,
) -> dict[str, Any]:
    """The arguments of a promotion code search."""
    if callable(allocated_time):
        name = getattr(allocated_time, "__name__", "it")
        raise invalid("allocated_time", f"is a function: call it, as {name}(…)", allocated_time)
    if isinstance(allocated_time, Column | Expression):
        raise invalid("allocated_time", "takes no column: write da.on(day) without col", allocated_time)
    return {
        "attrs": attrs,
        "allocated_time": allocated_time,
        "audience_type": audience_type,
        "allocated_audience": allocated_audience,
        "code_status": code_status,
        "limit": limit,
        "timeout": call_timeout(timeout),
        "known_row_cap": known_row_cap,
    }


def item_arguments(
    setting: Callable[[str], Any],
    item_type_name: str,
    attrs: Iterable[str],
    where: Where | None,
    item_type_id: int | None,
    limit: int | None,
    timeout: float | timedelta | None = None,
) -> dict[str, Any]:
    """The arguments of an item search. `setting` returns a setting of the client.

    A name of `item_types` has the id and the attributes that are declared there.
    """
    known = None
    if item_type_id is None and isinstance(item_type_name, str):
        item_type_id = declared = _declared(item_type_name, setting("item_types"))
        if isinstance(declared, Mapping):
            item_type_id, known = declared["id"], declared["attributes"]
    is_of_codes = item_type_id == PROMOTION_CODE or item_type_name == PROMOTION_CODE_NAME
    return {
        "item_type_name": item_type_name,
        "attrs": attrs,
        "where": where,
        "item_type_id": item_type_id,
        # Promotion codes take an array only.
        "attrs_format": None if is_of_codes else setting("attrs_format"),
        "limit": limit,
        "timeout": call_timeout(timeout),
        "known_row_cap": setting("known_row_cap"),
        "known_attributes": known,
    }


def _declared(name: str, item_types: Mapping[str, Any]) -> Any:
    """What `item_types` has for a name. Refuses a misspelled name: the core suggests names of the specification."""
    if item_types and name not in item_types and name not in ITEM_TYPES:
        advice = did_you_mean(name, [*item_types, *ITEM_TYPES])
        if advice:
            raise invalid("item_type_id", f"is required for {name!r}, which item_types does not have{advice}", None)
    return item_types.get(name)
