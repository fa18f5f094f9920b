"""The rules of every search's body, each with a way to break it and nothing else (sections 2.4, 4.1 and 4.2).

A rule takes a body that breaks none, changes it in place, and returns what the refusal must name. The rules
are those of the specification and of the table of open points; nothing here sends anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st
from support.oracle import Row

Draw = Callable[[st.SearchStrategy[Any]], Any]
Rule = Callable[[Draw, Row], list[str]]

TEXTS = ["", "7", "none", "[]"]
NUMBERS = [0, -7, 1.5, 1e300, 2**63]
OTHERS = [None, True, False]
CONTAINERS: list[Any] = [[], {}, [[]], [None], {"OR": []}]
NOT_A_TEXT = [*NUMBERS, *OTHERS, *CONTAINERS]
NOT_AN_ARRAY = [*TEXTS, *NUMBERS, *OTHERS, {}, {"0": 1}]
NOT_AN_OBJECT: list[Any] = [*TEXTS, *NUMBERS, *OTHERS, [], [{}]]
NOT_A_WHOLE_NUMBER = [*TEXTS, 1.5, 1e300, 2**63, *OTHERS, *CONTAINERS]


def pick(draw: Draw, values: list[Any]) -> Any:
    """One of some values."""
    return draw(st.sampled_from(values))


def condition(draw: Draw, body: Row, columns: list[str] | None = None, data_types: list[str] | None = None) -> Any:
    """A condition of a body with its place; of certain columns or types only, where it has one."""
    found = [
        (f"filters.OR[{place}].AND[{number}]", each)
        for place, group in enumerate(body["filters"]["OR"])
        for number, each in enumerate(group["AND"])
        if (columns is None or each["column"] in columns) and (data_types is None or each["data_type"] in data_types)
    ]
    assume(found)
    return pick(draw, found)


# The body and what holds the conditions.


def top_member_is_absent(draw: Draw, body: Row) -> list[str]:
    name = pick(draw, list(body))
    del body[name]
    return [name, "required"]


def unknown_top_member(draw: Draw, body: Row) -> list[str]:
    name = pick(draw, ["limit", "itemTypeID", "attr", ""])
    body[name] = pick(draw, [1, None, "a"])
    return ["body", f"`{name}`"]


def id_is_no_integer(draw: Draw, body: Row) -> list[str]:
    body["itemTypeId"] = pick(draw, NOT_A_WHOLE_NUMBER)
    return ["itemTypeId"]


def name_is_no_text(draw: Draw, body: Row) -> list[str]:
    body["itemTypeName"] = pick(draw, NOT_A_TEXT)
    return ["itemTypeName"]


def object_is_unknown(draw: Draw, body: Row) -> list[str]:
    wrong: dict[str, list[Any]] = {
        "itemTypeId": [0, 100, -101, 2**63 - 1],
        "itemTypeName": ["customers", "Customer", "promotion_code "],
    }
    name = pick(draw, list(wrong))
    body[name] = pick(draw, wrong[name])
    return ["itemTypeId", "itemTypeName", str(body[name])]


def attrs_are_no_names(draw: Draw, body: Row) -> list[str]:
    body["attrs"] = pick(draw, [*NUMBERS, *OTHERS, {}, [], [7], [None], [["id"]]])
    return ["attrs"]


def attribute_is_unknown(draw: Draw, body: Row) -> list[str]:
    known = names(body)
    wrong = pick(draw, ["idd", "ID", "", "*", "rowid", "a0", "id;", known[0].upper()])
    place = draw(st.integers(0, len(known)))
    listed = [*known[:place], wrong, *known[place:]]
    body["attrs"] = pick(draw, forms(body, listed))
    return ["attrs", f"`{wrong}`"]


def attribute_is_named_twice(draw: Draw, body: Row) -> list[str]:
    known = names(body)
    again = pick(draw, known)
    body["attrs"] = pick(draw, forms(body, [again, *known]))
    return ["attrs", f"`{again}`", "twice"]


def filters_are_no_object(draw: Draw, body: Row) -> list[str]:
    body["filters"] = pick(draw, NOT_AN_OBJECT)
    return ["filters"]


def or_is_absent(draw: Draw, body: Row) -> list[str]:
    body["filters"] = {pick(draw, ["Or", "or", "AND"]): body["filters"]["OR"]}
    return ["filters"]


def or_is_no_array(draw: Draw, body: Row) -> list[str]:
    body["filters"]["OR"] = pick(draw, NOT_AN_ARRAY)
    return ["filters.OR"]


def group_is_no_object(draw: Draw, body: Row) -> list[str]:
    place = draw(st.integers(0, len(body["filters"]["OR"]) - 1))
    body["filters"]["OR"][place] = pick(draw, NOT_AN_OBJECT)
    return [f"filters.OR[{place}]"]


def group_has_another_member(draw: Draw, body: Row) -> list[str]:
    place = draw(st.integers(0, len(body["filters"]["OR"]) - 1))
    body["filters"]["OR"][place]["OR"] = []
    return [f"filters.OR[{place}]", "`OR`"]


def and_is_no_array(draw: Draw, body: Row) -> list[str]:
    place = draw(st.integers(0, len(body["filters"]["OR"]) - 1))
    body["filters"]["OR"][place]["AND"] = pick(draw, NOT_AN_ARRAY)
    return [f"filters.OR[{place}].AND"]


def condition_is_no_object(draw: Draw, body: Row) -> list[str]:
    group = body["filters"]["OR"][0]["AND"]
    place = draw(st.integers(0, len(group) - 1))
    group[place] = pick(draw, NOT_AN_OBJECT)
    return [f"filters.OR[0].AND[{place}]"]


# A condition of either shape.


def common_field_is_absent(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body)
    name = pick(draw, ["column", "data_type", "operator", "value"])
    del found[name]
    return [place, f"`{name}`", "required"]


def unknown_field(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body)
    name = pick(draw, ["values", "Column", "extend_value", "type " if "type" in found else "type"])
    found[name] = pick(draw, [1, None, []])
    return [place, f"`{name}`"]


def column_is_unknown(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body)
    found["column"] = pick(draw, ["", "nope", "a0", "rowid", "1", "id ", *NOT_A_TEXT])
    return [f"{place}.column"]


def data_type_is_another(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body)
    types = {"string", "number", "datetime", "text", "", "String"} - {found["data_type"]}
    found["data_type"] = pick(draw, [*sorted(types), *NOT_A_TEXT])
    return [f"{place}.data_type"]


def operator_is_unknown(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body)
    others = ["matches"] if found["data_type"] == "datetime" else ["before_date", "after_date"]
    found["operator"] = pick(draw, [*others, "", "MATCHES", "not_matches", "=", *NOT_A_TEXT])
    return [f"{place}.operator"]


def values_are_no_array(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body, data_types=["string", "number"])
    found["value"] = pick(draw, NOT_AN_ARRAY)
    return [f"{place}.value"]


def text_among_numbers(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body, data_types=["number"])
    found["operator"] = "matches"
    found["value"].append(pick(draw, [*TEXTS, *OTHERS, *CONTAINERS]))
    return [f"{place}.value[{len(found['value']) - 1}]"]


def number_among_strings(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body, data_types=["string"])
    found["operator"] = "matches"
    found["value"].append(pick(draw, NOT_A_TEXT))
    return [f"{place}.value[{len(found['value']) - 1}]"]


def equals_has_not_one_value(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body, data_types=["string", "number"])
    found["operator"] = "equals"
    found["value"] = pick(draw, [[], found["value"][:1] * 2])
    return [f"{place}.value"]


def time_unit_on_no_time(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body, data_types=["string", "number"])
    found["time_unit"] = "DAY"
    return [place, "time_unit"]


# Times.


def time_is_no_integer(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body, data_types=["datetime"])
    found["value"] = pick(draw, [*NOT_A_WHOLE_NUMBER, [found["value"]], str(found["value"]), found["value"] + 0.5])
    return [f"{place}.value"]


def time_is_outside_the_calendar(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body, data_types=["datetime"])
    found["value"] = pick(draw, [-(2**63), 2**63 - 1, -62_135_596_800_001, 253_402_300_800_000])
    return [f"{place}.value"]


def time_unit_is_another(draw: Draw, body: Row) -> list[str]:
    place, found = condition(draw, body, data_types=["datetime"])
    found["time_unit"] = pick(draw, ["HOUR", "day", "", *NOT_A_TEXT])
    return [f"{place}.time_unit"]


OF_BOTH: list[Rule] = [
    top_member_is_absent,
    unknown_top_member,
    id_is_no_integer,
    name_is_no_text,
    object_is_unknown,
    attrs_are_no_names,
    attribute_is_unknown,
    attribute_is_named_twice,
    filters_are_no_object,
    or_is_absent,
    or_is_no_array,
    group_is_no_object,
    group_has_another_member,
    and_is_no_array,
    condition_is_no_object,
    common_field_is_absent,
    unknown_field,
    column_is_unknown,
    data_type_is_another,
    operator_is_unknown,
    values_are_no_array,
    number_among_strings,
    equals_has_not_one_value,
    time_unit_on_no_time,
]
OF_TIMES: list[Rule] = [time_is_no_integer, time_is_outside_the_calendar, time_unit_is_another]


def forms(body: Row, listed: list[str]) -> list[list[str] | str]:
    """The accepted forms of `attrs`: those of promotion codes as an array only."""
    return [listed] if body["itemTypeName"] == "promotion_code" else [listed, ",".join(listed)]


def names(body: Row) -> list[str]:
    """The attributes of a body as a list."""
    attrs = body["attrs"]
    return [name.strip() for name in attrs.split(",")] if isinstance(attrs, str) else list(attrs)
