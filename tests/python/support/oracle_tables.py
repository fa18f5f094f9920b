"""Tables of the oracle: the demo data, and one with the values on which comparisons go wrong.

The demo data is fetched once through searches that leave nothing out. How many rows there are is known beforehand, so a
search that drops some is noticed here.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
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


def fetched(
    service: PlainService, number: int, name: str, types: dict[str, DataType], conditions: list[dict[str, Any]]
) -> Table:
    filters = {"OR": [{"AND": conditions}]}
    body = {"itemTypeId": number, "itemTypeName": name, "attrs": list(types), "filters": filters}
    return Table(number, name, types, service.search(body).records)


def codes(service: PlainService) -> Table:
    """The promotion codes that have an `allocated_time`; no search of section 4.2 finds the others."""
    table = fetched(service, -100, "promotion_code", CODE_TYPES, [allocated_after(100_000_000_000)])
    assert CODES // 2 < len(table.rows) < CODES, table
    return table


def customers(service: PlainService) -> Table:
    table = fetched(service, -1003, "customer", CUSTOMER_TYPES, [])
    assert len(table.rows) == CUSTOMERS, table
    return table


# A table of every type of attribute. Texts differ by case, form, blanks or a zero character; numbers are at the ends of
# integers and of floats; times on both sides of midnight in many zones, of clock changes, of leap days and of the
# calendar; and some are nulls.
TYPES: dict[str, DataType] = {
    "visit_id": "string",
    "guest": "string",
    "score": "number",
    "seat": "number",
    "came": "datetime",
    "left": "datetime",
}
ROWS = 600
GUESTS = [
    *["Ada", "ada", "ADA", "Ada ", " Ada", "A da", "", " ", "1", "01", "1.0", "null", "true", "%", "_", "'", '"', "\\"],
    *[
        "Zo\u00eb",
        "Zoe\u0308",
        "\u017ftra\u00dfe",
        "STRASSE",
        "\u0130",
        "i\u0307",
        "夏",
        "🎁",
        "\U0001f469\u200d\U0001f467",
    ],
    *["a\tb", "a\nb", "\u2028", "\ufeffAda", "\u202eadA", "Ada\u200b", "a" * 300, "\U0010ffff", "\uffff", "\ue000"],
]
NUMBERS = [
    *[0, 1, -1, 2, 7, 2**31, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 10**18, 0.5, -0.5, 0.1, 0.1 + 0.2, 0.3, 1 / 3],
    *[1e300, -1e300, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 123456789.123456789, 9007199254740993.0],
]
# Days around which times are chosen: ordinary, leap, clock changes of several zones, a day that Apia skipped, far ends.
DAYS = [
    *["1969-12-31", "1970-01-01", "1999-12-31", "2000-02-29", "2011-12-30", "2023-03-12", "2023-11-05", "2024-02-29"],
    *["2024-03-10", "2024-03-31", "2024-07-01", "2024-10-27", "2024-11-03", "2025-01-01", "2099-12-31", "1900-01-01"],
]


def visits() -> Table:
    chance = random.Random(7)
    identifiers = [f"{chance.choice('vVé夏🎁')}-{number:04}" for number in range(ROWS)]
    return Table(7, "visit", TYPES, [visit(identifier, chance) for identifier in identifiers])


def visit(identifier: str, chance: random.Random) -> dict[str, Any]:
    """A row; a fifth of its values are null."""
    came = datetime.fromisoformat(chance.choice(DAYS)).replace(tzinfo=UTC)
    # Whole quarters of an hour are the borders of all zones; a second before and after them are not.
    came += timedelta(minutes=15 * chance.randint(-60, 60), seconds=chance.choice([-1, 0, 0, 1]))
    left = came + timedelta(seconds=chance.choice([0, 1, 3600, 86_399, 86_400]))
    values = {
        "guest": chance.choice(GUESTS),
        "score": chance.choice(NUMBERS),
        "seat": chance.randint(-3, 3),
        "came": f"{came:%Y-%m-%d %H:%M:%S}",
        "left": f"{left:%Y-%m-%d %H:%M:%S}",
    }
    nulls = {name: None for name in values if chance.random() < 0.2}
    return {"visit_id": identifier, **values, **nulls}
