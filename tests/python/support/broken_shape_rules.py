"""Rules of one kind of search, each with a way to break it: generic (section 4.1), promotion codes (4.2 and 8)."""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st
from support.broken_rules import NOT_A_TEXT, NOT_AN_ARRAY, Draw, Rule, condition, pick, text_among_numbers
from support.oracle import Row

# The generic shape alone (section 4.1).


def item_type_field(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body)
    name = pick(draw, ["value_type", "condition_type"])
    found[name] = pick(draw, ["", "Normal", "comp", *NOT_A_TEXT])
    return [f"{place}.{name}"]


def item_type_field_is_absent(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body)
    name = pick(draw, ["value_type", "condition_type"])
    del found[name]
    return [place, f"`{name}`", "required"]


# Promotion codes alone (sections 4.2 and 8).


def attrs_are_a_string(draw: Draw, body: Row) -> list[str]:
    body["attrs"] = pick(draw, [",".join(body["attrs"]), body["attrs"][0], ""])
    return ["attrs", "array"]


def code_type_is_another(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body)
    found["type"] = pick(draw, [1, 3, -2, "2", 2.5, None, [2]])
    return [f"{place}.type"]


def code_type_is_absent(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body)
    del found["type"]
    return [place, "`type`", "required"]


def extend_value_is_no_array(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body, data_types=["string", "number"])
    found["extendValue"] = pick(draw, NOT_AN_ARRAY)
    return [f"{place}.extendValue"]


def extend_value_on_a_time(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body, data_types=["datetime"])
    found["extendValue"] = pick(draw, [[], [1], None])
    return [place, "extendValue", "string", "number"]


def allocated_time_is_absent(draw: Draw, body: Row) -> list[str]:
    del draw
    body["filters"]["OR"][0]["AND"].pop()
    return ["filters.OR[0].AND", "`allocated_time`", "required"]


def time_unit_is_absent(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body, data_types=["datetime"])
    del found["time_unit"]
    return [place, "`time_unit`", "required"]


def not_one_group(draw: Draw, body: Row) -> list[str]:
    body["filters"]["OR"] *= pick(draw, [0, 2, 3])
    return ["filters.OR", " 1"]


def five_conditions(draw: Draw, body: Row) -> list[str]:
    conditions = body["filters"]["OR"][0]["AND"]
    conditions += [pick(draw, conditions)] * (5 - len(conditions))
    return ["filters.OR[0].AND", " 4"]


def positions_are_swapped(draw: Draw, body: Row) -> list[str]:
    conditions = body["filters"]["OR"][0]["AND"]
    assume(len(conditions) > 1)
    place = draw(st.integers(0, len(conditions) - 2))
    conditions[place], conditions[place + 1] = conditions[place + 1], conditions[place]
    return [f"filters.OR[0].AND[{place + 1}].column", "order"]


def column_is_filtered_twice(draw: Draw, body: Row) -> list[str]:
    conditions = body["filters"]["OR"][0]["AND"]
    assume(len(conditions) < 4)
    place = draw(st.integers(0, len(conditions) - 1))
    conditions.insert(place, conditions[place])
    return [f"filters.OR[0].AND[{place + 1}].column", "once"]


def column_has_no_position(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body)
    found["column"] = pick(draw, ["id", "name", "pool_id", "date_created", "last_used_time", "channel_id"])
    return [f"{place}.column", found["column"]]


def value_is_outside_section_8(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body, columns=["audience_type", "code_status"])
    found["operator"] = "matches"
    others = [0, 2, 5, -1, 1003, 1.5, 2**63]
    found["value"].append(pick(draw, [*others, 4 if found["column"] == "audience_type" else -1003]))
    return [f"{place}.value[{len(found['value']) - 1}]", "allowed"]


OF_ITEMS: list[Rule] = [item_type_field, item_type_field_is_absent]
OF_CODES: list[Rule] = [
    attrs_are_a_string,
    text_among_numbers,
    code_type_is_another,
    code_type_is_absent,
    extend_value_is_no_array,
    extend_value_on_a_time,
    allocated_time_is_absent,
    time_unit_is_absent,
    not_one_group,
    five_conditions,
    positions_are_swapped,
    column_is_filtered_twice,
    column_has_no_position,
    value_is_outside_section_8,
]
