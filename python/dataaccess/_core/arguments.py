"""Arguments gathered by their names, for the core to check all at once."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from math import inf
from numbers import Real
from operator import index
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any

from dataaccess.errors import ConfigError, Problem, ValidationError

if TYPE_CHECKING:
    from dataaccess.types import Attributes, TimeCondition, ValuesOrOperator, Where

MOST = 2**63 - 1


def code_arguments(
    attrs: Attributes | None,
    allocated_time: TimeCondition,
    audience_type: ValuesOrOperator | None,
    allocated_audience: ValuesOrOperator | None,
    code_status: ValuesOrOperator | None,
    limit: int | None,
) -> dict[str, Any]:
    """The arguments of a promotion code search by their names."""
    return {
        "attrs": attrs,
        "allocated_time": allocated_time,
        "audience_type": audience_type,
        "allocated_audience": allocated_audience,
        "code_status": code_status,
        "limit": limit,
    }


def item_arguments(
    item_type_name: str,
    attrs: Attributes,
    where: Where,
    item_type_id: int | None,
    attrs_as: str,
    limit: int | None,
) -> dict[str, Any]:
    """The arguments of an item search by their names."""
    return {
        "item_type_name": item_type_name,
        "attrs": attrs,
        "where": where,
        "item_type_id": item_type_id,
        "attrs_as": attrs_as,
        "limit": limit,
    }


def text(name: str, value: object) -> str:
    """A text that can be sent; what is none is told by its type alone, as it may be a secret."""
    if not isinstance(value, str):
        raise ConfigError(f"{name}= must be a text, not of type {type(value).__name__}")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ConfigError(f"{name}= holds a lone surrogate, so it is no Unicode text")
    return value


def texts(name: str, values: object) -> list[str]:
    """Several texts."""
    if isinstance(values, str):
        raise TypeError(f"{name} must be several: write {name}=[{values!r}]")
    if not isinstance(values, Iterable):
        raise TypeError(f"{name} must be several texts, not of type {type(values).__name__}")
    return [text(f"{name}[{place}]", value) for place, value in enumerate(values)]


def truth(name: str, value: object) -> bool:
    """Yes or no, of a setting."""
    if not isinstance(value, bool):
        raise ConfigError(f"{name}= must be True or False, not {value!r}")
    return value


def seconds(value: float | timedelta) -> float:
    """A duration in seconds."""
    return value.total_seconds() if isinstance(value, timedelta) else value


def whole(name: str, value: object, least: int = 0, most: int = MOST) -> int:
    """A whole number within bounds, of a setting."""
    number = _whole(value, least, most)
    if number is None:
        raise ConfigError(f"{name}= must be a whole number from {least} to {most}, not {value!r}")
    return number


def amount(name: str, value: object, least: int = 1) -> int:
    """A whole number of rows or bytes, of a request."""
    number = _whole(value, least, MOST)
    if number is None:
        problem = Problem(name, "", f"must be a whole number from {least} on", shortened(value))
        raise ValidationError(f"{name}: {problem.message}, not {problem.value}", problems=[problem])
    return number


def flag(name: str, value: object) -> bool:
    """Yes or no, of a request."""
    if not isinstance(value, bool):
        problem = Problem(name, "", "must be True or False", shortened(value))
        raise ValidationError(f"{name}: {problem.message}, not {problem.value}", problems=[problem])
    return value


def _whole(value: object, least: int, most: int) -> int | None:
    try:
        number = None if isinstance(value, bool) else index(value)  # type: ignore[arg-type] # a TypeError if it has none
    except TypeError:
        return None
    return number if number is not None and least <= number <= most else None


def span(name: str, value: object) -> float:
    """A stretch of time in seconds."""
    number = value.total_seconds() if isinstance(value, timedelta) else value
    length = float(number) if isinstance(number, Real) and not isinstance(number, bool) else -1.0
    if not 0 <= length < inf:
        raise ConfigError(f"{name}= must be a number of seconds from 0 on, or a timedelta, not {value!r}")
    return length
