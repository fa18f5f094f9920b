"""Conditions as texts, and lists of templates and tasks: no list becomes one string, which would find nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import jinja2

from dataaccess._core.checks import invalid
from dataaccess.airflow.compat import AirflowFailException
from dataaccess.errors import ValidationError
from dataaccess.filters import Column, Comparison, Days, Expression
from dataaccess.filters._parse import condition_of, cut, read
from dataaccess.filters._values import snapshot

if TYPE_CHECKING:
    from airflow.sdk import Context

CONDITIONS = ("allocated_time", "audience_type", "allocated_audience", "code_status", "where")
_OBJECTS = (Comparison, Days, Expression, Column)
MARKS = ("{{", "{%", "{#")
_BRACKETS = ("[", "(", "{")


# The default of a condition: None, which a mapped task may get, would be a search without the condition.
NOT_GIVEN: Any = object()


def stated(argument: str, value: Any) -> Any:
    """A condition as text, which Airflow renders and shows; other values as they are, None if it is not given.

    Raises:
        ValidationError: It has a template, the output of a task, or another value that a text cannot hold.
    """
    if not isinstance(value, _OBJECTS):
        return None if value is NOT_GIVEN else value
    text = repr(value)
    advice = "write the condition as text, such as where=\"col('customer_id').matches({{ params.customers }})\""
    try:
        condition_of(text)
    except ValueError:
        problem = f"{cut(text)} holds a value that is no string, number or date, such as the output of a task"
        raise invalid(argument, f"{problem}: {advice}", text) from None
    if any(mark in text for mark in MARKS):
        raise invalid(argument, f"has a template in a condition: {advice}", text)
    return text


def condition(argument: str, value: Any) -> Any:
    """The condition of a rendered text, or the filters of the API specification.

    Raises:
        ValidationError: The text is no condition, or it has a list in quotes, which would find nothing.
    """
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = listed(argument, value)
    elif isinstance(value, str):
        try:
            value = condition_of(value)
        except ValueError as error:
            is_quoted = any(f"{quote}{bracket}" in value for quote in "'\"" for bracket in _BRACKETS)
            advice = "; leave out the quotes around a template that renders a list" if is_quoted else ""
            raise invalid(argument, f"{error}{advice}", value) from None
    for text in _strings(argument, value):
        _refuse_list(argument, text)
    return value


def values(argument: str, value: Any) -> Any:
    """The value or values of an argument, or the operator that `op(…)` writes.

    Raises:
        ValidationError: It begins as a list and is none, or is one string with commas or with a list in it.
    """
    if isinstance(value, str) and value.lstrip().removeprefix("da.").startswith("op("):
        return condition(argument, value)
    value = listed(argument, value)
    if isinstance(value, str) and "," in value:
        raise _with_commas(argument, value)
    if isinstance(value, list):
        for text in _strings(argument, value):
            _refuse_list(argument, text)
    return value


def listed(argument: str, value: Any) -> Any:
    """The list or dict that a text writes in JSON or Python; other values as they are.

    Raises:
        ValidationError: The text begins as a list and is none.
    """
    if not isinstance(value, str) or not value.lstrip().startswith(_BRACKETS):
        return value
    for reader in (json.loads, read):
        with suppress(ValueError, RecursionError):
            return reader(value)
    problem = f"{cut(value)} begins as a list and is none: use | tojson for a list, and [{cut(value)!r}] for one value"
    raise invalid(argument, problem, value)


def _strings(argument: str, value: object) -> Iterator[str]:
    """The strings of a condition, of filters or of a list."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Comparison):
        if value.method == "matches" and isinstance(value.value, str) and "," in value.value:
            raise _with_commas(argument, value.value)
        yield from _strings(argument, value.value)
    elif isinstance(value, Expression | dict | list | tuple):
        parts = value.parts if isinstance(value, Expression) else value
        for part in parts.values() if isinstance(parts, dict) else parts:
            yield from _strings(argument, part)


def _refuse_list(argument: str, text: str) -> None:
    is_list = text.lstrip().startswith("[") and text.rstrip().endswith("]")
    # A list that was split at its commas.
    is_list = is_list or text.lstrip().startswith(("['", '["')) or text.rstrip().endswith(("']", '"]'))
    if not is_list:
        with suppress(ValidationError):
            is_list = isinstance(listed(argument, text), list | dict)
    if is_list:
        raise invalid(
            argument, f"{cut(repr(text))} is a list in quotes: leave out the quotes around the template", text
        )


def _with_commas(argument: str, text: str) -> Exception:
    _refuse_list(argument, text)
    several = "write a list for several values, as {{ ids.split(',') }} does"
    return invalid(argument, f"is one string with commas: {several}, and [{cut(repr(text))}] for one", text)


def render(template: str, environment: jinja2.Environment, context: Context) -> str:
    """The text of a template, with lists as Python writes them.

    Raises:
        AirflowFailException: An expression has no value, or an empty one within quotes.
    """
    blank: list[str] = []
    known = environment.overlay(finalize=partial(_known, template, environment.finalize, blank))
    rendered = known.from_string(template).render(context)
    if blank and any(rendered.count(quotes) > template.count(quotes) for quotes in ("''", '""')):
        raise AirflowFailException(f"{template}: this template renders an empty string")
    return rendered


def _known(template: str, given: Any, blank: list[str], value: Any) -> Any:
    """The value of an expression of a template, as it is rendered."""
    value = value if given is None else given(value)
    if value is None or isinstance(value, jinja2.Undefined):
        raise AirflowFailException(f"{template}: an expression has no value, or None")
    if isinstance(value, str) and not value.strip():
        blank.append(value)
    return snapshot(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes) else value
