"""The arguments of a search by name, as the core takes them, and the values of the problems that it reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dataaccess._core.checks import call_timeout, invalid
from dataaccess.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import timedelta
    from typing import Any

    from dataaccess._types import TimeCondition, ValuesOrOperator, Where
    from dataaccess.errors import Problem


def code_arguments(
    attrs: Iterable[str] | None,
    allocated_time: TimeCondition,
    audience_type: ValuesOrOperator | None,
    allocated_audience: ValuesOrOperator | None,
    code_status: ValuesOrOperator | None,
    limit: int | None,
    timeout: float | timedelta | None = None,
    known_row_cap: int | None = None,
) -> dict[str, Any]:
    """The arguments of a promotion code search."""
    _check_time(allocated_time)
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


def _check_time(allocated_time: object) -> None:
    """Refuses a function in place of the condition that it makes, and a condition of `col`."""
    from dataaccess import filters

    advice = None
    if callable(allocated_time):
        name = getattr(allocated_time, "__name__", "")
        if getattr(filters, name, None) is allocated_time:
            advice = f"da.{name} is a function: call it, as {_CALLS.get(name, f'da.{name}(day)')}"
    elif isinstance(allocated_time, filters.Expression):
        advice = "is a condition of a column, and the column is fixed here: write da.on(day) and the like without col"
    if advice is not None:
        raise invalid("allocated_time", advice, allocated_time)


# How functions are called that take something else than a day.
_CALLS = {
    "days": "da.days(start, stop)",
    "last_days": "da.last_days(7)",
    "month": 'da.month("2024-01")',
    "op": "da.op(operator, t)",
    "yesterday": "da.yesterday()",
}


def item_arguments(
    item_type_name: str,
    attrs: Iterable[str],
    where: Where | None,
    item_type_id: int | None,
    attrs_format: str | None,
    limit: int | None,
    item_types: Mapping[str, Any],
    timeout: float | timedelta | None = None,
    known_row_cap: int | None = None,
    *,
    usual_format: str,
) -> dict[str, Any]:
    """The arguments of an item search; a name of `item_types` has the id and the attributes given there.

    The format of the client is not for promotion codes, which take an array alone.
    """
    known = None
    if item_type_id is None and isinstance(item_type_name, str):
        _check_name(item_type_name, item_types)
        declared = item_types.get(item_type_name)
        item_type_id, known = (
            (declared["id"], declared["attributes"]) if isinstance(declared, Mapping) else (declared, None)
        )
    if attrs_format is None and usual_format == "string":
        from dataaccess._contract import PROMOTION_CODE, PROMOTION_CODE_NAME

        takes_array = item_type_id == PROMOTION_CODE or item_type_name == PROMOTION_CODE_NAME
        attrs_format = None if takes_array else usual_format
    return {
        "item_type_name": item_type_name,
        "attrs": attrs,
        "where": where,
        "item_type_id": item_type_id,
        "attrs_format": attrs_format,
        "limit": limit,
        "timeout": call_timeout(timeout),
        "known_row_cap": known_row_cap,
        "known_attributes": known,
    }


def _check_name(name: str, item_types: Mapping[str, Any]) -> None:
    """Refuses a misspelled name of `item_types`: the core suggests names of the API specification alone."""
    from dataaccess._contract import ITEM_TYPES
    from dataaccess._public import did_you_mean

    if item_types and name not in item_types and name not in ITEM_TYPES:
        advice = did_you_mean(name, [*item_types, *ITEM_TYPES])
        if advice:
            unknown = f"is required for {name!r}, which item_types does not have"
            raise invalid("item_type_id", f"{unknown}{advice}", None)


class problem_values:
    """Gives the problems of a `ValidationError` the values that the caller passed: the core knows their repr only."""

    __slots__ = ("_arguments",)

    def __init__(self, arguments: Mapping[str, object]) -> None:
        self._arguments = arguments

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, ValidationError):
            arguments = self._arguments
            error.problems[:] = [_with_value(problem, arguments) for problem in error.problems]
            error._set_arguments(
                {name: one for name, one in arguments.items() if one is not None and name != "known_attributes"},
                lambda steps: _value_at(arguments, steps),
            )


def _with_value(problem: Problem, arguments: Mapping[str, object]) -> Problem:
    """The problem with the value at its place, such as `code_status[1]` or `where["OR"][0]`, if it can be found."""
    from dataclasses import replace

    from dataaccess._display.tree import steps
    from dataaccess.filters import Comparison, Expression

    try:
        value = _value_at(arguments, steps(problem.argument))
    except LookupError:
        return problem
    if isinstance(value, Comparison):
        value = value.value
    return problem if isinstance(value, Expression) else replace(problem, value=value)


def _value_at(arguments: Mapping[str, object], steps: list[str]) -> Any:
    """The value that some steps lead to.

    Raises:
        LookupError: They lead nowhere.
    """
    from dataaccess.filters import Comparison

    value: Any = arguments[steps[0]]
    for step in steps[1:]:
        if isinstance(value, Comparison):
            value = value.value
        key = step[1:-1]
        try:
            value = value[key[1:-1]] if key.startswith('"') else _element(value, int(key))
        except TypeError:
            raise LookupError(step) from None
    return value


def _element(values: Any, index: int) -> object:
    # A Series finds its elements by label; an iterator was read, and has none left.
    return values[index] if isinstance(values, list | tuple) else list(values)[index]
