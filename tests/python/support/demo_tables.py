"""The demo data as tables of the oracle, fetched once through searches that leave nothing out.

How many rows there are is known beforehand, so a search that drops some is noticed here.
"""

from __future__ import annotations

from typing import Any

from support.oracle import DataType, Table
from support.plain_http import PlainService

CODES = 6_000
CUSTOMERS = 2_025

CODE_TYPES: dict[str, DataType] = {
    "id": "string",
    "name": "string",
    "pool_id": "number",
    "date_created": "datetime",
    "allocated_time": "datetime",
    "allocated_audience": "string",
    "audience_type": "number",
    "code_status": "number",
    "last_used_source": "string",
    "last_used_time": "datetime",
    "channel_id": "number",
}
CUSTOMER_TYPES: dict[str, DataType] = {"customer_id": "string", "name": "string"}


def allocated_after(milliseconds: int) -> dict[str, Any]:
    """The least condition of a promotion code search."""
    return {
        "type": 2,
        "column": "allocated_time",
        "data_type": "datetime",
        "operator": "after_date",
        "value": milliseconds,
        "time_unit": "DAY",
    }


def codes(service: PlainService) -> Table:
    """The promotion codes that have an `allocated_time`; no search of section 4.2 finds the others."""
    body = {
        "itemTypeId": -100,
        "itemTypeName": "promotion_code",
        "attrs": list(CODE_TYPES),
        "filters": {"OR": [{"AND": [allocated_after(100_000_000_000)]}]},
    }
    rows = service.search(body).records
    assert CODES // 2 < len(rows) < CODES, len(rows)
    return Table(-100, "promotion_code", CODE_TYPES, rows)


def customers(service: PlainService) -> Table:
    """The customers."""
    body = {
        "itemTypeId": -1003,
        "itemTypeName": "customer",
        "attrs": list(CUSTOMER_TYPES),
        "filters": {"OR": [{"AND": []}]},
    }
    rows = service.search(body).records
    assert len(rows) == CUSTOMERS, len(rows)
    return Table(-1003, "customer", CUSTOMER_TYPES, rows)
