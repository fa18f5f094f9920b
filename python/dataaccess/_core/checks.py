"""Checks of settings (`ConfigError`) and of arguments of a request (`ValidationError`). Each returns the value."""

from __future__ import annotations

import operator
import re
from datetime import UTC, timedelta
from importlib import import_module
from math import inf
from numbers import Real
from reprlib import repr as shortened
from typing import TYPE_CHECKING

from dataaccess._native import zone_name
from dataaccess.errors import ConfigError, Problem, ValidationError

if TYPE_CHECKING:
    from typing import Any

MAX_INTEGER = 2**63 - 1
_OFFSET = re.compile(r"(?:UTC|GMT)?\s*([+-])(\d\d?)(?::?(\d\d))?", re.IGNORECASE)


def problem(argument: str, message: str, value: object) -> Problem:
    """A problem of an argument, with its value shortened; a value of None is not shown."""
    return Problem(argument, "", message, None if value is None else shortened(value))


def invalid(argument: str, message: str, value: object = None) -> ValidationError:
    """The error for an argument of a request."""
    return ValidationError(problems=[problem(argument, message, value)])


def optional(module: str) -> Any:
    """Imports a module of an optional package. The error has the command that installs it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name not in (module, package):
            raise
        # pandas gets its columns from Arrow.
        packages = "pandas pyarrow" if package == "pandas" else package
        raise ImportError(f"{package} is not installed: pip install {packages}", name=package) from None


def string(name: str, value: object) -> str:
    """Valid Unicode. No error shows the value, which may be a secret."""
    if not isinstance(value, str):
        raise ConfigError(f"{name} must be a string, not of type {type(value).__name__}")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ConfigError(f"{name} contains a lone surrogate, so it is not valid Unicode")
    return value


def boolean(name: str, value: object) -> bool:
    """A boolean setting."""
    if not isinstance(value, bool):
        raise ConfigError(f"{name} must be True or False, not {value!r}")
    return value


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


def number(name: str, value: object, accepted: str) -> float:
    """A number, which a bool is not. The core checks its bounds."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ConfigError(f"{name} must be {accepted}, not {shortened(value)}")
    try:
        return float(value)
    except OverflowError:
        return inf


def seconds(name: str, value: object, accepted: str = "a number of seconds or a timedelta") -> float:
    """A duration in seconds. The core checks its bounds."""
    return number(name, value.total_seconds() if isinstance(value, timedelta) else value, accepted)


def positive_seconds(name: str, value: object) -> float:
    """A duration of more than 0, in seconds."""
    found = seconds(name, value)
    if not 0 < found < inf:
        raise ConfigError(f"{name} must be a positive, finite number of seconds, not {found:g}")
    return found


def duration(name: str, value: object, unit: str = "seconds") -> float:
    """A duration of at least 0, in seconds or another unit."""
    is_seconds = unit == "seconds"
    accepted = f"a number of {unit} of at least 0{', or a timedelta' if is_seconds else ''}"
    found = (seconds if is_seconds else number)(name, value, accepted)
    if not 0 <= found < inf:
        raise ConfigError(f"{name} must be {accepted}, not {shortened(value)}")
    return found


# How long a day that is over may still change, unless the caller says so.
SETTLE = timedelta(hours=1)
_MOST_DAYS = 1_000


def settle_seconds(value: object) -> float:
    """How long a day that is over may still change, in seconds: a timedelta, or a number of days."""
    accepted = f"a timedelta, or a number of days from 0 to {_MOST_DAYS}"
    found = value.total_seconds() if isinstance(value, timedelta) else 86_400 * number("settle", value, accepted)
    if not 0 <= found <= 86_400 * _MOST_DAYS:
        raise ConfigError(f"settle must be {accepted}, not {shortened(value)}")
    return found


def call_timeout(value: object) -> float | None:
    """The `timeout` of a call in seconds, or None."""
    return None if value is None else seconds("timeout", value)


def optional_integer(value: Any, least: int, most: int) -> int | None:
    """An integer within bounds, which a bool is not; None for anything else."""
    try:
        found = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None
    return found if found is not None and least <= found <= most else None


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


def time_zone(name: str, value: object) -> str | None:
    """The IANA name of a time zone or of a `ZoneInfo`."""
    if value is None:
        return None
    key = getattr(value, "key", "UTC" if value is UTC else value)
    if isinstance(key, str) and (found := zone_name(key)) is not None:
        return found
    advice = offset_advice(key)
    wanted = f'must be an IANA time zone such as "Europe/Berlin", or a ZoneInfo, not {shortened(value)}'
    raise invalid(name, wanted if advice is None else f"{shortened(key)} {advice}", value)


def offset_advice(zone: object) -> str | None:
    """What to write in place of an offset such as `UTC+7`; None for anything else."""
    if not isinstance(zone, str) or zone_name(zone) is not None or not (offset := _OFFSET.fullmatch(zone.strip())):
        return None
    sign, hours, minutes = offset.groups()
    advice = 'is an offset, not a time zone: write an IANA zone such as "Europe/Berlin"'
    fixed = f"Etc/GMT{'-' if sign == '+' else '+'}{int(hours)}"
    is_whole = not int(minutes or 0) and zone_name(fixed) is not None
    return f'{advice}, or "{fixed}" (its sign is inverted)' if is_whole else advice
