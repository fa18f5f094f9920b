"""Checks of settings (`ConfigError`) and of arguments of a request (`ValidationError`). Each returns the value."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from datetime import UTC, timedelta
from math import inf
from reprlib import repr as shortened
from typing import TYPE_CHECKING

from dataaccess._native import zone_name
from dataaccess.errors import ConfigError, Problem, ValidationError

if TYPE_CHECKING:
    from numbers import Real
    from typing import Any, TypeGuard

MAX_INTEGER = 2**63 - 1


def problem(argument: str, message: str, value: object) -> Problem:
    """A problem of an argument, with its value shortened; a value of None is not shown."""
    return Problem(argument, "", message, None if value is None else shortened(value))


def invalid(argument: str, message: str, value: object) -> ValidationError:
    """The error for an argument of a request."""
    return ValidationError(problems=[problem(argument, message, value)])


def string(name: str, value: object) -> str:
    """Valid Unicode. No error shows the value, which may be a secret."""
    if not isinstance(value, str):
        raise ConfigError(f"{name} must be a string, not of type {type(value).__name__}")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ConfigError(f"{name} contains a lone surrogate, so it is not valid Unicode")
    return value


def strings(name: str, values: object) -> list[str]:
    """Several strings."""
    if isinstance(values, str):
        raise TypeError(f"{name} takes several strings: write {name}=[{values!r}]")
    if not isinstance(values, Iterable):
        raise TypeError(f"{name} takes several strings, not a value of type {type(values).__name__}")
    return [string(f"{name}[{index}]", value) for index, value in enumerate(values)]


def words(text: str, end: str = ",") -> list[str]:
    """The values of a list in a text, without ASCII blanks around them."""
    return [word.strip(" \t\r\n") for word in text.split(end)]


def boolean(name: str, value: object) -> bool:
    """A boolean setting."""
    if not isinstance(value, bool):
        raise ConfigError(f"{name} must be True or False, not {value!r}")
    return value


def _is_number(value: object) -> TypeGuard[Real]:
    if isinstance(value, int | float):
        return not isinstance(value, bool)
    from numbers import Real

    return isinstance(value, Real)


def number(name: str, value: object, accepted: str) -> float:
    """A number, which a bool is not. The core checks its bounds."""
    if not _is_number(value):
        raise ConfigError(f"{name} must be {accepted}, not {shortened(value)}")
    try:
        return float(value)
    except OverflowError:
        return inf


def seconds(name: str, value: object) -> float:
    """A duration in seconds. The core checks its bounds."""
    length = value.total_seconds() if isinstance(value, timedelta) else value
    return number(name, length, "a number of seconds or a timedelta")


def duration(name: str, value: object, unit: str = "seconds") -> float:
    """A duration of at least 0, in seconds or another unit."""
    is_seconds = unit == "seconds"
    accepted = f"a number of {unit} of at least 0{', or a timedelta' if is_seconds else ''}"
    length = value.total_seconds() if is_seconds and isinstance(value, timedelta) else value
    found = number(name, length, accepted)
    if not 0 <= found < inf:
        raise ConfigError(f"{name} must be {accepted}, not {shortened(value)}")
    return found


def call_timeout(value: object) -> float | None:
    """The `timeout` of a call in seconds, or None."""
    return None if value is None else seconds("timeout", value)


def integer(name: str, value: object, least: int = 0, most: int = MAX_INTEGER) -> int:
    """An integer setting within bounds."""
    found = optional_integer(value, least, most)
    if found is None:
        raise ConfigError(f"{name} must be an integer from {least} to {most}, not {value!r}")
    return found


def count(name: str, value: object, least: int = 1) -> int:
    """A number of rows or bytes of a request."""
    found = optional_integer(value, least, MAX_INTEGER)
    if found is None:
        raise invalid(name, f"must be an integer of at least {least}, not {shortened(value)}", value)
    return found


def boolean_argument(name: str, value: object) -> bool:
    """A boolean argument of a request."""
    if not isinstance(value, bool):
        raise invalid(name, f"must be True or False, not {shortened(value)}", value)
    return value


def choice(name: str, value: object, choices: tuple[str, ...]) -> str | None:
    """One of some strings, or None."""
    if value is not None and value not in choices:
        raise invalid(name, f"must be {' or '.join(map(repr, choices))}, not {shortened(value)}", value)
    return None if value is None else str(value)


def optional_integer(value: Any, least: int, most: int) -> int | None:
    """An integer within bounds, which a bool is not; None for anything else."""
    try:
        found = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None
    return found if found is not None and least <= found <= most else None


def time_zone(name: str, value: object) -> str | None:
    """The IANA name of a time zone or of a `ZoneInfo`."""
    if value is None:
        return None
    key = getattr(value, "key", "UTC" if value is UTC else value)
    found = zone_name(key) if isinstance(key, str) else None
    if found is None:
        offset = offset_advice(key)
        wanted = f'must be an IANA time zone such as "Europe/Berlin", or a ZoneInfo, not {shortened(value)}'
        message = wanted if offset is None else f"{shortened(key)} {offset}"
        raise invalid(name, message, value)
    return found


def offset_advice(zone: object) -> str | None:
    """What to write in place of an offset such as `UTC+7`; None for anything else."""
    if not isinstance(zone, str) or zone_name(zone) is not None:
        return None
    import re

    offset = re.fullmatch(r"(?:UTC|GMT)?\s*([+-])(\d\d?)(?::?(\d\d))?", zone.strip(), re.IGNORECASE)
    if offset is None:
        return None
    sign, hours, minutes = offset[1], int(offset[2]), int(offset[3] or 0)
    fixed = f"Etc/GMT{'-' if sign == '+' else '+'}{hours}"
    is_whole = not minutes and zone_name(fixed) is not None
    return 'is an offset, not a time zone: write an IANA zone such as "Europe/Berlin"' + (
        f', or "{fixed}" (its sign is inverted)' if is_whole else ""
    )
