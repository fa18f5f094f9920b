"""Values on the command line, each read by a function: lists, files of values, conditions, days, durations."""

from __future__ import annotations

import json
import os
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dataaccess._client.settings import duration as seconds_of
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataaccess.tokens import TokenFile

# As in `to_folder`.
_MOST_DAYS = 1_000
# How long ago these days are.
_RELATIVE = {"today": 0, "yesterday": 1}

# A path that shells complete. What is wrong with it is found where it is used.
PATH = click.Path(readable=False)


class Whole(click.IntRange):
    """An integer in a range, under its usual name."""

    name = "integer"


def duration(text: str) -> float:
    """Seconds, or a number with a unit."""
    try:
        return float(seconds_of(text))
    except ValueError as error:
        raise click.BadParameter(f"{text!r} {error}") from None


def settle(text: str) -> timedelta:
    """How long a day that is over may still change. A number is of days, as in `to_folder`."""
    seconds = duration(f"{text}d" if text.strip().isdigit() else text)
    if seconds > _MOST_DAYS * 86_400:
        raise click.BadParameter(f"must be from 0 to {_MOST_DAYS} days, not {text}")
    return timedelta(seconds=seconds)


def listed(text: str) -> list[str]:
    """Values with commas between them, or in `@FILE`, one a line."""
    found = _content(text[1:]).split("\n") if text.startswith("@") else text.split(",")
    stripped = [one for each in found if (one := each.strip(" \t\r\n"))]
    if not stripped:
        raise click.BadParameter(f"{text!r} has no value: write them as a,b or as @FILE, one a line")
    return stripped


def matches(text: str) -> tuple[str, list[Any]]:
    """A column and its values: `COLUMN=a,b` with strings, or `COLUMN:=1,2` with JSON values."""
    column, _, rest = text.partition("=")
    name = column.removesuffix(":").strip()
    if not name or not rest:
        raise click.BadParameter(f"{text!r} is not COLUMN=a,b (strings) or COLUMN:=1,2 (numbers)")
    texts = listed(rest)
    try:
        return name, [json.loads(each) for each in texts] if column.endswith(":") else texts
    except (ValueError, RecursionError):
        raise click.BadParameter(f"{rest!r} is not JSON values as 1,2: write {name}={rest} for strings") from None


def condition(text: str) -> Any:
    """A condition as Python writes it, the filters of the API specification as JSON, or `@FILE` with one of them."""
    from dataaccess.filters import parse  # `--help` needs no parser

    text = _content(text[1:]) if text.startswith("@") else text
    try:
        return json.loads(text) if text.lstrip().startswith("{") else parse(text)
    except json.JSONDecodeError as error:
        problem = f'it is not JSON at character {error.pos + 1}; write {{"OR": [{{"AND": […]}}]}}, or @FILE'
    except RecursionError:
        problem = "it is nested too deeply"
    except ValueError as error:
        problem = str(error)
    raise click.BadParameter(problem)


def pair(name: str, example: str) -> Callable[[str], tuple[str, str]]:
    """`COLUMN=TYPE` and the like."""

    def read(text: str) -> tuple[str, str]:
        first, _, second = text.partition("=")
        if not first or not second:
            raise click.BadParameter(f"{text!r} is not {name}, such as {example}")
        return first, second

    return read


def _content(name: str) -> str:
    """The content of a file; `-` is standard input."""
    try:
        path = Path(os.path.expanduser(name))  # noqa: PTH111 - never raises
        found = sys.stdin.buffer.read() if name == "-" else path.read_bytes()
        return found.decode("utf-8-sig")
    except UnicodeDecodeError:
        problem = "is not valid UTF-8"
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    raise click.BadParameter(f"the file {name!r} {problem}")


def flat(_context: click.Context, _parameter: click.Parameter, lists: Iterable[list[str]]) -> list[str] | None:
    """The values of an option that may be given several times; None without a value."""
    return [value for values in lists for value in values] or None


# What an option of a list takes: it may be given several times.
LIST: dict[str, Any] = {"type": listed, "multiple": True, "callback": flat}


def numbered(*given: Any) -> list[str | int] | None:
    """As `flat`, with numbers for what is given by its number."""
    texts = flat(*given) or []
    return [int(text) if text.removeprefix("-").isdecimal() else text for text in texts] or None


def day_in(text: str, zone: str) -> str:
    """The day that `today` and `yesterday` are in a zone; other texts as they are."""
    from dataaccess._native import today  # loads the core

    ago = _RELATIVE.get(text.strip().lower())
    return text if ago is None else str(date.fromisoformat(today(zone)) - timedelta(days=ago))


def token(_context: click.Context, _parameter: click.Parameter, path: str | None) -> TokenFile | None:
    """The file of a token, which requests read, if it can be read. No error shows it whole: it may be the token."""
    if path is None:
        return None
    from dataaccess.tokens import token_file  # loads the core

    found = token_file(path)
    try:
        found._content(Path(path))
    except ConfigError as error:
        raise click.BadParameter(str(error)) from None
    return found


def switch_value(text: str) -> Any:
    """The value of a switch: `none`, JSON, or a string, as `null` is."""
    if text == "none":
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return text if found is None else found
