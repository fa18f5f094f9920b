"""Tables of the oracle: the demo data, and one with the values on which comparisons go wrong; and bodies of searches.

The demo data is fetched once through searches that leave nothing out. How many rows there are is known beforehand, so a
search that drops some is noticed here.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from hypothesis import strategies as st
from support.oracle import DataType, Row, Table
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


# Strategies for bodies that break no rule of the specification, in both wire shapes. Values are drawn from
# the rows of a table and from near beside them: the borders of days, other cases and normal forms of strings, numbers
# that look alike. Nothing is decided here about what comes back.

DAY = 86_400_000
# Just before, at and just after an instant, and as far off as a zone can be.
BESIDE = [0, 1, -1, 999, -999, 1000, -1000, 14 * 3_600_000, -12 * 3_600_000, DAY, -DAY]
OPERATORS_OF_TIME = ["before_date", "equals", "after_date"]
# The times that fit any reading of the specification: from 1973 to 2100, in milliseconds.
EARLIEST, LATEST = 100_000_000_000, 4_102_444_800_000


@cache
def item_bodies(table: Table, *, sendable: bool = False) -> st.SearchStrategy[Row]:
    """Bodies in the generic shape of section 4.1; `sendable` leaves out what the clients refuse to send."""
    conditions = st.one_of([item_conditions(table, column, sendable=sendable) for column in table.data_types])
    groups = members(AND=lists(conditions, 3, sendable=sendable))
    return bodies(table, attrs(table), lists(groups, 4, sendable=sendable))


@cache
def code_bodies(table: Table, *, sendable: bool = False) -> st.SearchStrategy[Row]:
    """Bodies in the shape of section 4.2; `sendable` leaves out what the clients refuse to send."""
    conditions = code_conditions(table, sendable=sendable)
    if sendable:
        conditions = conditions.filter(is_sendable)
    return bodies(table, names(table), conditions.map(lambda found: [{"AND": found}]))


def is_sendable(conditions: list[Row]) -> bool:
    """Whether the clients send conditions: no blank id, and no audience types without audience members."""
    values = {condition["column"]: condition["value"] for condition in conditions}
    has_trap = "audience_type" in values and "allocated_audience" not in values
    return not has_trap and all(member.strip() for member in values.get("allocated_audience", []))


def lists(elements: st.SearchStrategy[Any], most: int, *, sendable: bool) -> st.SearchStrategy[list[Any]]:
    """Lists that seldom are empty, and never where the clients refuse to send an empty one."""
    filled = st.lists(elements, min_size=1, max_size=most)
    return filled if sendable else st.integers(0, 9).flatmap(lambda chance: st.just([]) if chance == 9 else filled)


def members(optional: Row | None = None, /, **given: Any) -> st.SearchStrategy[Row]:
    """Members of a dict that are drawn or the same each time."""
    drawn = {name: each if isinstance(each, st.SearchStrategy) else st.just(each) for name, each in given.items()}
    return st.fixed_dictionaries(drawn, optional=optional or {})


def bodies(table: Table, attrs: st.SearchStrategy[Any], groups: st.SearchStrategy[Any]) -> st.SearchStrategy[Row]:
    """Bodies of these attributes and groups, with the members in any order."""
    shape: Row = {"itemTypeId": table.item_type_id, "itemTypeName": table.name, "attrs": attrs}
    return members(**shape, filters=members(OR=groups)).flatmap(shuffled)


def attrs(table: Table) -> st.SearchStrategy[list[str] | str]:
    """Some attributes in any order, as an array or as a string (open points attrs_format and attrs_separator)."""
    array = names(table)
    return st.one_of(array, array.map(",".join), array.map(" , ".join))


def names(table: Table) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(list(table.data_types)), min_size=1, unique=True)


def code_conditions(table: Table, *, sendable: bool) -> st.SearchStrategy[list[Row]]:
    """Up to four conditions by position, of which the last is required."""

    def condition(column: str, data_type: str, values: st.SearchStrategy[list[Any]]) -> st.SearchStrategy[Row | None]:
        fields = members({"extendValue": st.just([])}, type=2, column=column, data_type=data_type, value=values)
        return st.none() | fields.flatmap(with_operator).flatmap(shuffled)

    named: Row = {"type": 2, "column": "allocated_time", "data_type": "datetime", "time_unit": "DAY"}
    operators, times = st.sampled_from(OPERATORS_OF_TIME), times_near(table, "allocated_time")
    time = members(**named, operator=operators, value=times).flatmap(shuffled)
    return st.tuples(
        condition("audience_type", "number", lists(st.sampled_from([-1003, -1007]), 3, sendable=sendable)),
        condition("allocated_audience", "string", values(table, "allocated_audience", sendable=sendable)),
        condition("code_status", "number", lists(st.sampled_from([1, 3, 4]), 3, sendable=sendable)),
        time,
    ).map(lambda found: [condition for condition in found if condition is not None])


def item_conditions(table: Table, column: str, *, sendable: bool) -> st.SearchStrategy[Row]:
    data_type = table.data_types[column]
    fields: Row = {"column": column, "data_type": data_type, "value_type": "normal", "condition_type": "comp_attr"}
    if data_type == "datetime":
        times = times_near(table, column)
        # The clients refuse times around 1970, as small numbers may be seconds.
        times = times.filter(lambda time: abs(time) >= EARLIEST) if sendable else times
        operators = st.sampled_from(OPERATORS_OF_TIME)
        # The generic shape lists no `time_unit` (section 4.1), the condition object does (section 2.4).
        return members({"time_unit": st.just("DAY")}, **fields, operator=operators, value=times).flatmap(shuffled)
    drawn = values(table, column, sendable=sendable)
    return members(**fields, value=drawn).flatmap(with_operator).flatmap(shuffled)


def with_operator(condition: Row) -> st.SearchStrategy[Row]:
    """`matches`, or for a single value `equals` too."""
    operators = ["matches", "equals"] if len(condition["value"]) == 1 else ["matches"]
    return st.sampled_from(operators).map(lambda operator: {**condition, "operator": operator})


def shuffled(members: Row) -> st.SearchStrategy[Row]:
    """The same members in any order, as JSON leaves it free."""
    return st.permutations(list(members.items())).map(dict)


def values(table: Table, column: str, *, sendable: bool) -> st.SearchStrategy[list[Any]]:
    return lists(values_near(table, column), 8, sendable=sendable)


def values_near(table: Table, column: str) -> st.SearchStrategy[Any]:
    """Values of a column, values beside them, and any others."""
    if table.data_types[column] == "number":
        numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
        return st.one_of(*one_of_these(table.values(column), numbers_beside), numbers)
    return st.one_of(*one_of_these(table.values(column), texts_beside), st.text(max_size=20))


def one_of_these(values: list[Any], beside: Callable[[Any], list[Any]]) -> list[st.SearchStrategy[Any]]:
    """A strategy for the values and their neighbours; none where there are no values."""
    if not values:
        return []
    # Drawn by their place: hypothesis would print all values again and again.
    one = st.integers(0, len(values) - 1).flatmap(lambda place: st.sampled_from(beside(values[place])))
    # More often than any others: near values reveal mistakes.
    return [one, one, one]


def texts_beside(text: str) -> list[str]:
    """A string, and others that a careless comparison would treat as equal."""
    others = [text, text, text, text.upper(), text.swapcase(), text + " ", text[:-1], text[:-1] + "_", text[:2] + "%"]
    return [*others, *(unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC"))]


def numbers_beside(number: Any) -> list[Any]:
    """A number, its other spelling, and its neighbours, all within 64 bits: JSON leaves open what is beyond."""
    beside = [number, number, number, float(number), number + 1, number - 1, -number, number + 0.5]
    return [value for value in beside if isinstance(value, float) or -(2**63) <= value < 2**63]


def times_near(table: Table, column: str) -> st.SearchStrategy[int]:
    """Unix milliseconds at, just before and just after stored times, and any others. Some of 1970 may be seconds."""
    near = one_of_these(table.values(column), lambda text: [milliseconds(text) + beside for beside in BESIDE])
    return st.one_of(*near, st.integers(EARLIEST, LATEST)).filter(lambda time: not 100_000_000 <= time < 10_000_000_000)


def milliseconds(text: str) -> int:
    time = datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    return int(time.timestamp()) * 1000
