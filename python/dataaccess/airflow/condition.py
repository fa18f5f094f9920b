"""Conditions as texts, which are templates of Airflow, and templates that render a list."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from dataaccess._core.checks import invalid
from dataaccess.airflow.compat import AirflowFailException
from dataaccess.filters import Column, Comparison, Days, Expression, parse

_CONDITIONS = (Comparison, Days, Expression, Column)
_EXAMPLE = "where=\"col('customer_id').matches({{ params.customers }})\""
_OPERATOR = re.compile(r"\s*(?:da\.)?op\(")
_QUOTED_TEMPLATE = re.compile(r"""['"]\s*\{[{%]""")
_QUOTED_LIST = re.compile(r"""['"]\s*\[""")


def stated(argument: str, value: Any) -> Any:
    """A condition as text, which Airflow renders and shows; other values as they are.

    Raises:
        ValidationError: It has a template in it, or a value that a text cannot hold, such as the output of a task.
    """
    if not isinstance(value, _CONDITIONS):
        return value
    text = repr(value)
    if "{{" in text or "{%" in text:
        raise invalid(argument, f"has a template in a condition: write the condition as text, such as {_EXAMPLE}", text)
    try:
        parse(text)
    except ValueError as error:
        advice = f"write the condition as text, such as {_EXAMPLE}"
        problem = f"has a value that is neither a string, a number nor a date ({error})"
        raise invalid(argument, f"{problem}: {advice}", text) from None
    return text


def condition(argument: str, value: Any) -> Any:
    """The condition of a rendered text: of filters of the API specification the dict. Other values as they are.

    Raises:
        ValidationError: The text is no condition.
    """
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value) if value.lstrip().startswith("{") else parse(value)
    except ValueError as error:
        raise invalid(argument, str(error), value) from None


def values(argument: str, value: Any) -> Any:
    """The values of an argument, or the operator that `op(…)` writes."""
    is_operator = isinstance(value, str) and _OPERATOR.match(value) is not None
    return condition(argument, value) if is_operator else value


def with_list(template: str, rendered: str) -> Any:
    """What a template renders, where a list is a list: Airflow alone makes one string of it, which finds nothing.

    Raises:
        AirflowFailException: A list is in quotes, or cannot be read.
    """
    if _QUOTED_TEMPLATE.search(template) and _QUOTED_LIST.search(rendered):
        raise AirflowFailException(f"{template}: this template renders a list, so leave out the quotes around it")
    if not rendered.lstrip().startswith("["):
        return rendered
    for read in (ast.literal_eval, json.loads):
        try:
            return list(read(rendered.strip()))
        except (ValueError, SyntaxError):
            pass
    raise AirflowFailException(f"{template}: what it renders begins as a list and is none: use | tojson")
