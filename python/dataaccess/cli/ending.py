"""How a command ends: one line on standard error, and an exit code by the kind of error.

docs/command-line.md lists the codes.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

# Of the shell, for the signals SIGINT and SIGPIPE.
INTERRUPTED = 130
CLOSED_PIPE = 141
# As in `sysexits.h`: input or output failed.
_OUTPUT_FAILED = 74
_USAGE = 2

# Arguments of calls that messages name, and the options for them.
_OPTIONS = {
    "allow_http": "--allow-http",
    "base_url": "--base-url",
    "ca_bundle": "--ca-bundle",
    "item_type_id": "--item-type-id",
    "known_row_cap": "--known-row-cap",
    "limit": "--limit",
    "profile": "--profile",
    "refresh": "--refresh",
    "retry_for": "--retry-for",
    "same_service": "--same-service",
    "schema": "--schema",
    "timeout": "--timeout",
    "timezone": "--timezone",
    "token": "--token-file",
}
# What a program writes in another way, or only a program can do.
_PHRASES = {
    'Client("sandbox:demo")': "--base-url sandbox:demo",
    'on_suspected_cap="split"': "--split-capped",
    ", a list of days, or da.days(start, stop)": "",
    ", the last response is in .last": "",
    "; all entries are in .entries, and check=False returns them": "",
}
_ARGUMENT = re.compile(rf"\b({'|'.join(_OPTIONS)})=(?:True\b)?(?=([^\s,;)])?)")
_SCHEMA = re.compile(r'schema=\{"(.+?)": "(\w+)"\}')
_DAY = re.compile(r'refresh=\["([\d-]+)"\]')


class CommandError(Exception):
    """Ends the command with a message and an exit code, such as that of a request whose problems name the options."""

    def __init__(self, message: str, code: int) -> None:
        """The message in one line."""
        super().__init__(message)
        self.code = code


@contextmanager
def naming(options: dict[str, str]) -> Iterator[None]:
    """Names the options in the problems of a request, by the arguments that they became."""
    from dataaccess.errors import ValidationError

    try:
        yield
    except ValidationError as error:
        lines = []
        for problem in error.problems:
            name = re.match(r"\w*", problem.argument)[0]  # type: ignore[index] # matches always
            place = options.get(name, name) + problem.argument[len(name) :]
            lines.append(f"{place}: {for_options(problem.message)}")
        raise CommandError("; ".join(lines) or str(error), error.exit_code) from None


def of(error: BaseException) -> int:
    """Prints what ended a command, and returns the exit code.

    Raises:
        BaseException: The error, if it is a defect of the command.
    """
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, CommandError):
        _say(str(error))
        return error.code
    if isinstance(error, KeyboardInterrupt | click.Abort):
        _say("interrupted")
        return INTERRUPTED
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return _USAGE
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "dataaccess"
        _say(f"{_sentence(error)} (see {path} --help)")
        return error.exit_code
    return _of_call(error)


def _of_call(error: BaseException) -> int:
    from dataaccess.errors import DataAccessError

    if isinstance(error, DataAccessError):
        _say(for_options(str(error)))
        return error.exit_code
    if isinstance(error, OSError):
        # Python must not flush to the same file again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            # The reader has what it wanted, as `head` does.
            return CLOSED_PIPE
        _say(f"the output could not be written: {error.strerror}")
        return _OUTPUT_FAILED
    if isinstance(error, ImportError) and "pip install" in str(error):
        _say(str(error))
        return _USAGE
    raise error


def for_options(text: str) -> str:
    """A message of a call, with the options in place of arguments."""
    for phrase, instead in _PHRASES.items():
        text = text.replace(phrase, instead)
    text = _DAY.sub(r"--refresh \1", _SCHEMA.sub(r"--schema \1=\2", text))
    # `timeout=5` is two words of a command.
    return _ARGUMENT.sub(lambda found: _OPTIONS[found[1]] + (" " if found[2] else ""), text)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Prints the warnings of this package as lines: the place in the code says nothing to who runs a command."""
    from dataaccess.errors import DataAccessWarning

    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
        if issubclass(category, DataAccessWarning):
            _say(f"warning: {for_options(str(message))}")
        else:
            usual(message, category, *rest)

    with warnings.catch_warnings():
        warnings.showwarning = show  # type: ignore[assignment] # it takes the same arguments
        yield


def _sentence(error: click.UsageError) -> str:
    if isinstance(error, click.NoSuchOption):
        from dataaccess._public import did_you_mean

        # Not of what follows `=`, which may be a secret.
        name = error.option_name.partition("=")[0]
        known = [known for one in error.ctx.command.params for known in one.opts] if error.ctx else []
        return f"there is no option {name}{did_you_mean(name, known)}"
    text = error.format_message()
    return text[:1].lower() + text[1:].rstrip(".")


def _say(text: str) -> None:
    line = " ".join(text.splitlines())
    click.echo(f"dataaccess: {line}", err=True)
