"""Conditions as texts, and lists of templates and tasks: no list becomes one string, which would find nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import jinja2

from dataaccess._core.checks import invalid
from dataaccess.airflow.compat import Context, exceptions
from dataaccess.errors import ValidationError
from dataaccess.filters import Column, Comparison, Days, Expression
from dataaccess.filters._parse import condition_of, cut, read
from dataaccess.filters._values import snapshot

CONDITIONS = ("allocated_time", "audience_type", "allocated_audience", "code_status", "where")
_OBJECTS = (Comparison, Days, Expression, Column)
MARKS = ("{{", "{%", "{#")
_BRACKETS = ("[", "(", "{")
_LISTS = re.compile(r"""^\s*\[(['"]|.*\]\s*$)|['"]\]\s*$""", re.DOTALL)


# The default of a condition: None, which a mapped task may get, would be a search without the condition.
NOT_GIVEN: Any = object()


def stated(argument: str, value: Any) -> Any:
    """A condition as text, which Airflow renders and shows; other values as they are, None if it is not given."""
    if not isinstance(value, _OBJECTS):
        return None if value is NOT_GIVEN else value
    text = repr(value)
    advice = "write the condition as text, such as where=\"col('customer_id').matches({{ params.customers }})\""
    try:
        condition_of(text)
    except ValueError:
        problem = f"{cut(text)} holds a value that is no string, number or date, such as the output of a task"
        raise invalid(argument, f"{problem}: {advice}", text) from None
    if is_templated(text):
        raise invalid(argument, f"has a template in a condition: {advice}", text)
    return text


def is_templated(value: Any) -> bool:
    """Whether a value has a template, or is the output of a task."""
    if isinstance(value, str):
        return any(mark in value for mark in MARKS)
    if isinstance(value, list | tuple | set | dict):
        return any(map(is_templated, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, int | float | None)


def condition(argument: str, value: Any) -> Any:
    """The condition of a rendered text, or the filters of the API specification."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = listed(argument, value)
    elif isinstance(value, str):
        try:
            value = condition_of(value)
        except ValueError as error:
            is_quoted = any(f"{quote}{bracket}" in value for quote in "'\"" for bracket in _BRACKETS)
            advice = "; leave out the quotes around a template that renders a list" if is_quoted else ""
            raise invalid(argument, f"{error}{advice}", value) from None
    _refuse_lists(argument, value)
    return value


def values(argument: str, value: Any) -> Any:
    """The value or values of an argument, or the operator that `op(…)` writes."""
    if isinstance(value, str) and value.lstrip().removeprefix("da.").startswith("op("):
        return condition(argument, value)
    value = listed(argument, value)
    if isinstance(value, str) and "," in value:
        raise _with_commas(argument, value)
    if isinstance(value, list):
        _refuse_lists(argument, value)
    return value


def listed(argument: str, value: Any) -> Any:
    """The list or dict that a text writes in JSON or Python; other values as they are."""
    if not isinstance(value, str) or not value.lstrip().startswith(_BRACKETS):
        return value
    for reader in (json.loads, read):
        with suppress(ValueError, RecursionError):
            return reader(value)
    problem = f"{cut(value)} begins as a list and is none: use | tojson for a list, and [{cut(value)!r}] for one value"
    raise invalid(argument, problem, value)


def _refuse_lists(argument: str, value: object) -> None:
    """Refuses a list in quotes, or the part of one that was split at its commas, anywhere in a condition."""
    if isinstance(value, str):
        is_list = _LISTS.search(value) is not None
        with suppress(ValidationError):
            is_list = is_list or isinstance(listed(argument, value), list | dict)
        if is_list:
            problem = f"{cut(repr(value))} is a list in quotes: leave out the quotes around the template"
            raise invalid(argument, problem, value)
    elif isinstance(value, Comparison):
        if value.method == "matches" and isinstance(value.value, str) and "," in value.value:
            raise _with_commas(argument, value.value)
        _refuse_lists(argument, value.value)
    elif isinstance(value, Expression | dict | list | tuple):
        parts = value.parts if isinstance(value, Expression) else value
        for part in parts.values() if isinstance(parts, dict) else parts:
            _refuse_lists(argument, part)


def _with_commas(argument: str, text: str) -> Exception:
    _refuse_lists(argument, text)
    several = "write a list for several values, as {{ ids.split(',') }} does"
    return invalid(argument, f"is one string with commas: {several}, and [{cut(repr(text))}] for one", text)


def render(template: str, environment: jinja2.Environment, context: Context) -> str:
    """The text of a template, with lists as Python writes them. No expression may be empty within quotes."""
    blank: list[str] = []

    def known(value: Any) -> Any:
        value = value if environment.finalize is None else environment.finalize(value)
        if value is None or isinstance(value, jinja2.Undefined):
            raise exceptions.AirflowFailException(f"{template}: an expression has no value, or None")
        if isinstance(value, str) and not value.strip():
            blank.append(value)
        return snapshot(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes) else value

    rendered = environment.overlay(finalize=known).from_string(template).render(context)
    if blank and any(rendered.count(quotes) > template.count(quotes) for quotes in ("''", '""')):
        raise exceptions.AirflowFailException(f"{template}: this template renders an empty string")
    return rendered
