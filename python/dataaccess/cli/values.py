"""Values on the command line: lists, files of values, conditions, days, durations."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dataaccess._client.settings import duration

if TYPE_CHECKING:
    from collections.abc import Iterable

# Generic in some versions of click.
if TYPE_CHECKING:
    _Type = click.ParamType[Any]
else:
    _Type = click.ParamType

# As in `to_folder`.
_MOST_DAYS = 1_000
# How long ago these days are.
_RELATIVE = {"today": 0, "yesterday": 1}

# A path that shells complete. What is wrong with it is found where it is used.
PATH = click.Path(readable=False)


class Whole(click.IntRange):
    """An integer in a range, under its usual name."""

    name = "integer"


class TokenPath(_Type):
    """The file of a token. It is read when a request needs the token."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The path. The error does not show it whole: it may be the token itself."""
        from dataaccess._core.paths import local_path  # loads the core
        from dataaccess.tokens import unreadable

        # A shell leaves the `~` of `--token-file=~/token` as it is.
        path = local_path(value)
        reason: str | None
        try:
            mode = os.stat(path).st_mode  # noqa: PTH116 - its errors are those of the system
        except OSError as error:
            reason = f"cannot be read: {error.strerror}"
        else:
            denied = None if os.access(path, os.R_OK) else f"cannot be read: {os.strerror(errno.EACCES)}"
            reason = denied if stat.S_ISREG(mode) else "is not a regular file"
        if reason is not None:
            self.fail(f"the token file {unreadable(Path(value), reason)}", param, ctx)
        return path

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Any:
        """Files."""
        return PATH.shell_complete(ctx, param, incomplete)


class Duration(_Type):
    """Seconds, or a number with a unit."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds."""
        try:
            return float(duration(str(value)))
        except ValueError as error:
            self.fail(f"{value!r} {error}", param, ctx)


class Settle(Duration):
    """How long a day that is over may still change."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The duration."""
        if isinstance(value, timedelta):
            return value
        # A number is of days, as in `to_folder`.
        seconds = super().convert(f"{value}d" if value.strip().isdigit() else value, param, ctx)
        if seconds > _MOST_DAYS * 86_400:
            self.fail(f"must be from 0 to {_MOST_DAYS} days, not {value}", param, ctx)
        return timedelta(seconds=seconds)


class List(_Type):
    """Values with commas between them, or `@FILE`, which has a value in each line."""

    name = "list"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        """The values."""
        if isinstance(value, list):
            return value
        is_file = value.startswith("@")
        found = self.content(value[1:], param, ctx).split("\n") if is_file else value.split(",")
        values = [one for each in found if (one := each.strip(" \t\r\n"))]
        if not values:
            self.fail(f"{value!r} has no value: write them as a,b or as @FILE, one a line", param, ctx)
        return values

    def content(self, name: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The content of a file; `-` is standard input."""
        try:
            path = Path(os.path.expanduser(name))  # noqa: PTH111 - never raises
            found = sys.stdin.buffer.read() if name == "-" else path.read_bytes()
            return found.decode("utf-8-sig")
        except UnicodeDecodeError:
            self.fail(f"the file {name!r} is not valid UTF-8", param, ctx)
        except OSError as error:
            self.fail(f"the file {name!r} cannot be read: {error.strerror}", param, ctx)


class Matches(List):
    """`COLUMN=a,b` with strings, or `COLUMN:=1,2` with JSON values."""

    name = "matches"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The column and its values."""
        if isinstance(value, tuple):
            return value
        column, _, rest = value.partition("=")
        name = column.removesuffix(":").strip()
        if not name or not rest:
            self.fail(f"{value!r} is not COLUMN=a,b (strings) or COLUMN:=1,2 (numbers)", param, ctx)
        texts = super().convert(rest, param, ctx)
        if not column.endswith(":"):
            return name, texts
        try:
            return name, [json.loads(text) for text in texts]
        except (ValueError, RecursionError):
            self.fail(f"{rest!r} is not JSON values as 1,2: write {name}={rest} for strings", param, ctx)


class Where(List):
    """A condition as Python writes it, the filters of the API specification as JSON, or `@FILE` with one of them."""

    name = "condition"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The condition, or a dict."""
        from dataaccess.filters import parse  # `--help` needs no parser

        if not isinstance(value, str):
            return value
        text = self.content(value[1:], param, ctx) if value.startswith("@") else value
        try:
            return json.loads(text) if text.lstrip().startswith("{") else parse(text)
        except json.JSONDecodeError as error:
            self.fail(f'it is not JSON: {error}; write {{"OR": [{{"AND": […]}}]}}, or @FILE', param, ctx)
        except RecursionError:
            self.fail("it is nested too deeply", param, ctx)
        except ValueError as error:
            self.fail(f"{error}", param, ctx)


class Pair(_Type):
    """`COLUMN=TYPE` and the like."""

    def __init__(self, name: str, example: str) -> None:
        """What the pair is, and one of it."""
        self.name = name
        self._example = example

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Both parts."""
        if isinstance(value, tuple):
            return value
        first, _, second = value.partition("=")
        if not first or not second:
            self.fail(f"{value!r} is not {self.name}, such as {self._example}", param, ctx)
        return first, second


def flat(lists: Iterable[list[str]]) -> list[str]:
    """The values of an option that is given several times."""
    return [value for values in lists for value in values]


def numbered(lists: Iterable[list[str]]) -> list[str | int] | None:
    """As `flat`, with numbers for what is given by its number; None without a value."""
    return [int(text) if text.removeprefix("-").isdecimal() else text for text in flat(lists)] or None


def day_in(text: str, zone: str) -> str:
    """The day that `today` and `yesterday` are in a zone; other texts as they are."""
    from dataaccess._native import today  # loads the core

    ago = _RELATIVE.get(text.strip().lower())
    return text if ago is None else str(date.fromisoformat(today(zone)) - timedelta(days=ago))


def switch_value(text: str) -> Any:
    """The value of a switch: `none`, JSON, or a string, as `null` is."""
    if text == "none":
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return text if found is None else found
