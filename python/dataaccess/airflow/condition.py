"""Conditions and values of operators: as texts that are templates, and once they are known."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from dataaccess._core.checks import invalid
from dataaccess.filters import Column, Comparison, Days, Expression
from dataaccess.filters._parse import condition_of, cut, read

if TYPE_CHECKING:
    from collections.abc import Iterator

_CONDITIONS = (Comparison, Days, Expression, Column)
_EXAMPLE = "where=\"col('customer_id').matches({{ params.customers }})\""
_OPERATOR = re.compile(r"\s*(?:da\.)?op\(")
_QUOTED_LIST = re.compile(r"""['"]\s*[\[({]""")
TEMPLATE_MARKS = ("{{", "{%", "{#")
_UNQUOTED = "leave out the quotes around the template"


def stated(argument: str, value: Any) -> Any:
    """A condition as text, which Airflow renders and shows; other values as they are.

    Raises:
        ValidationError: It has a template, the output of a task, or another value that a text cannot hold.
    """
    if not isinstance(value, _CONDITIONS):
        return value
    text = repr(value)
    advice = f"write the condition as text, such as {_EXAMPLE}"
    try:
        condition_of(text)
    except ValueError:
        problem = f"{cut(text)} holds a value that is no string, number or date, such as the output of a task"
        raise invalid(argument, f"{problem}: {advice}", text) from None
    if any(mark in text for mark in TEMPLATE_MARKS):
        raise invalid(argument, f"has a template in a condition: {advice}", text)
    return text


def is_output(value: object) -> bool:
    """Whether a value is known at run time: the output of a task, or an argument of the DAG."""
    return all(hasattr(type(value), name) for name in ("iter_references", "resolve"))


def condition(argument: str, value: Any) -> Any:
    """The condition of a rendered text: of filters of the API specification the dict. Other values as they are.

    Raises:
        ValidationError: The text is no condition, or it has a list in quotes, which would find nothing.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.lstrip().startswith("{") else condition_of(value)
        except (ValueError, RecursionError) as error:
            advice = f"; if it renders a list, {_UNQUOTED}" if _QUOTED_LIST.search(value) else ""
            raise invalid(argument, f"{error}{advice}", value) from None
    if isinstance(value, dict):
        for each in _strings(value):
            if not isinstance(_listed(argument, each), str):
                raise invalid(argument, f"{cut(repr(each))} is a list in quotes: {_UNQUOTED}", each)
    if isinstance(value, _CONDITIONS):
        for problem in _problems(value):
            raise invalid(argument, problem, repr(value))
    return value


def _strings(value: object) -> Iterator[str]:
    """The strings in the filters of the API specification."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)


def item_type_id(value: int | str | None) -> int | None:
    """The id of a business object, which a template renders as text.

    Raises:
        ValidationError: It is no integer.
    """
    try:
        return None if value is None else int(value)
    except (TypeError, ValueError):
        raise invalid("item_type_id", "must be an integer", value) from None


def _problems(found: Comparison | Days | Expression | Column) -> Iterator[str]:
    """Strings of a condition that were meant to be several values."""
    if isinstance(found, Expression):
        for part in found.parts:
            yield from _problems(part)
    elif isinstance(found, Comparison):
        value = found.value
        for each in value if isinstance(value, tuple) else [value]:
            if isinstance(each, str) and not isinstance(listed(each), str):
                yield f"{cut(repr(each))} is a list in quotes: {_UNQUOTED}"
        if found.method == "matches" and isinstance(value, str) and "," in value:
            yield f"matches({cut(repr(value))}) is one string with commas: {_of_commas(value)}"


def values(argument: str, value: Any) -> Any:
    """The values of an argument, or the operator that `op(…)` writes.

    Raises:
        ValidationError: It is one string with commas, or begins as a list and is none.
    """
    if isinstance(value, list):
        return [_listed(argument, each) for each in value]
    if isinstance(value, str) and _OPERATOR.match(value):
        return condition(argument, value)
    found = _listed(argument, value)
    if isinstance(found, str) and "," in found:
        raise invalid(argument, f"is one string with commas: {_of_commas(found)}", found)
    return found


def _of_commas(text: str) -> str:
    return f"write a list for several values, as {{{{ ids.split(',') }}}} does, and [{cut(repr(text))}] for one"


def _listed(argument: str, value: Any) -> Any:
    try:
        return listed(value) if isinstance(value, str) else value
    except ValueError as error:
        raise invalid(argument, str(error), value) from None


def listed(text: str) -> Any:
    """The list or dict that a text writes in Python or JSON; other texts as they are.

    Raises:
        ValueError: The text begins as a list and is none.
    """
    stripped = text.strip()
    if not stripped.startswith(("[", "(", "{")):
        return text
    for reader in (json.loads, read):
        try:
            found = reader(stripped)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, list | tuple | set):
            return list(found)
        return found if isinstance(found, dict) else text
    if stripped.startswith("["):
        raise ValueError(f"{cut(text)} begins as a list and is none: use | tojson")
    return text
