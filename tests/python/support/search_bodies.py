"""Hypothesis strategies for bodies of searches that break no rule of the specification, in both wire shapes.

Values are drawn from the rows of a table and from near beside them: the borders of days, other cases and
normal forms of strings, numbers that look alike. It decides nothing about what comes back.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any

from hypothesis import strategies as st
from support.oracle import Row, Table

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
    groups = st.fixed_dictionaries({"AND": lists(conditions, 3, sendable=sendable)})
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


def bodies(table: Table, attrs: st.SearchStrategy[Any], groups: st.SearchStrategy[Any]) -> st.SearchStrategy[Row]:
    """Bodies of these attributes and groups, with the members in any order."""
    return st.fixed_dictionaries(
        {
            "itemTypeId": st.just(table.item_type_id),
            "itemTypeName": st.just(table.name),
            "attrs": attrs,
            "filters": st.fixed_dictionaries({"OR": groups}),
        }
    ).flatmap(shuffled)


def attrs(table: Table) -> st.SearchStrategy[list[str] | str]:
    """Some attributes in any order, as an array or as a string (open points attrs_format and attrs_separator)."""
    array = names(table)
    return st.one_of(array, array.map(",".join), array.map(" , ".join))


def names(table: Table) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(list(table.data_types)), min_size=1, unique=True)


def code_conditions(table: Table, *, sendable: bool) -> st.SearchStrategy[list[Row]]:
    """Up to four conditions by position, of which the last is required."""

    def condition(column: str, data_type: str, values: st.SearchStrategy[list[Any]]) -> st.SearchStrategy[Row | None]:
        fields = st.fixed_dictionaries(
            {"type": st.just(2), "column": st.just(column), "data_type": st.just(data_type), "value": values},
            optional={"extendValue": st.just([])},
        )
        return st.none() | fields.flatmap(with_operator).flatmap(shuffled)

    time = st.fixed_dictionaries(
        {
            "type": st.just(2),
            "column": st.just("allocated_time"),
            "data_type": st.just("datetime"),
            "operator": st.sampled_from(OPERATORS_OF_TIME),
            "value": times_near(table, "allocated_time"),
            "time_unit": st.just("DAY"),
        }
    ).flatmap(shuffled)
    return st.tuples(
        condition("audience_type", "number", lists(st.sampled_from([-1003, -1007]), 3, sendable=sendable)),
        condition("allocated_audience", "string", values(table, "allocated_audience", sendable=sendable)),
        condition("code_status", "number", lists(st.sampled_from([1, 3, 4]), 3, sendable=sendable)),
        time,
    ).map(lambda found: [condition for condition in found if condition is not None])


def item_conditions(table: Table, column: str, *, sendable: bool) -> st.SearchStrategy[Row]:
    data_type = table.data_types[column]
    fields: dict[str, st.SearchStrategy[Any]] = {
        "column": st.just(column),
        "data_type": st.just(data_type),
        "value_type": st.just("normal"),
        "condition_type": st.just("comp_attr"),
    }
    if data_type == "datetime":
        times = times_near(table, column)
        # The clients refuse times around 1970, as small numbers may be seconds.
        times = times.filter(lambda time: abs(time) >= EARLIEST) if sendable else times
        fields |= {"operator": st.sampled_from(OPERATORS_OF_TIME), "value": times}
        # The generic shape lists no `time_unit` (section 4.1), the condition object does (section 2.4).
        return st.fixed_dictionaries(fields, optional={"time_unit": st.just("DAY")}).flatmap(shuffled)
    fields["value"] = values(table, column, sendable=sendable)
    return st.fixed_dictionaries(fields).flatmap(with_operator).flatmap(shuffled)


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
